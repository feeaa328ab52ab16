"""``driftproof plot CERTIFICATE``: the functions of the worst, with the points on them."""

import re
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.plotted import drawn, write
from driftproof.verifiers.worst_case.pictured import Interpolant, picture
from driftproof.verifiers.worst_case.witness import witness
from driftproof.verifiers.worst_case.written import Right, counterexample
from tests.commands import driftproof
from tests.test_worst_counterexamples import RUNS, found
from tests.worst_functions import Interpolant as Greatest

DOCS = Path(__file__).parents[1] / "docs"


def lies_in_its_class(of, rng):
    """Assert that a function takes its data, and the class's inequality at random pairs."""
    dim, size = of.x.shape[1], 1 + np.abs(of.f).max()
    values, slopes = of(of.x)
    assert np.abs(values - of.f).max() < 1e-9 * size
    assert np.abs(slopes - of.g).max() < 1e-9 * (1 + np.abs(of.g).max())
    x, y = 3 * np.abs(of.x).max() * rng.standard_normal((2, 50, dim))
    (f, g), (h, k) = of(x), of(y)
    below = h + (k * (x - y)).sum(1) + of.mu / 2 * ((x - y) ** 2).sum(1)
    below += ((g - k - of.mu * (x - y)) ** 2).sum(1) / (2 * (of.L - of.mu))
    assert (below - f).max() < 1e-9 * (1 + np.abs([f, h]).max())


@pytest.mark.parametrize(("mu", "L"), [(0.0, 1.0), (0.1, 1.0), (-1.0, 1.0), (0.0, inf), (0.5, inf)])
@pytest.mark.parametrize("dim", [1, 3])
def test_of_any_data_the_smallest_or_the_greatest_function_is_drawn(mu, L, dim):
    """Data of a quadratic of the class, or of a largest of affine functions; other places too."""
    rng, high = np.random.default_rng(dim), min(L, 2.0)
    turned = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    matrix = turned @ np.diag(np.linspace(mu, high, dim)) @ turned.T
    x, y = rng.standard_normal((2, 6, dim))

    def f(x):
        return (x @ matrix * x).sum(1) / 2 + x.sum(1)

    of = Interpolant("abcdef", x, x @ matrix + 1, f(x), mu, L)
    lies_in_its_class(of, rng)
    sign = -1 if mu < 0 else 1
    assert (sign * (of(y)[0] - f(y))).max() < 1e-9
    if inf > L:  # by a solver of quadratic programs
        other = [Greatest(of.x, of.g, of.f, L, mu)(place)[0] for place in y]
        assert (of(y)[0] < np.array(other) + 1e-6).all()
        if mu < 0:
            assert of(y)[0] == pytest.approx(other, abs=1e-6)
    wrong = replace(of, f=of.f + sign * 5 * np.eye(6)[0])
    assert abs(wrong(x)[0][1:] - wrong.f[1:]).max() > 0.1  # of no function of the class


@pytest.mark.parametrize("name", RUNS)
def test_a_counterexamples_functions_are_drawn(name):
    classes, *_ = RUNS[name]
    title, sheet, columns = picture(found(name, 0.9)[-1])
    dim = len([key for key in columns if key.startswith("x")])
    assert float(title.split()[3].strip(",")) > float(title.split()[-1])
    names, data = np.array(columns["function"]), np.array([*columns.values()][2:], dtype=float).T
    for function in set(names):
        rows = data[names == function]
        mu, L = (float(classes[0].parameters.get(c, 0)) for c in ("mu", "L"))
        mu = -L if name == "not convex" else mu
        x, g = rows[:, :dim], rows[:, dim:-1]
        lies_in_its_class(Interpolant([], x, g, rows[:, -1], mu, L), np.random.default_rng(0))
    shown = {text.get_text() for text in sheet.axes[0].texts}
    assert {
        label.translate(str.maketrans("012", "₀₁₂", "_")) for label in columns["point"]
    } <= shown


def test_of_many_dimensions_the_principal_plane_is_drawn():
    case, solved, bound, *_ = found("local steps", 0.9)
    text = counterexample(case, Right(str(bound)), witness(case, solved))
    _, sheet, columns = picture(text)
    assert "x3" in columns
    assert "two principal directions of" in sheet.texts[-1].get_text()


def test_a_certificate_has_the_function_that_nearly_attains_it(tmp_path):
    """Gradient descent's is Huber's (Drori & Teboulle 2014): slope 1/3 at x_0 and x_1."""
    text = re.search(
        r"```json\n(\{.*?\n\})\n```", (DOCS / "certificates.md").read_text(), re.DOTALL
    )
    (file := tmp_path / "descent.json").write_text(text[1])
    made = driftproof("plot", str(file), "--out", str(tmp_path / "it.svg"))
    assert made.returncode == 0, made.stderr
    assert "at most 0.166667 is proved" in (tmp_path / "it.svg").read_text()
    rows = [line.split(",") for line in (tmp_path / "it.csv").read_text().splitlines()]
    assert [float(row[3]) for row in rows[2:]] == pytest.approx([1 / 3] * 2, abs=0.01)
    file.write_text(text[1].replace('"1/6"', '"1/7"'))
    for wrong, why in ((file, "semidefinite"), (DOCS / "proofs" / "bias.json", "no points of its")):
        made = driftproof("plot", str(wrong), "--out", str(tmp_path / "it.svg"))
        assert made.returncode == 2
        assert why in made.stderr


def test_a_refuted_limits_cycle_is_closed():
    _, sheet, columns = drawn("literature/heavy-ball-cycle")
    assert columns["point"] == ["x*", "x_0", "x_1", "x_2"]
    ends = [(a.xyann, a.xy) for a in sheet.axes[0].texts if a.arrowprops]
    assert [tuple(end) for _, end in ends] == [tuple(start) for start, _ in ends[1:] + ends[:1]]
    with pytest.raises(DriftproofError):
        drawn("literature/heavy-ball-cycle", "no-such-figure")


TERM = """
from driftproof import bound, each
from driftproof.algorithms import ProximalGradient
from driftproof.classes import convex, over, plus, smooth_convex, start_within

@bound(name="mine/half", source="mine", statement="half", right=lambda c: c.L * c.R**2 / (8 * c.T),
       classes=over([smooth_convex(L=1), plus(convex()), start_within(R=1)],
                    ProximalGradient(step_size=1.0), rounds=1, clients={n}))
def gap(view):
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None
"""


@pytest.mark.parametrize(("n", "clients"), [(1, "f_0"), (2, "their mean")])
def test_the_objective_is_the_mean_of_the_clients_functions_and_the_term(tmp_path, n, clients):
    (file := tmp_path / "mine.py").write_text(TERM.format(n=n))
    title, sheet, columns = made = drawn(str(file))
    assert "x2" not in columns
    curves = [line for line in sheet.axes[0].lines if len(line.get_ydata()) > len(columns["x1"])]
    *of_clients, term, F = (np.array(curve.get_ydata()) for curve in curves)
    assert curves[-1].get_label() == f"F = {clients} + h"
    assert pytest.approx(sum(of_clients) / n + term) == F
    below = sheet.texts[-1].get_text()
    assert "h is convex" in below
    write(made, tmp_path / "it.svg", title=False)
    bare = (tmp_path / "it.svg").read_text()
    assert not any(line in bare for line in [title, *below.splitlines()])


TURNS = """
from driftproof import each, limit, sq
from driftproof.algorithms import FedAvg
from driftproof.classes import monotone_lipschitz, over

@limit(name="mine/turns", source="mine", statement="0",
       classes=over([monotone_lipschitz(L=1, mu=0)], FedAvg(step_size=0.5), clients=1))
def off(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None
"""


def test_a_limit_that_turns_is_drawn_as_its_run(tmp_path):
    """A step of 1/2 along a rotation: x is multiplied by 1 ± i/2."""
    (file := tmp_path / "turns.py").write_text(TURNS)
    title, sheet, columns = drawn(str(file))
    assert title.endswith("printed: REFUTED")
    assert "the operator (x, y)" in sheet.texts[0].get_text()
    for x in (np.array(columns["x1"]), np.array(columns["x2"])):
        assert np.ptp(x) > 1
        assert x[2:] == pytest.approx(2 * x[1:-1] - 1.25 * x[:-2], abs=1e-9)
