"""Which fused kernel, if any, may replace repeated steps.

A kernel runs the steps of a round, or of a stretch of rounds, as one: its reference is the
algorithm's plain ``step``, and its law is that every variant of it equals ``step`` repeated. The
function under ``@fused`` is the variant in numba for the CPU; further ones follow in the same file
under ``@<kernel>.variant``. A variant is used where draws are sampled on the device it is written
for and no measure looks inside the round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from driftproof.toolkit.discover import Leaf, leaves
from driftproof.toolkit.errors import DriftproofError

if TYPE_CHECKING:
    from driftproof.toolkit.algorithm import Algorithm
    from driftproof.toolkit.engines.batched import BatchedContext
    from driftproof.toolkit.problem import Problem

Advance = Callable[..., Any]
Rows = Callable[[Any], Mapping[str, int]]
"""Oracles → the rows of a state's fields, by their names."""


@dataclass(frozen=True)
class Cost:
    """The least that one round asks of a machine; what a share of the roofline is a share of.

    Attributes:
        flops: floating-point operations that the mathematics needs, not those a variant spends.
        bytes: what passes between memory and chip: each input read once, each output written
            once, and every gathered row once for each time that it is gathered.
        words: random 64-bit words.
        sines: values of sine and of cosine, which are not among the flops.
        roots: square roots, each with a quotient by it or without, neither among the flops.
        signs: reals of two values that are made of a bit each.
    """

    flops: float
    bytes: float
    words: float = 0.0
    sines: float = 0.0
    roots: float = 0.0
    signs: float = 0.0


@dataclass(frozen=True)
class Variant:
    """One way to run a kernel.

    Attributes:
        name: what it is written in: "numba" or "triton".
        device: "cpu" or "cuda".
        advance: (ctx, oracles, algorithm, state, steps) → (state, largest norm of an iterate).
        fits: (algorithm, problem, ctx) → whether it serves, and is worth it at, these sizes.
        many_rounds: whether ``advance`` runs a stretch of any number of rounds, counts their
            communication, and returns third the states before each step, [steps, …] each, if it is
            called with record="all", or their means over clients, [steps, 1, …], with
            record="mean"; of the fields that are not ``among`` those wanted it may return nothing,
            [0, …].
        rows: oracles → how many rows a field of the state has.
    """

    kernel: str
    name: str
    device: str
    advance: Advance
    fits: Callable[[Any, Any, Any], bool]
    many_rounds: bool
    rows: Rows

    def __call__(
        self, ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int, **more: Any
    ) -> Any:
        """Call ``advance`` on a state that this variant can take, whatever its strides.

        Raises:
            DriftproofError: the state is not [clients, rows, replicates] of this context and these
                oracles, of its precision, on its device, or the oracles are of other clients;
                machine code would read past an end.
        """
        clients, rows = len(ctx.local), self.rows(oracles)
        if oracles.clients != clients:
            raise DriftproofError(
                f"{self.kernel} ({self.name}): oracles of {oracles.clients} clients",
                f"of the {clients} of the context",
                "take problem.oracles(ctx.dtype, ctx.device, ctx.local)",
            )
        for name, x in zip(state._fields, state, strict=True):
            here = (clients, rows[name], ctx.replicates)
            if tuple(x.shape) != here or x.dtype != ctx.dtype or x.device.type != self.device:
                raise DriftproofError(
                    f"{self.kernel} ({self.name}): {name} is {x.dtype} {list(x.shape)} on "
                    f"{x.device.type}",
                    f"{ctx.dtype} {list(here)} on {self.device}",
                    "start from algorithm.init in the same context",
                )
        return self.advance(ctx, oracles, algorithm, state, steps, **more)


@dataclass(frozen=True)
class Fused:
    """A kernel: the pairs it serves, what it costs at least, and its variants.

    Attributes:
        algorithm, problem: names of the algorithms' and of the problems' leaves.
        accepts: whether it serves this member of the two families.
        cost: (algorithm, problem, replicates, bytes of a real) → the cost of one round.
        tolerance: by how many units in the last place of the largest entry a variant may differ
            from the plain steps in double precision after one round.
        rows: oracles → how many rows a field of the state has.
        variants: by name, the fastest of a device first.
    """

    name: str
    algorithm: tuple[str, ...]
    problem: tuple[str, ...]
    accepts: Callable[[Any, Any], bool]
    cost: Callable[[Any, Any, int, int], Cost] | None
    tolerance: float
    many_rounds: bool
    rows: Rows
    variants: dict[str, Variant] = field(default_factory=dict)

    def variant(
        self,
        name: str,
        *,
        device: str,
        fits: Callable[[Any, Any, Any], bool] = lambda algorithm, problem, ctx: True,
    ) -> Callable[[Advance], Advance]:
        """Add an ``advance`` function as one more variant, after those already there."""

        def decorate(advance: Advance) -> Advance:
            self.variants[name] = Variant(
                self.name, name, device, advance, fits, self.many_rounds, self.rows
            )
            return advance

        return decorate

    def on(self, algorithm: Algorithm, problem: Problem, ctx: Any) -> Iterator[Variant]:
        """Yield the variants that fit, the fastest first."""
        if self.accepts(algorithm, problem):
            for variant in self.variants.values():
                here = ctx.device.partition(":")[0] == variant.device  # of "cuda:1", "cuda"
                if here and variant.fits(algorithm, problem, ctx):
                    yield variant


def fused(
    *,
    name: str,
    algorithm: str | tuple[str, ...],
    problem: str | tuple[str, ...],
    rows: Rows,
    accepts: Callable[[Any, Any], bool] = lambda algorithm, problem: True,
    cost: Callable[[Any, Any, int, int], Cost] | None = None,
    tolerance: float = 4096.0,
    many_rounds: bool = False,
) -> Callable[[Advance], Fused]:
    """Make an ``advance`` function in numba a kernel leaf, for every member unless told."""

    def decorate(advance: Advance) -> Fused:
        pair = names(algorithm), names(problem)
        kernel = Fused(name, *pair, accepts, cost, tolerance, many_rounds, rows)
        kernel.variant("numba", device="cpu")(advance)
        return kernel

    return decorate


def names(one_or_more: str | Iterable[str]) -> tuple[str, ...]:
    """Return a leaf's name, or several, as a tuple.

    >>> names("comfedl"), names(["fednest", "lfednest"])
    (('comfedl',), ('fednest', 'lfednest'))
    """
    return (one_or_more,) if isinstance(one_or_more, str) else tuple(one_or_more)


def kernel_of(algorithm: Algorithm, problem: Problem) -> Fused | None:
    """Return the kernel that serves this pair, on whatever device, or None.

    Raises:
        DriftproofError: two kernels serve it.
    """
    able: list[tuple[Leaf, Fused]] = []
    for leaf in leaves("kernel").values():
        algorithms, problems = (names(leaf.metadata[part]) for part in ("algorithm", "problem"))
        if algorithm.leaf_name in algorithms and problem.leaf_name in problems:
            kernel: Fused = leaf.load()
            if kernel.accepts(algorithm, problem):
                able.append((leaf, kernel))
    if len(able) > 1:
        files = " and ".join(f"{leaf.name} in {leaf.path}" for leaf, _ in able)
        raise DriftproofError(
            f"{len(able)} kernels for {algorithm.leaf_name} on {problem.leaf_name}: {files}",
            "one kernel at most that accepts a pair of members",
            "narrow what one of them accepts (accepts=…), add a variant to the other instead, or "
            "take one of the files away",
        )
    return able[0][1] if able else None


def fused_for(algorithm: Algorithm, problem: Problem, ctx: BatchedContext) -> Variant | None:
    """Return the fastest variant for this pair on this device, or None: then steps run singly."""
    kernel = kernel_of(algorithm, problem) if ctx.fusable else None
    return next(kernel.on(algorithm, problem, ctx), None) if kernel is not None else None
