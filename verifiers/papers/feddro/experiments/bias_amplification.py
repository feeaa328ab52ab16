r"""FedDRO's main point, drawn: what sharing the embeddings does, over rounds and within one.

**Printed, abstract and section 1.** "vanilla FedAvg is not suitable to solve distributed CO
problems because of the data heterogeneity in the compositional objective at each client which leads
to the amplification of bias in the local compositional gradient estimates"; "[C1]: […] this bias is
amplified during local updates". The text has no figure of it.

**Here.** ``bias-amplification``, without noise, so that one run tells all. Over rounds: ‖∇Φ(x̄)‖² at
the start of each. Within a round: the bias b_j of the step after j local steps, from x̄ = 0.3, with
the bound of ``feddro/bias-bound``.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch

from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.constants import Letters, evaluate
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.federation import run
from driftproof.toolkit.measure import Reduction, Steps, each
from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Panel, Sentence, experiment, results_of
from driftproof.verifiers.papers.feddro.claims import _descent, bias_bound
from driftproof.verifiers.papers.feddro.claims import _local_bias as local

PROBLEMS: tuple[Literal["slopes", "offsets"], ...] = ("slopes", "offsets")
STEPS = 9
FIRST, SECOND, SHARED, _ = _descent.METHODS
AMPLIFIED = "this bias is amplified during local updates"
INCAPABLE = "vanilla FedAvg is incapable of solving the CO problems"
RESOLVED = "the modified FedAvg resolves the non-convergence issue"


@dataclass(frozen=True, kw_only=True)
class BiasRun(study.Run):
    """All methods on one problem: the squared gradient by rounds, and the bias in a round."""

    heterogeneity: Literal["slopes", "offsets"] = "slopes"
    local_steps: int = 2

    @property
    def problem(self) -> BiasAmplification:
        """The problem, from the start of the plots over rounds."""
        return self.made(BiasAmplification)

    @property
    def algorithm(self) -> Algorithm:
        """The first of the methods."""
        return _descent.made(FIRST, self.local_steps)

    def measured(self) -> dict[str, Any]:
        """Run without noise."""
        gradients = {
            name: _descent.descent(self.problem, _descent.made(name, self.local_steps), self.rounds)
            for name in _descent.METHODS
        }
        return {"gradients": gradients} | {
            name: self._within(_descent.made(name, STEPS, local.SIZE))
            for name in (FIRST, SECOND, SHARED)
        }

    def _within(self, method: _descent.Method) -> list[list[float]]:
        """Return ‖b_j‖ and the right side of feddro/bias-bound for each j."""
        problem, c = replace(self.problem, at=0.3), Letters(method.notation)
        ctx = NoiselessContext(problem.clients, dtype=torch.float64, device="cpu")
        bias, delta = run(problem, method, ctx, rounds=1, left=_bias).taken[..., 0].tolist()
        of, roles = c.measured("delta"), {**problem.constants, "step_size": local.SIZE}
        stated = bias_bound.stated(c)
        return [
            bias,
            [
                evaluate(stated.subs(of, x), method.notation, roles | {"local_steps": j + 1})
                for j, x in enumerate(delta)
            ],
        ]


def _bias(view: Steps) -> Reduction:
    return each("transition", local.norm(local.bias(view)), delta=local.spread(view))


@experiment(
    name="feddro/bias-amplification",
    source="FedDRO (2023), abstract, [C1] and section 4.1; the paper has no figure of it",
    statement="vanilla FedAvg is incapable of solving the CO problems; this bias is amplified "
    "during local updates; the modified FedAvg resolves the non-convergence issue",
)
def bias_amplification(plan: study.Plan) -> study.Steps:
    """Run each method on both problems, over rounds and within one, and judge the sentences."""
    base = BiasRun.planned(plan, rounds=20 if plan.profile == "smoke" else _descent.ROUNDS)
    units = {
        (of, steps): [base.but(heterogeneity=of, local_steps=steps)]
        for steps in _descent.LOCAL_STEPS
        for of in PROBLEMS
    }
    told = {key: results[0] for key, results in (yield from results_of(units)).items()}
    two, eight = (
        [_descent.panel(of, steps, told[of, steps]["gradients"]) for of in PROBLEMS]
        for steps in _descent.LOCAL_STEPS
    )
    within = [_within(of, told[of, _descent.LOCAL_STEPS[0]]) for of in PROBLEMS]
    return study.Conclusion(
        setting=[
            "“slopes”: g_1 = 2x, g_2 = 1 − x, f' = clip(y, ±3); “offsets”: g_k = x + c_k, c = (2, "
            "−1, −1), f' = clip(y, ±1); no noise, h = 0",
            f"{base.rounds} rounds with η = 1/16 from x̄ = ¼; one round with η = 1/64 from 0.3",
        ],
        sentences=[
            *(_amplified(of, told[of, _descent.LOCAL_STEPS[0]][FIRST][0]) for of in PROBLEMS),
            *(
                _solved(text, f"“{of}”, I = {steps}, {name}", result["gradients"][name])
                for text, names in ((INCAPABLE, (FIRST, SECOND)), (RESOLVED, (SHARED,)))
                for name in names
                for (of, steps), result in told.items()
            ),
        ],
        findings=[
            "Without noise FedDRO's embedding is the modified algorithm's but for the error of its "
            "first one, which it forgets by the factor 1 − β = ½ a step."
        ],
        panels=[*eight, *within, *two],
    )


def _amplified(of: str, bias: list[float]) -> Sentence:
    verdict = "reproduced" if bias[-1] > bias[0] else "not reproduced"
    why = f"‖b_j‖ is {bias[0]:.3g} at the first step of a round and {bias[-1]:.3g} at the ninth"
    return Sentence(AMPLIFIED, f"“{of}” from 0.3, {FIRST}", verdict, why)


def _solved(text: str, where: str, gradients: list[float]) -> Sentence:
    """Judge whether x̄ rests, and whether at a millionth of the first squared gradient or less."""
    first, *_, before, last = gradients
    solved, rests = last <= 1e-6 * first, abs(last - before) <= 1e-3 * last
    verdict = "reproduced" if solved == (text == RESOLVED) else "not reproduced"
    why = f"‖∇Φ(x̄)‖² goes from {first:.3g} to {last:.3g}"
    return Sentence(text, where, verdict if solved or rests else "undecided", why)


def _within(of: str, result: dict[str, Any]) -> Panel:
    lines = {name: result[name][0] for name in (FIRST, SECOND, SHARED)} | {
        "bound, own embeddings": result[FIRST][1],
        "bound, shared at every step": result[SHARED][1],
    }
    curves = [
        study.curve(label, range(STEPS), np.array([values]), "y")
        for label, values in lines.items()
        if any(values)
    ]
    note = "η = 1/64, from x̄ = 0.3, no noise; what is 0 is not drawn"
    title = f"“{of}”: the bias within one round"
    return Panel(f"{of}-within", title, "local steps done, j", "‖b_j‖", curves, "y", note)
