"""Draws the run that refutes a limit where a method turns: a spiral, or a circle."""

from math import tau
from typing import Any

import numpy as np

from driftproof.toolkit.report.canvas import below, canvas, finish
from driftproof.toolkit.series import Recurrence
from driftproof.verifiers.worst_case.pictured import LINE

FEWEST, MOST = 12, 60
"""Rounds that are drawn: a turn, within these."""


def spiral(title: str, of: Recurrence) -> tuple[str, Any, dict[str, Any]]:
    """Return a title, x_t = Re(z^t v) as matplotlib's sheet, and the columns of its data.

    Its coordinates along Re v and −Im v are Re z^t and Im z^t.
    """
    z = complex(*of.root)
    t = np.arange(np.clip(np.ceil(tau / abs(np.angle(z))), FEWEST, MOST) + 1)
    x, y = (z**t).real, (z**t).imag
    sheet, axes = canvas()
    axes.plot(*(np.exp(1j * np.linspace(0, tau, 200)).view(float).reshape(-1, 2).T), "k:", lw=0.8)
    axes.plot(x, y, "o-", ms=4, lw=0.8)
    axes.annotate("x₀", (x[0], y[0]), (4, 5), textcoords="offset points", fontsize=8)
    axes.set_aspect("equal", adjustable="datalim")
    finish(axes, title, "along Re v", "along −Im v")
    below(sheet, 2 * LINE)
    said = f"x_t = Re(zᵗ v), z = {z:.6g}, on {of.functions}\n{of.numbers}; ‖x_t‖² {of.grows}"
    sheet.text(0.01, 0.015, said, fontsize=7, color="0.35")
    return title, sheet, {"t": t.astype(int).tolist(), "x1": x.tolist(), "x2": y.tolist()}
