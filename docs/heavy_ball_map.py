"""Where the heavy ball converges on every function of a class: a map over its two numbers.

``python heavy_ball_map.py`` decides each of 400 points by an exact certificate: a potential proves
that every run converges linearly, and a cycle on some function that not every run converges. What
is left is open. ``python heavy_ball_map.py 5`` decides 25. The files, which ``driftproof check``
checks, go into ``heavy-ball-map/``, beside the map. For another method change ``method``.
"""

import sys
from collections import Counter
from pathlib import Path

from driftproof import each, limit, sq, verify
from driftproof.algorithms import HeavyBall
from driftproof.classes import over, smooth_strongly_convex

CLASS = smooth_strongly_convex(L=25, mu=1)
COLOURS = {"potential": "#2f7ebc", "cycle": "#d1603d", "open": "#dddddd"}
SIGNS = {"potential": "", "cycle": "×", "open": "?"}


def method(i: int, j: int, size: int) -> HeavyBall:
    """Return the method at a point; at η = 2(1 + β)/L some quadratic does not converge."""
    momentum = j / size
    longest = 2 * (1 + momentum) / 25
    return HeavyBall(step_size=round(longest * i / (size + 1), 6), momentum=momentum)


def off(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None


def decided(algorithm: HeavyBall) -> tuple[str, dict[str, str]]:
    """Return what is proved of a method, and the certificates."""
    claim = limit(
        name="heavy-ball/converges",
        source="docs/theorems.md",
        statement=r"x_t \to x^*",
        classes=over([CLASS], algorithm, clients=1),
    )(off)
    (row,) = verify(claim)
    what = {"SUPPORTED": "potential", "REFUTED": "cycle"}.get(row.verdict, "open")
    return what, {} if what == "open" else dict(row.proofs)


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
