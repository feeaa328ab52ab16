"""Semidefinite programs of the statements on record, in other units, disturbed, and their answers.

    python -m tests.programs FILE

solves the programs of a file that ``write`` made, and prints the answers: whatever kernel the
environment chooses (``OPENBLAS_CORETYPE``) solves them.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.judges import theorems, worst_cases
from driftproof.verifiers.judges.assumptions import outside
from driftproof.verifiers.judges.worst_cases import factors_of
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.freedom import kept, reduced
from driftproof.verifiers.worst_case.program import Forms, Matrices, matrices
from driftproof.verifiers.worst_case.region import ends_and_middle
from driftproof.verifiers.worst_case.scaling import Units, units
from driftproof.verifiers.worst_case.signs import Region
from driftproof.verifiers.worst_case.solve import UnboundedError, UnsolvedError, solve_matrices

ROOT = Path(__file__).parents[1]
KERNELS = {"Nehalem": "sse4_2", "Haswell": "avx2", "SkylakeX": "avx512f"}
"""OpenBLAS's kernels, and what a processor has that runs them. Zen's are Haswell's."""
CHANGES = [(1e6, 1.0), (1e-6, 1.0), (1.0, 1e6), (1.0, 1e-6), (1e6, 1e-6)]
"""Units of points and of gradients."""
DIGITS = 1e-12
"""By how much numbers are disturbed, relatively."""


def on_record(every: int = 1) -> dict[str, Matrices]:
    """Return programs of the claims over classes: each comparison of each form.

    Statements in letters are taken at a point of their region.

    Args:
        every: of how many programs one is returned.
    """
    return dict(islice(_on_record(), 0, None, every))


def _on_record() -> Iterator[tuple[str, Matrices]]:
    for name, leaf in leaves("claim").items():
        claim = leaf.load()
        for number, case in enumerate(claim.classes if isinstance(claim, BoundClaim) else ()):
            if worst_cases.letters_in(case):
                region = Region(theorems.region_of(claim, case))
                case = theorems.with_numbers(case, next(ends_and_middle(region)))
            form = claim.forms[0]
            if outside(claim, case, form) is not None:
                continue
            left = form.left or claim.left
            made = build(case.algorithm, case.problem, rounds=case.rounds, left=left)
            for moment, program in enumerate(made):
                own = program.less(factors_of(claim, case, form))
                yield f"{name} {number} {moment}", matrices(own)


def in_other_units(program: Matrices, of_points: float, of_gradients: float) -> Units:
    """Return units in which a statement with other numbers has this program.

    Conditions on values stay in units of values, and others have the largest factor that they had.
    """
    s = np.where(program.points, of_points, of_gradients)
    value, pairs = of_points * of_gradients, np.outer(s, s)
    gram = np.concatenate([program.gram.dense, program.objective[0][None]])
    before, after = (np.abs(of).max((1, 2), initial=0.0) for of in (gram, gram * pairs))
    valued = np.append(np.any(program.values != 0, 1), np.any(program.objective[1] != 0))
    r = np.where(valued | (after == 0), 1 / value, before / np.where(after > 0, after, 1.0))
    return Units(s, np.full(program.values.shape[1], value), r[:-1], float(r[-1]))


def disturbed(program: Matrices, seed: int) -> Matrices:
    """Return a program whose every number is off by a few of the last digits."""
    source = np.random.default_rng(seed)

    def off(of: np.ndarray) -> np.ndarray:
        return of * (1 + source.uniform(-DIGITS, DIGITS, of.shape))

    def symmetric(of: np.ndarray) -> np.ndarray:
        made = off(of)
        return (made + np.swapaxes(made, -1, -2)) / 2

    gram, values = program.objective
    return replace(
        program,
        gram=Forms.of(symmetric(program.gram.dense)),
        values=off(program.values),
        bounds=off(program.bounds),
        objective=(symmetric(gram), off(values)),
    )


@dataclass(frozen=True)
class Answer:
    """What is known of a program: "solved", "unbounded", "impossible" or "unsolved"; its value."""

    kind: str
    value: float = 0.0

    def agrees(self, other: Answer, size: float) -> bool:
        """Tell whether another answer is the same, up to what a solver knows."""
        near = abs(self.value - other.value) <= 1e-4 * max(abs(self.value), abs(other.value), size)
        return self.kind == other.kind and near


def answer(program: Matrices) -> Answer:
    """Solve a program."""
    try:
        return Answer("solved", solve_matrices(program).value)
    except UnboundedError:
        return Answer("unbounded")
    except UnsolvedError:
        return Answer("unsolved")
    except DriftproofError:
        return Answer("impossible")


def size_of(program: Matrices) -> float:
    """Return the value that is 1 in the units in which a program is solved."""
    return 1 / units(reduced(program, kept(program))).objective


def kernels() -> list[str]:
    """Return OpenBLAS's kernels that this processor runs; none where that is not known."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    except OSError:
        return []
    return [name for name, needed in KERNELS.items() if needed in flags]


def solved_with(kernel: str, file: Path) -> tuple[str, list[Answer]]:
    """Return the kernel that a process says it has, and its answers."""
    env = os.environ | {"OPENBLAS_CORETYPE": kernel}
    words = [sys.executable, "-m", "tests.programs", str(file)]
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    return said["kernel"], [Answer(*of) for of in said["answers"]]


def write(programs: Sequence[Matrices], file: Path) -> None:
    """Write programs for ``solved_with``."""
    file.write_bytes(pickle.dumps(list(programs)))


def main() -> None:
    """Solve the programs of a file."""
    from threadpoolctl import threadpool_info

    programs = pickle.loads(Path(sys.argv[1]).read_bytes())
    answers = [answer(program) for program in programs]
    blas = [of for of in threadpool_info() if of["user_api"] == "blas"]
    (kernel,) = {of.get("architecture", "") for of in blas}
    said = {"kernel": kernel, "answers": [(of.kind, of.value) for of in answers]}
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main()
