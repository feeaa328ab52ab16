"""Where the heavy ball converges on every function of a class: a map over its two numbers.

``python heavy_ball_map.py`` decides each of 400 points by an exact certificate: a potential proves
that every run converges linearly, and a cycle on some function that not every run converges. What
is left is open. ``python heavy_ball_map.py 5`` decides 25. The files, which ``driftproof check``
checks, go into ``heavy-ball-map/``, beside the map. For another method change ``method``.
"""

import sys
from collections import Counter
from pathlib import Path

from driftproof import DriftproofError, bound, each, sq, verify
from driftproof.algorithms import HeavyBall
from driftproof.classes import over, potential, recurs, smooth_strongly_convex, start_anywhere

CLASS = smooth_strongly_convex(L=25, mu=1)
LENGTHS = range(2, 9)
"""Lengths of cycles that are tried."""
COLOURS = {"potential": "#2f7ebc", "cycle": "#d1603d", "open": "#dddddd"}
SIGNS = {"potential": "", "cycle": "×", "open": "?"}


def method(i: int, j: int, size: int) -> HeavyBall:
    """Return the method at a point; at η = 2(1 + β)/L some quadratic does not converge."""
    momentum = j / size
    longest = 2 * (1 + momentum) / 25
    return HeavyBall(step_size=round(longest * i / (size + 1), 6), momentum=momentum)


def moved(view):
    return each("transition", sq((view.state.w - view.before.w).mean(0)))


def decided(algorithm: HeavyBall) -> tuple[str, dict[str, str]]:
    """Return what is proved of a method, and the certificates."""
    for gradients in (False, True):
        try:
            return "potential", dict(
                potential(algorithm, [CLASS], gradients=gradients, digits=2).certificates
            )
        except DriftproofError:  # there is none
            pass
    for length in LENGTHS:
        state = [CLASS, start_anywhere(R=1, a=1), recurs()]
        claim = bound(
            name=f"heavy-ball/no-cycle-of-{length}",
            source="docs/theorems.md",
            statement=r"x_{k+n} = x_k \Rightarrow \|x_{k+1} - x_k\|^2 \le 0",
            classes=over(state, algorithm, rounds=length, clients=1),
            right=lambda c: 0 * c.L,
        )(moved)
        for row in verify(claim):
            if row.verdict == "REFUTED":
                return "cycle", dict(row.proofs)
    return "open", {}


def main(size: int) -> None:
    """Decide size² points, and draw them."""
    import matplotlib.pyplot as plt

    folder, met = Path("heavy-ball-map"), Counter[str]()
    folder.mkdir(exist_ok=True)
    axes = plt.subplots(figsize=(6, 4.5), layout="constrained")[1]
    for j in range(size):
        for i in range(1, size + 1):
            algorithm = method(i, j, size)
            what, files = decided(algorithm)
            met[what] += 1
            for name, text in files.items():
                path = folder / f"{i}-{j}-{name.removesuffix('.json')}.json"
                path.write_text(text, encoding="utf-8")
            at = (algorithm.momentum, algorithm.step_size)
            axes.plot(*at, "s", color=COLOURS[what], markersize=150 / size, alpha=0.8)
            axes.annotate(SIGNS[what], at, ha="center", va="center", fontsize=9)
    axes.set(xlabel="momentum β", ylabel="step size η", title="heavy ball, L = 25, μ = 1")
    axes.figure.savefig(folder / "map.svg", metadata={"Date": None})
    print(", ".join(f"{count} {what}" for what, count in sorted(met.items())))


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20)
