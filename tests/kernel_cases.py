"""Generated runs of any kernel: members it serves, sizes from 1 up, states in any layout.

A field of an algorithm is drawn by its name (``FIELDS``) or, if it is text, from the
values that the algorithm's own examples take. A family of problems is drawn by its strategy, or
from its examples. So a new kernel is covered by being there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from hypothesis import strategies as st

from driftproof.synthetic.problems import (
    KLDRO,
    AveragedComposition,
    BiasAmplification,
    BoundedComposition,
    QuadraticMinimax,
    RandomMinimax,
)
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.discover import find, leaves
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.kernels.registry import Fused, Variant
from driftproof.toolkit.problem import Problem

NOISY = BoundedComposition(
    clients=3,
    dim=2,
    inner_dim=3,
    inner_curvature=0.4,
    heterogeneity=0.6,
    opposition_slope=0.7,
    opposition_curvature=2.0,
    opposition_centre=0.5,
    inner_value_noise=0.2,
    inner_gradient_noise=0.3,
    outer_gradient_noise=0.2,
    distance=0.8,
)
COMPOSED = AveragedComposition(
    clients=5,
    dim=3,
    inner_dim=2,
    inner_curvature=0.5,
    inner_heterogeneity=0.4,
    inner_offset=0.6,
    plain_slope=0.5,
    plain_tilt=0.2,
    inner_value_noise=0.2,
    inner_gradient_noise=0.3,
    plain_noise=0.1,
    distance=1.1,
)
few, steps, noise = st.integers(1, 5), st.integers(1, 3), st.sampled_from([0.0, 0.3])
wide = few | st.integers(1, 40)
"""Of what is computed in tiles, or in the lanes of a vector."""
inner = {
    "clients": few,
    "dim": few,
    "inner_dim": few,
    "inner_curvature": st.sampled_from([0.0, 0.4]),
    "inner_value_noise": noise,
    "inner_gradient_noise": noise,
}
FAMILIES = {
    "kl-dro": st.builds(
        KLDRO, clients=few, dim=st.integers(1, 18), samples=st.integers(1, 7),
        temperature=st.sampled_from([1.0, 5.0]), ball=st.just(2.0),
    ),
    "bounded-composition": st.builds(
        BoundedComposition, **inner, heterogeneity=st.sampled_from([0.0, 0.6]),
        opposition_slope=st.sampled_from([0.0, 0.7]), outer_gradient_noise=noise,
    ),
    "averaged-composition": st.builds(
        AveragedComposition, **inner, inner_heterogeneity=st.sampled_from([0.0, 0.4]),
        inner_offset=st.sampled_from([0.0, 0.6]), plain_slope=st.sampled_from([0.0, 0.5]),
        plain_tilt=st.sampled_from([0.0, 0.2]), plain_noise=noise,
    ),
    "bias-amplification": st.builds(
        BiasAmplification, heterogeneity=st.sampled_from(["slopes", "offsets"]),
    ),
    "quadratic-minimax": st.builds(
        QuadraticMinimax, clients=wide, dim=wide, gradient_noise=noise,
        heterogeneity=st.just(0.3),
    ),
    "random-minimax": st.builds(
        RandomMinimax, clients=wide, dim=wide, coupling=st.just(0.5),
        matrices_drawn=st.sampled_from(["multiples", "general"]),
        form=st.sampled_from(["printed", "halved"]), centring=st.just("none"),
    ),
}  # fmt: skip
sizes = st.sampled_from([0.05, 0.2])
FIELDS = {
    "local_steps": steps,
    "inner_calls": steps,
    "inner_steps": steps,
    "outer_steps": steps,
    "step_size": sizes,
    "inner_step_size": sizes,
    "outer_step_size": sizes,
    "momentum": st.sampled_from([0.3, 1.0]),
    "inner_momentum": st.sampled_from([1.0, 4.0]),
    "step_factor": st.sampled_from([1.0, 0.3]),
    "decay": st.sampled_from([0.0, 1.5]),
    "batch": st.sampled_from([1, 2, 3, 5, 11]),
    "terms": st.just(0),
    "participation": st.sampled_from([1.0, 0.6, 0.1]),
    "averaged": st.sampled_from(["umx", "u", "mx", ""]),
}
LAYOUTS = ("contiguous", "permuted", "strided", "cut out", "expanded")


def algorithms(name: str) -> st.SearchStrategy[Algorithm]:
    """Members of one algorithm."""
    kind: Any = find("algorithm", name).load()
    drawn: dict[str, Any] = {}
    for field, value in kind().values().items():
        if field in FIELDS:
            drawn[field] = FIELDS[field]
        elif isinstance(value, str):
            seen = [getattr(member, field) for member in (kind(), *kind.examples())]
            drawn[field] = st.sampled_from(sorted(set(seen)))
    return st.builds(kind, **drawn)


def members(family: str) -> st.SearchStrategy[Problem]:
    """Members of one family: of sizes from 1 up, or its examples if ``FAMILIES`` lacks it."""
    if family in FAMILIES:
        return FAMILIES[family]
    return st.sampled_from(find("problem", family).load().examples())


@dataclass(frozen=True)
class Case:
    """Some steps: what is run, from where, and how the state lies in memory."""

    kernel: Fused
    algorithm: Algorithm
    problem: Problem
    replicates: int = 3
    dtype: torch.dtype = torch.float64
    block: int = 1
    first: int = 0
    steps: int = 1
    layout: str = "contiguous"
    alike: bool = False
    record: str = ""
    device: str = "cpu"

    def context(self, dtype: torch.dtype | None = None) -> Any:
        """Return the context at the first step; of plain steps, where the precision is given."""
        ctx = sampled_context(
            self.problem,
            ("law",),
            replicates=self.replicates,
            block=self.block,
            dtype=dtype or self.dtype,
            device="cpu" if dtype else self.device,
        )
        ctx.t, ctx.local_steps, ctx.horizon = self.first, self.algorithm.local_steps, 9
        return ctx

    def state(self) -> Any:
        """Return a start at which fields and replicates differ, and clients for stretches."""
        ctx, random = self.context(), torch.Generator().manual_seed(5)
        oracles = self.problem.oracles(self.dtype, self.device)
        begun = self.algorithm.init(ctx, oracles, torch.from_numpy(self.problem.start()))
        made = (x + 0.3 * torch.randn(x.shape, generator=random).to(x) for x in begun)
        if not self.kernel.many_rounds:  # its unit is a round, and a round starts from the average
            made = (x[:1].expand_as(x).contiguous() for x in made)
        if self.alike:
            made = (x[..., :1].expand_as(x).contiguous() for x in made)
        return type(begun)(*made)

    def laid(self, state: Any) -> Any:
        """Return the same values with other strides."""
        return type(state)(*(self._laid(x) for x in state))

    def _laid(self, x: torch.Tensor) -> torch.Tensor:
        if self.layout == "permuted":
            return x.permute(2, 0, 1).contiguous().permute(1, 2, 0)
        if self.layout == "strided":
            return x.repeat_interleave(2, 1)[:, ::2].mT.contiguous().mT
        if self.layout == "cut out":
            return torch.nn.functional.pad(x, (1, 2, 1, 0, 0, 1), value=torch.nan)[:-1, 1:, 1:-2]
        if self.layout == "expanded":
            x = x if self.kernel.many_rounds else x[:1].expand_as(x)
            return x[..., :1].expand_as(x) if self.alike else x
        return x

    def fused(self, state: Any, variant: str | Variant, **more: Any) -> tuple[tuple[Any, ...], Any]:
        """Return what a variant returns of a state, and the context after it."""
        ctx, oracles = self.context(), self.problem.oracles(self.dtype, self.device)
        more |= {"record": self.record} if self.kernel.many_rounds else {}
        called = self.kernel.variants[variant] if isinstance(variant, str) else variant
        return called(ctx, oracles, self.algorithm, state, self.steps, **more), ctx

    def plain(self, state: Any, later: int = 0) -> tuple[list[Any], float, Any]:
        """Return the states before and after each step in double precision, reach and context."""
        ctx, oracles = self.context(torch.float64), self.problem.oracles(torch.float64)
        states, reach = [type(state)(*(x.cpu().double() for x in state))], 0.0
        for ctx.t in range(self.first + later, self.first + later + self.steps):
            states.append(self.algorithm.step(ctx, oracles, states[-1]))
            if self.problem.radius is not None:  # nobody else asks for the largest norm
                reach = max(reach, float(ctx.marks[self.algorithm.iterate].norm(dim=1).max()))
        return states, reach, ctx

    def units(self, made: torch.Tensor, wanted: torch.Tensor, start: torch.Tensor) -> float:
        """Return how far a field is off, in units in the last place of its largest entry."""
        scale = max(float(wanted.abs().max()), float(start.abs().max()))
        off = float((made.cpu().double() - wanted).abs().max())
        return off / scale / torch.finfo(self.dtype).eps if off else 0.0


@st.composite
def cases(draw: Any, name: str) -> Case:
    """Cases of one kernel."""
    leaf = leaves("kernel")[name]
    kernel: Fused = leaf.load()
    problems = st.one_of(*(members(family) for family in kernel.problem))
    served = st.one_of(*(algorithms(family) for family in kernel.algorithm))
    pairs = st.tuples(served, problems)
    algorithm, problem = draw(pairs.filter(lambda pair: kernel.accepts(*pair)))
    tau, many_rounds = algorithm.local_steps, kernel.many_rounds
    return Case(
        kernel,
        algorithm,
        problem,
        replicates=draw(st.sampled_from([1, 2, 5, 17, 37, 64])),
        dtype=draw(st.sampled_from([torch.float64, torch.float32])),
        block=draw(st.integers(0, 2)),
        first=draw(st.integers(0, 4)) if many_rounds else tau * draw(st.integers(0, 2)),
        steps=draw(st.integers(1, 6)) if many_rounds else tau,
        layout=draw(st.sampled_from(LAYOUTS)),
        alike=draw(st.booleans()),
        record=draw(st.sampled_from(["", "all", "mean"])) if many_rounds else "",
    )


def simplest(name: str) -> Case:
    """Return one case of a kernel with several clients: its first algorithm's defaults, served."""
    kernel: Fused = leaves("kernel")[name].load()
    kind: Any = find("algorithm", kernel.algorithm[0]).load()
    algorithm = replace(kind(), **({"terms": 0} if "terms" in kind().values() else {}))
    problem = next(
        member
        for family in kernel.problem
        for member in find("problem", family).load().examples()
        if member.clients > 1 and kernel.accepts(algorithm, member)
    )
    return Case(kernel, algorithm, problem, steps=algorithm.local_steps)
