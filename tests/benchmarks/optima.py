"""Widths of the certified optima of random members: the tables of docs/ground_truth.md.

``python -m tests.benchmarks.optima [COUNT]`` prints them for COUNT members (1,000) of each family.
"""

import sys
import time
from collections.abc import Callable

import numpy as np

from driftproof.synthetic.problems import KLDRO, LogisticBilevel, PenalisedDRO
from driftproof.toolkit.problem import Solution


def log_uniform(random: np.random.Generator, low: float, high: float) -> float:
    """Return a number whose logarithm is uniform, at three digits."""
    return float(f"{np.exp(random.uniform(np.log(low), np.log(high))):.3g}")


def kl_dro(seed: int) -> KLDRO:
    """Return a random member of KL-DRO, of any form."""
    random = np.random.default_rng(seed)
    bound, ball = log_uniform(random, 0.3, 3), log_uniform(random, 0.3, 10)
    least = (bound * ball + 1) / 600  # below which (6) overflows
    return KLDRO(
        clients=int(random.integers(1, 9)),
        dim=int(random.integers(1, 13)),
        samples=int(random.integers(1, 31)),
        form=("exp", "log", "average")[seed % 3],
        temperature=max(least, log_uniform(random, 0.1, 10)),
        feature_bound=bound,
        ball=ball,
        heterogeneity=log_uniform(random, 0.1, 3),
        data_seed=seed,
    )


def chi_square(seed: int) -> PenalisedDRO:
    """Return a random member of χ²: λ is 0.03 to 10 times the depth, in half of them above it."""
    random = np.random.default_rng(seed)
    common = {
        "clients": int(random.integers(1, 6)),
        "dim": int(random.integers(1, 9)),
        "samples": int(random.integers(1, 9)),
        "divergence": "chi-square",
        "feature_bound": log_uniform(random, 0.3, 3),
        "ball": log_uniform(random, 0.3, 10),
        "heterogeneity": log_uniform(random, 0.1, 3),
        "data_seed": seed,
    }
    depth = PenalisedDRO(penalty=1e3, **common).depth or 1.0
    times = log_uniform(random, 1.001, 10) if seed % 2 else log_uniform(random, 0.03, 1)
    top = PenalisedDRO(penalty=1e3, **common).loss_range[1]
    return PenalisedDRO(penalty=max(times * depth, top / 290), **common)


def logistic_bilevel(seed: int) -> LogisticBilevel:
    """Return a random member of logistic bilevel; λ is 0 in three of four."""
    random = np.random.default_rng(seed)
    lower = int(random.integers(1, 6))
    return LogisticBilevel(
        clients=int(random.integers(1, 6)),
        dim=lower + int(random.integers(0, 3)),
        lower_dim=lower,
        samples=int(random.integers(1, 13)),
        validation=int(random.integers(1, 13)),
        feature_bound=log_uniform(random, 0.3, 3),
        heterogeneity=log_uniform(random, 0.1, 3),
        ridge=log_uniform(random, 0.05, 2),
        cross=log_uniform(random, 0.3, 3),
        regulariser=0.0 if seed % 4 else log_uniform(random, 0.01, 1),
        data_seed=seed,
    )


def width_of(known: Solution) -> float:
    """Return the width of an enclosure of F* over max(1, |F*|)."""
    return (known.high - known.low) / max(1.0, abs(known.high))


def widths(made: Callable[[int], object], count: int) -> list[tuple[object, float, float]]:
    """Return each member, the width of its optimum over max(1, |F*|), and the seconds it took."""
    found = []
    for seed in range(count):
        problem, begun = made(seed), time.perf_counter()
        width = width_of(problem.solution)
        found.append((problem, width, time.perf_counter() - begun))
    return found


def table(name: str, found: list[tuple[object, float, float]]) -> None:
    """Print a line of the table, and the three widest."""
    size = np.array([width for _, width, _ in found])
    parts = [f"{np.quantile(size, share):.1e}" for share in (0.5, 0.99, 1.0)]
    seconds = np.mean([took for _, _, took in found])
    over = int((size > 1e-10).sum())
    print(f"| {name} | {len(size)} | {' | '.join(parts)} | {over} | {seconds:.3f} s |", flush=True)
    for problem, width, _ in sorted(found, key=lambda one: -one[1])[: 3 * bool(over)]:
        print(f"    {width:.2e} {problem}", flush=True)


if __name__ == "__main__":
    members = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    table("KL-DRO", widths(kl_dro, members))
    both = widths(chi_square, 2 * members)
    convex = [one for one in both if one[0].solution.certificate["convex"]]
    table("χ², λ ≥ depth", convex)
    table("χ², any λ: (3)", [(p, width_of(p.robust_optimum), s) for p, _, s in both])
    table("χ², λ < depth: Φ", [one for one in both if one not in convex])
    bilevel = widths(logistic_bilevel, members * 4 // 3 + 1)
    table("logistic bilevel, λ = 0", [one for one in bilevel if not one[0].regulariser])
    table("logistic bilevel, λ > 0", [one for one in bilevel if one[0].regulariser])
