"""Right sides and assumptions of ComFedL a second time, in numbers, from the papers' displays."""

from __future__ import annotations

from math import exp, log1p, sqrt

import numpy as np
import pytest
import sympy
import torch

from synthetic.certificates.cone import frank_wolfe_gap
from synthetic.image_problems.imbalanced import ImbalancedImages
from synthetic.pieces.losses import LOSSES
from synthetic.problems import KLDRO, BoundedComposition
from toolkit.algorithms import ComFedL, FedAvg
from toolkit.cases import Case
from toolkit.constants import Letters, evaluate
from toolkit.discover import leaves
from toolkit.federation import run, run_exactly, sampled_context
from toolkit.readings import Stated
from toolkit.verdict import Verdict
from verifiers.judges.bounds import unmet
from verifiers.verify import Settings, judge

# letters with values that no product of others equals
V = {
    "tau": 7.0, "eta": 0.03, "b": 5.0, "b1": 11.0, "n": 13.0, "m": 4.0, "S": 17.0, "T": 119.0,
    "G_f": 1.9, "G_g": 2.3, "L_f": 0.7, "L_g": 3.1, "L": 0.37, "sigma_1": 0.53, "sigma_2": 0.59,
    "sigma_3": 0.61, "F_gap": 41.0,
}  # fmt: skip
H = sqrt(V["G_g"] ** 2 * V["L_f"] ** 2 + V["G_f"] ** 4 * V["L_g"] ** 2)
S3, TAU, ETA, GF, GG, LG = 0.61, 7.0, 0.03, 1.9, 2.3, 3.1
FIRST = 41.0 / (119.0 * ETA)
LAST = 0.37 * TAU * ETA * GG**2 * GF**2 + 0.37 * ETA / 2 * GF**2 * GG**2
DRIFT = sqrt(5) * H * TAU * GG * GF * ETA
OUTER, INNER = sqrt(5) * GF * S3 / sqrt(11), sqrt(5) * GG * S3 / sqrt(5)
PLUG = sqrt(5) * LG * GF * S3 / sqrt(5)
MOVED = (GG**2 * 0.7**2 + GF**4 * LG**2) * TAU**2 * ETA**2 * GG**2 * GF**2

PRINTED = {
    ("lemma-2", ""): TAU**2 * ETA**2 * GG**2 * GF**2,
    ("lemma-3", ""): 5 * MOVED + 5 * GF**2 * S3**2 / 11 + 5 * GG**2 * S3**2 / 5
    + 5 * LG**2 * GF**2 * S3**2 / 5,
    ("lemma-4", ""): 4 * MOVED + 4 * GG**2 * S3**2 / 5 + 4 * LG**2 * GF**2 * S3**2 / 5,
    ("theorem-1", "the product that is printed"): FIRST
    + GF * GG * (DRIFT * OUTER + INNER + PLUG) + LAST,
    ("theorem-1", "a plus sign is missing"): FIRST
    + GF * GG * (DRIFT + OUTER + INNER + PLUG) + LAST,
    ("theorem-2", ""): FIRST
    + GF * GG * (2 * H * TAU * ETA * GG * GF + 2 * GG * S3 / sqrt(5) + 2 * LG * GF * S3 / sqrt(5))
    + LAST,
}  # fmt: skip


def test_every_printed_bound_is_written_here():
    bounds = {
        (name.split("/")[1], form.reading)
        for name, leaf in leaves("claim").items()
        if name.startswith("comfedl/") and leaf.load().kind == "bound"
        for form in leaf.load().forms
        if form.form == "printed"
    }
    assert bounds == set(PRINTED)


@pytest.mark.parametrize(("name", "reading"), PRINTED)
@pytest.mark.parametrize("largest", ["sigma_1", "sigma_2", "sigma_3"])
def test_a_printed_right_side_is_the_papers(name, reading, largest):
    claim = leaves("claim")[f"comfedl/{name}"].load()
    (form,) = (f for f in claim.forms if f.form == "printed" and f.reading == reading)
    letters = {letter: letter for letter in V}
    values = V | {"sigma_3": 0.1, "sigma_2": 0.1, "sigma_1": 0.1} | {largest: S3}
    assert evaluate(form.right(Letters(letters)), letters, values) == pytest.approx(
        PRINTED[name, reading], rel=1e-12
    )


def test_the_orders_and_instances_of_the_remarks():
    at = {"T": 100.0, "alpha_1": 0.5, "alpha_2": 1.0, "alpha_3": 0.8, "tau": 3.0}
    printed = 100**-0.5 + 3 * 100**-0.5 + 100**-0.5
    for name, stated in (("remark-1", printed + 100**-0.4), ("remark-2", printed)):
        claim = leaves("claim")[f"comfedl/{name}"].load()
        for form in claim.forms[:2]:
            order = form.right.order
            values = {symbol: at[symbol.name] for symbol in order.free_symbols}
            assert float(order.subs(values)) == pytest.approx(stated)
        for case in claim.cases_for("full"):
            steps = case.rounds * case.algorithm.local_steps
            assert case.algorithm.step_size == pytest.approx(steps**-0.5)
            assert case.algorithm.batch == steps
            assert case.algorithm.branch == "special" or case.algorithm.outer_batch == steps


def test_lemma_2_is_attained_and_lemma_1_compares_the_saddle():
    rows = judge([leaves("claim")["comfedl/lemma-2"].load()], Settings())
    assert max(row.ratio for row in rows) == pytest.approx(1.0, abs=1e-9)
    claim = leaves("claim")["comfedl/lemma-1"].load()
    case = next(c for c in claim.cases if c.problem.loss == "logistic")
    assert "min over w" in [c.what for c in claim.compare(case, claim.forms[0].right)]
    assert len(claim.prove(claim.forms[0].right)) == 4 + 2


NEEDED = {
    "Assumption 1": {"inner_smoothness", "outer_smoothness", "objective_smoothness"},
    "Assumption 2": {"inner_gradient_bound", "outer_gradient_bound"},
    "Assumption 3": {"inner_gradient_noise", "inner_value_noise", "outer_gradient_noise"},
    "Assumption 4": {"initial_gap"},
}


@pytest.mark.parametrize("name", ["lemma-2", "lemma-3", "lemma-4", "theorem-1", "theorem-2"])
def test_every_bound_assumes_what_the_paper_does(name):
    claim = leaves("claim")[f"comfedl/{name}"].load()
    held = {a.name: set(a.roles) for a in claim.assumes if a.roles}
    assert held == NEEDED


def test_theorem_1_is_for_equal_minibatches():
    claim = leaves("claim")["comfedl/theorem-1"].load()
    broken = Case(BoundedComposition(), ComFedL(batch=2, outer_batch=3), 2)
    assert "b" in unmet(claim, broken)
    assert unmet(claim, Case(BoundedComposition(), ComFedL(batch=3, outer_batch=3), 2)) is None


@pytest.mark.parametrize(("share", "size"), [(0.4, 2), (0.35, 1), (0.1, 1), (1.0, 4)])
def test_a_cohort_is_rounded_to_the_nearest_and_never_empty(share, size):
    assert ComFedL(participation=share).cohort_size(4) == size
    assert FedAvg(participation=share).cohort_size(4) == size


@pytest.mark.parametrize("participation", [1.0, 0.5])
def test_fedavg_weighs_the_cohorts_clients_by_their_samples(participation):
    problem = ImbalancedImages(clients=4, large=30, small=10, validation=5, form="average")
    algorithm = FedAvg(weighting="samples", participation=participation, batch=3)
    ctx = sampled_context(problem, ("w",), replicates=8)
    state = run(problem, algorithm, ctx, rounds=1).state
    shares = torch.tensor([30.0, 10, 10, 10], dtype=torch.float64)[:, None, None]
    shares = shares if ctx.mask is None else shares * ctx.mask
    expected = (shares * ctx.marks["w"]).sum(0) / shares.sum(0)
    torch.testing.assert_close(state.w[0], expected)


def test_cohorts_change_from_round_to_round():
    ctx = sampled_context(BoundedComposition(clients=6), ("c",))
    masks = []
    for since in (0, 5, 10):
        ctx.cohort(3, since=since)
        masks.append(ctx.mask)
    assert not torch.equal(masks[0], masks[1])
    assert not torch.equal(masks[1], masks[2])


def test_a_view_sees_the_cohort_before_the_average_and_a_lost_run_counts_as_zero():
    from synthetic.problems import QuadraticMinimax
    from toolkit.measure import average, each, sq

    seen = []

    def left(view):
        seen.append((view.mean("w").clone(), view.client("w").clone(), ctx.mask, view))
        return each("round", "local_step", sq(view.mean("w")))

    problem = BoundedComposition(clients=4, heterogeneity=2.0)
    ctx = sampled_context(problem, ("v",), replicates=8)
    run(problem, ComFedL(local_steps=2, participation=0.5), ctx, rounds=1, left=left)
    mean, clients, mask, _ = seen[1]  # after the first of two local steps
    torch.testing.assert_close(mean, (mask * clients).sum(0) / mask.sum(0))
    assert not torch.allclose(mean, clients.mean(0))
    assert seen[2][1].std(0).max() > 1e-3  # what clients hold before the average

    wild, method = QuadraticMinimax(clients=2, largest=2.0), FedAvg(step_size=40.0)
    parts = [
        run(wild, method, sampled_context(wild, ("l",), replicates=1), rounds=300,
            left=lambda view, how=how: how("round", sq(view.round_start("w"))))
        for how in (each, average)
    ]  # fmt: skip
    assert len(parts[0].values) < 300
    np.testing.assert_allclose(parts[1].values[0], parts[0].values.sum(0) / 300)


def test_the_reach_is_that_of_the_clients_before_they_are_averaged():
    from toolkit.measure import each, sq

    problem, norms = KLDRO(clients=2, heterogeneity=3.0, ball=1.0), []

    def left(view):
        norms.append(float(view.client("w").norm(dim=1).max()))
        return each("round", "local_step", sq(view.mean("w")))

    ctx = sampled_context(problem, ("r",))
    made = run(problem, ComFedL(step_size=0.5), ctx, rounds=3, left=left)
    assert made.reach == pytest.approx(max(norms[1:]), rel=1e-12)


def test_atoms_of_a_minibatch_have_binomial_probabilities():
    from toolkit.measure import average

    problem = BoundedComposition(clients=1, inner_value_noise=0.3)
    made = run_exactly(
        problem, ComFedL(batch=3, branch="special"), rounds=1, limit=8,
        left=lambda view: average("round", view.round_start("w").sum(0)),
    )  # fmt: skip
    assert sorted(made.weights.tolist()) == pytest.approx([1 / 8, 1 / 8, 3 / 8, 3 / 8])


def test_the_constants_of_the_robust_forms_are_the_formulas_of_their_file():
    """Attacks cannot tell a bound that is loose from one that is a little looser."""
    base = {"clients": 3, "samples": 4, "temperature": 0.7, "feature_bound": 1.3, "ball": 0.9}
    reach, gamma, r = 1.3 * 0.9, 0.7, 1.3
    low, high = log1p(exp(-reach)), log1p(exp(reach))
    slope, bend = r / (1 + exp(-reach)), r**2 / 4
    top = exp(high / gamma)
    wanted = {
        "log": (top * slope / gamma, top * (bend / gamma + slope**2 / gamma**2),
                gamma * exp(-low / gamma), gamma * exp(-2 * low / gamma), bend + slope**2 / gamma),
        "exp": (slope, bend, top / gamma, top / gamma**2,
                top * (bend / gamma + slope**2 / gamma**2)),
    }  # fmt: skip
    names = ("inner_gradient_bound", "inner_smoothness", "outer_gradient_bound",
             "outer_smoothness", "objective_smoothness")  # fmt: skip
    for form, values in wanted.items():
        constants = KLDRO(form=form, **base).constants
        for name, value in zip(names, values, strict=True):
            assert constants[name] == pytest.approx(value), (form, name)
    assert KLDRO(form="average", **base).constants["objective_smoothness"] == pytest.approx(bend)


def test_losses_attain_their_slope_and_curvature():
    softmax, logistic = LOSSES["softmax"], LOSSES["logistic"]
    assert logistic.range(2.0) == pytest.approx((log1p(exp(-2)), log1p(exp(2))))
    p = np.array([0.5, 0.5, 0.0])
    hessian = np.diag(p) - np.outer(p, p)
    assert softmax.curvature(9.0) == pytest.approx(np.linalg.eigvalsh(hessian).max())
    wrong = np.linalg.norm(np.array([1.0, 0, 0]) - np.array([0, 1.0, 0]))
    assert softmax.slope(9.0) == pytest.approx(wrong)


def test_the_frank_wolfe_gap_is_exact_for_linear_functions():
    random = np.random.default_rng(0)
    g, w = random.standard_normal(4), random.standard_normal(4) / 4
    assert frank_wolfe_gap(w, g, 2.0) == pytest.approx(g @ w + 2.0 * np.linalg.norm(g))
    held = KLDRO(clients=2, samples=3, ball=2.0).solution
    assert held.high - held.low == pytest.approx(held.certificate["frank_wolfe_gap"], abs=1e-15)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [({}, Verdict.SUPPORTED), ({"drop": "alpha_2"}, Verdict.INCONCLUSIVE),
     ({"drop": "tau"}, Verdict.INCONCLUSIVE), ({"bound": 1e-3}, Verdict.REFUTED)],
)  # fmt: skip
def test_a_rate_is_judged_by_every_term_of_its_bound(change, verdict):
    import dataclasses

    from verifiers.claim_types.derived import Derived
    from verifiers.judges.rates import judge_schedule

    claim = leaves("claim")["comfedl/remark-1"].load()
    form = next(f for f in claim.forms if f.reading_kind == "intended")
    if "bound" in change:
        source = leaves("claim")["comfedl/theorem-1"].load()
        (stated,) = (f for f in source.forms if f.form == "corrected")
        small = Stated(lambda c: 1e-3 * stated.right(c), assumes=stated.assumes)
        source = dataclasses.replace(source, name="mine/theorem", corrected=small)
        rows = judge([dataclasses.replace(claim, derived=Derived(source))], Settings())
        assert next(r for r in rows if r.case["key"] == "slope").verdict is verdict
        return
    order = form.right.order
    if change:
        symbol = next(s for s in order.free_symbols if s.name == change["drop"])
        order = order.subs(symbol, 1) if symbol.name == "tau" else sympy.Add(
            *(term for term in order.args if not term.has(symbol)))  # fmt: skip
    schedule = dataclasses.replace(form.right, order=order)
    row = judge_schedule(claim, form, schedule, claim.notation(claim.cases[0]))
    assert row.verdict is verdict, row.reason
