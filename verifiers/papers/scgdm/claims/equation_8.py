r"""Equation (8): federated MAML as a composition, for a device with a set of tasks.

**Kind.** Identity: the value and the derivatives of E_i L_i(x − λ∇L_i(x)), what the device's model
loses after one step on each task, against the composition.
"""

from collections.abc import Callable
from math import pi
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from driftproof.synthetic.problems.analytic_maml import AnalyticMAML
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.oracles import Composition
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, intended, literal, narrower
from driftproof.verifiers.claim_types.compared import Comparison, components
from driftproof.verifiers.claim_types.comparison import comparison

POINTS = (-2.0, 0.0, 0.7, 2.5)


class Device(NamedTuple):
    """One client and the centres of its tasks, [tasks, 1]."""

    problem: AnalyticMAML
    client: int
    centres: Tensor


Value: TypeAlias = Callable[[Device, Tensor], Tensor]
"""From a device and a point x, [dim], to a number."""


class Composed(NamedTuple):
    """The meta-objective of a device, and the composition that should be the same function."""

    objective: Value
    composition: Value


def gradients(device: Device, x: Tensor) -> Tensor:
    """Return ∇L_i(x) of each task, [tasks, dim]."""
    of = device.problem
    return of.amplitude * of.frequency * torch.sin(of.frequency * (x - device.centres))


def losses(device: Device, y: Tensor) -> Tensor:
    """Return L_i at each task's own row of y, [tasks]."""
    of = device.problem
    return of.amplitude * (1 - torch.cos(of.frequency * (y - device.centres))).sum(1)


def own_step(device: Device, x: Tensor) -> Tensor:
    """Return E_i L_i(x − λ∇L_i(x)), what MAML minimises."""
    return losses(device, x - device.problem.adaptation * gradients(device, x)).mean()


def mean_step(device: Device, x: Tensor) -> Tensor:
    return losses(device, x - device.problem.adaptation * gradients(device, x).mean(0)).mean()


def one_task(device: Device, x: Tensor) -> Tensor:
    return losses(device, x - device.problem.adaptation * gradients(device, x)[0]).mean()


def same_task(device: Device, x: Tensor) -> Tensor:
    """Return E_i f_i(g_i(x)), task by task: one g and one f for each, the mean at the end."""
    of, values = device.problem, []
    for centre in device.centres:
        slope = of.amplitude * of.frequency * torch.sin(of.frequency * (x - centre))
        after = x - of.adaptation * slope  # g of this task
        values.append((of.amplitude * (1 - torch.cos(of.frequency * (after - centre)))).sum())
    return torch.stack(values).mean()


def stacked(device: Device, x: Tensor) -> Tensor:
    """Return f(g(x)) by the problem's own oracles, with one block a task."""
    alone = range(device.client, device.client + 1)
    oracles: Composition = device.problem.oracles(torch.float64, clients=alone)
    y, _ = oracles.inner(x[None, :, None], None)
    return oracles.outer_value(y)[0, 0]


def no_step(device: Device, x: Tensor) -> Tensor:
    return losses(device, x + 0 * device.centres).mean()


def ascent(device: Device, x: Tensor) -> Tensor:
    return losses(device, x + device.problem.adaptation * gradients(device, x)).mean()


def only(value: Value) -> Value:
    """Read a device's set of tasks as its first task alone."""
    return lambda device, x: value(device._replace(centres=device.centres[:1]), x)


def _with_slope(function: Value, device: Device, at: float) -> tuple[float, list[float]]:
    x = (at + 0.1 * torch.arange(device.problem.dim, dtype=torch.float64)).requires_grad_()
    value = function(device, x)
    (slope,) = torch.autograd.grad(value, x)
    return value.item(), slope.tolist()


@comparison(
    name="scgdm/equation-8",
    source="Local-SCGDM (2022), (8)",
    statement=r"\mathbb{E}_i\mathcal{L}^{(k)}_i\big(x-\lambda\nabla\mathcal{L}^{(k)}_i(x)\big) = "
    r"f^{(k)}(g^{(k)}(x)),\quad g^{(k)}(x) = \mathbb{E}_{\xi\sim\mathcal{D}^{(k)}_{i,train}}"
    r"\big[x-\lambda\nabla\mathcal{L}^{(k)}_i(x;\xi)\big],\quad f^{(k)}(y) = "
    r"\mathbb{E}_{i,\zeta}\big[\mathcal{L}^{(k)}_i(y;\zeta)\big]",
    cases=grid(
        AnalyticMAML(
            tasks=sweep(2, 1, 3),
            dim=sweep(1, 2),
            adaptation=sweep(1.0, 0.3),
            heterogeneity=0.4,
            task_heterogeneity=pi / 2,
        )
    ),
    readings={
        "each device has one task": narrower(
            Composed(only(own_step), only(mean_step)),
            why="the text gives each device a set of tasks",
        ),
        "one block a task": intended(
            Composed(own_step, stacked),
            quote="section 5.1: “we also maintain a separate inner state u_i for each task i”",
        ),
        "the same task in f and g, the expectation outside": narrower(
            Composed(own_step, same_task),
            why="it is MAML, but not of the form (1) that Algorithm 1 solves",
        ),
        "g is the mean over all tasks of a device": literal(
            Composed(own_step, mean_step),
            quote="f in (8) has a mean over i ~ P_task; g has a free i, read with the same mean",
        ),
        "g is of one task of a device": literal(
            Composed(own_step, one_task),
            quote="g in (8) takes D_{i,train} of one task i, which nothing binds",
        ),
    },
    erratum=Erratum(
        "incomplete",
        changes="If a device has several tasks, Algorithm 1 needs one block of u for each task, as "
        "section 5.1 has it for one experiment. One u for all tasks solves another problem. "
        "Section 2.2 calls such a state for each task a limitation of earlier work.",
        depends="theorem",
    ),
    corrected=Composed(own_step, stacked),
    correction=(
        "g^{(k)}(x) = (x − λ∇L_i(x))_i, one block a task, and f^{(k)}(y) = (1/n) Σ_i L_i(y_i): "
        "f^{(k)}(g^{(k)}(x)) = (1/n) Σ_i L_i(x − λ∇L_i(x)), term by term. With blocks scaled by "
        "1/√n, every constant is that of one task. u has n·d entries: section 5.1 does "
        "maintain “a separate inner state u_i for each task i”."
    ),
    false_siblings=[
        ("no adaptation", Composed(own_step, no_step)),
        ("a step uphill", Composed(own_step, ascent)),
    ],
    explain=(
        "Read with the same task in g and f, (8) is MAML, but a mean of compositions. Read as one "
        "g and one f a device, as (1) and Algorithm 1 need it, a device with several tasks tests "
        "each of them after a step on the mean of all (or on one of them). With one block a task "
        "it is of that form. “Theorem 1 holds” refers to a theorem that the paper does not have "
        "under that number."
    ),
)
def values_and_derivatives(case: Case[AnalyticMAML, None], right: Composed) -> list[Comparison]:
    """The value, and each derivative by automatic differentiation, at a few points."""
    made: list[Comparison] = []
    for client, centres in enumerate(case.problem.centres):
        device = Device(case.problem, client, torch.from_numpy(centres)[:, None])
        for at in POINTS:
            (left, slope), (value, stated) = (_with_slope(f, device, at) for f in right)
            where = f"of client {client + 1} at {at:g}"
            made.append(Comparison(f"value {where}", left, left, value, len(made)))
            made += components(f"derivative {{}} {where}", slope, stated, first=len(made))
    return made
