"""Right sides and conditions of Local-SCGDM a second time, in numbers, from its displays."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from synthetic.problems import BiasAmplification, BoundedComposition
from toolkit.algorithms import LocalSCGDM
from toolkit.cases import Case
from toolkit.constants import MEASURED, Letters, evaluate
from toolkit.discover import leaves
from verifiers.claim_types.bound import BoundClaim
from verifiers.claims.scgdm import assumptions as given
from verifiers.claims.scgdm.corollary_3_5 import SCHEDULE

# letters with values that no product of others equals
V = {
    "p": 7.0, "eta": 0.0625, "alpha": 1.3, "beta": 0.17, "gamma": 2.9, "K": 5.0, "T": 2401.0,
    "F_gap": 41.0, "C_g": 1.9, "C_f": 2.3, "L_g": 3.1, "L_f": 0.7, "sigma_f": 0.53,
    "sigma_g": 0.59, "delta_g": 0.61, "lambda_": 0.37, "L_1": 1.7, "L_2": 0.83, "G": 2.1,
    "sigma_1": 0.47, "sigma_2": 0.43, "sigma_2F": 0.67,
}  # fmt: skip
MEANS = {
    "past": 1.01, "inner": 1.13, "momentum": 1.27, "moved": 1.39, "models": 1.49, "before": 1.61,
    "used": 1.73, "functions": 1.87, "objective": 2.03, "error": 2.17, "next_error": 2.29,
    "next_inner": 2.39, "gradient": 2.51, "each_momentum": 2.63, "mean_momentum": 2.77,
}  # fmt: skip
P, ETA, A, B, C, K, T, GAP = (
    V[x] for x in ("p", "eta", "alpha", "beta", "gamma", "K", "T", "F_gap")
)
CG, CF, LG, LF = 1.9, 2.3, 3.1, 0.7
SF, SG, DG = 0.53, 0.59, 0.61
WHOLE = CG**2 * LF + CF * LG  # L_F, section 3.2
LAM, L1, L2, G, S1, S2, S2F = 0.37, 1.7, 0.83, 2.1, 0.47, 0.43, 0.67

THEOREM = (  # (6)
    2 * GAP / (B * ETA * T)
    + 6 * (CG**2 * SF**2 + CG**2 * LF**2 * DG**2 + CF**2 * SG**2) / (A * ETA * T)
    + 4 * CG**2 * LG**2 * DG**2 / (C * ETA * T)
    + 2 * C * ETA * CG**2 * LF**2 * DG**2
    + 2 * A * ETA * (CG**2 * SF**2 + CF**2 * SG**2)
    + 2 * C**2 * ETA**2 * CG**2 * LF**2 * DG**2
    + 32 * P**2 * B**2 * ETA**2 * WHOLE**2
    * (16 * CG**2 * LF**2 * DG**2 + CG**2 * SF**2 + 3 * CF**2 * SG**2)
)  # fmt: skip
COROLLARY = (  # (7)
    2 * GAP / (B * sqrt(T))
    + 6 * (CG**2 * SF**2 + CG**2 * LF**2 * DG**2 + CF**2 * SG**2) / (A * sqrt(T))
    + 4 * CG**2 * LG**2 * DG**2 / (C * sqrt(T))
    + 2 * C * CG**2 * LF**2 * DG**2 / sqrt(T)
    + 2 * A * (CG**2 * SF**2 + CF**2 * SG**2) / sqrt(T)
    + 2 * C**2 * CG**2 * LF**2 * DG**2 / T
    + 32 * B**2 * WHOLE**2
    * (16 * CG**2 * LF**2 * DG**2 + CG**2 * SF**2 + 3 * CF**2 * SG**2) / sqrt(T)
)  # fmt: skip


def momentum_error(curvature):
    """Return (11) with L_f, the last line of (25) with L_F."""
    return (
        (1 - A * ETA) * MEANS["past"]
        + 2 * A * ETA * CG**2 * LF**2 * MEANS["inner"]
        + 2 * ETA * B**2 * curvature**2 / A * MEANS["momentum"]
        + 2 * A**2 * ETA**2 * (CG**2 * SF**2 + CF**2 * SG**2)
    )


FIRST = 2 * ETA * B**3 * CG**4 * LF**2 / C**2 + 2 * ETA**2 * B**3 * CG**2 * LF**2 * CG**2 / C
SECOND = 2 * ETA * B**3 * WHOLE**2 / A**2 - B * ETA / 4
SEVENTEEN = (  # (17) and (41), with P_{t+1} − P_t of (14) and (39) but for E F(x̄_{t+1})
    MEANS["objective"]
    + B / A * (MEANS["error"] - MEANS["next_error"])
    + 2 * B * CG**2 * LF**2 / C * (MEANS["inner"] - MEANS["next_inner"])
    - B * ETA / 2 * MEANS["gradient"]
    + B * ETA * WHOLE**2 * MEANS["models"]
    + 2 * B * C * ETA**2 * CG**2 * LF**2 * DG**2
    + 2 * A * B * ETA**2 * (CG**2 * SF**2 + CF**2 * SG**2)
    + 2 * B * C**2 * ETA**3 * CG**2 * LF**2 * DG**2
)
FORTY = (
    SEVENTEEN
    + (FIRST + SECOND) * MEANS["momentum"]
    + (B * ETA - ETA * B) * MEANS["error"]
    + (2 * (1 - C * ETA) * ETA * B * CG**2 * LF**2 - 2 * ETA * B * CG**2 * LF**2) * MEANS["inner"]
)
TWO, ONE = "two samples, as in the proofs", "one sample, as in Algorithm 1"
MENDED = "two samples, and L_f in the third term"
ALIKE = "two samples, L_f, clients with one f and one g"
THIRD = 4 * CG**2 * (LF**2 - LG**2) * DG**2 / C  # what L_f for L_g changes, times ηT
WITH_L_F = {
    "theorem-3.4": THEOREM + THIRD / (ETA * T),
    "corollary-3.5": COROLLARY + THIRD / sqrt(T),
}
STRETCH = 1 + LAM * L1

PRINTED = {
    **{("theorem-3.4", reading): THEOREM for reading in (TWO, ONE)},
    **{("corollary-3.5", reading): COROLLARY for reading in (TWO, ONE)},
    **{(n, reading): value for n, value in WITH_L_F.items() for reading in (MENDED, ALIKE)},
    ("smoothness", ""): WHOLE,
    ("lemma-3.9", "L_f"): L1,
    ("lemma-3.9", "L_g"): LAM * L2,
    ("lemma-3.9", "C_f²"): S1**2 + G**2,
    ("lemma-3.9", "C_g²"): STRETCH**2 + LAM**2 * S2**2,
    ("lemma-3.9", "C_g², σ_2 in the Frobenius norm"): STRETCH**2 + LAM**2 * S2F**2,
    ("lemma-3.9", "σ_f²"): S1**2,
    ("lemma-3.9", "σ_g²"): LAM**2 * S2**2,
    ("lemma-3.9", "δ_g²"): LAM**2 * S1**2,
    ("lemma-3.9", "Lipschitz constant of ∇F"): STRETCH**2 * L1 + LAM * G * L2,
    ("lemma-3.9-frobenius", "C_g²"): STRETCH**2 + LAM**2 * S2F**2,
    ("lemma-3.9-frobenius", "σ_g²"): LAM**2 * S2F**2,
    ("lemma-3.9-tasks", "σ_f²"): S1**2,
    ("lemma-3.9-tasks", "σ_f², each task on its own"): S1**2,
    ("lemma-3.9-tasks", "C_f²"): S1**2 + G**2,
    ("lemma-4.1", TWO): momentum_error(LF),
    ("lemma-4.1", ONE): momentum_error(LF),
    **{
        at: momentum_error(WHOLE)
        for at in (
            ("lemma-4.1", "two samples, and L_F as in the proof"),
            ("lemma-4.1", "the same, between communications"),
            ("lemma-4.1-proof", "two samples, as written there"),
            ("lemma-4.1-proof", "between communications"),
            ("lemma-4.1-proof", "one sample"),
        )
    },
    **{
        ("lemma-4.2", reading): ETA * B**2 * CG**2 / C * MEANS["momentum"]
        + C**2 * ETA**2 * DG**2 + (1 - C * ETA) * MEANS["past"]
        for reading in ("as printed", "between communications")
    },
    # (13) over T: the measured side is a mean over t
    **{
        ("lemma-4.3", reading): (
            256 * T * K * P**2 * B**2 * ETA**2 * CG**2 * LF**2 * DG**2
            + 16 * T * K * P**2 * B**2 * ETA**2 * CG**2 * SF**2
            + 48 * T * K * P**2 * B**2 * ETA**2 * CF**2 * SG**2
        ) / T
        for reading in ("as printed", "clients with one f and one g")
    },
    **{
        ("lemma-a.1", reading): 8 * P * K * DG**2 + 8 * CG**2 * MEANS["models"]
        for reading in ("as printed", "clients with one g")
    },
    ("lemma-a.2", "u as printed"): 48 * CF**2 * LG**2 * MEANS["models"]
    + 16 * CG**2 * LF**2 * MEANS["before"] + 8 * K * CG**2 * SF**2 + 24 * K * CF**2 * SG**2,
    **{
        ("lemma-a.2", reading): 48 * CF**2 * LG**2 * MEANS["models"]
        + 16 * CG**2 * LF**2 * MEANS["used"] + 8 * K * CG**2 * SF**2 + 24 * K * CF**2 * SG**2
        for reading in ("u as z uses it", "u as z uses it, clients with one f and one g")
    },
    ("potential", "(40), and (16) as (40)"): FORTY,
    ("potential", "(17) and (41)"): SEVENTEEN,
    **{
        ("potential-descent", reading): MEANS["before"] - B * ETA / 2 * MEANS["gradient"]
        - B * ETA / 4 * MEANS["each_momentum"] + B * ETA * MEANS["error"]
        + B * ETA * WHOLE**2 * MEANS["models"]
        for reading in ("as printed", "clients with one f and one g")
    },
}  # fmt: skip
SCHEDULED = {"eta": T**-0.5, "p": T**0.25}


def in_numbers(right, values=V):
    """Evaluate a right side with a number for every letter and every measured mean."""
    named = values | {MEASURED + name: value for name, value in MEANS.items()}
    return evaluate(right(Letters({name: name for name in named})), {n: n for n in named}, named)


def test_every_printed_bound_is_written_here():
    bounds = {
        (name.split("/")[1], form.reading)
        for name, leaf in leaves("claim").items()
        if name.startswith("scgdm/") and leaf.load().kind in ("bound", "existence")
        for form in leaf.load().forms
        if form.form == "printed"
    }
    assert bounds == set(PRINTED)


def stated(name, reading):
    claim = leaves("claim")[f"scgdm/{name}"].load()
    (form,) = (f for f in claim.forms if f.form == "printed" and f.reading == reading)
    return form.right


@pytest.mark.parametrize(("name", "reading"), PRINTED)
def test_a_printed_right_side_is_the_papers(name, reading):
    made = in_numbers(stated(name, reading))
    assert made == pytest.approx(PRINTED[name, reading], rel=1e-12)


def test_the_corollary_is_the_theorem_on_its_schedule():
    other = in_numbers(stated("theorem-3.4", TWO), V | SCHEDULED)
    assert other == pytest.approx(in_numbers(stated("corollary-3.5", TWO)), rel=1e-12)


def test_each_measured_mean_that_is_named_is_measured_and_has_a_name_in_latex():
    for name, leaf in leaves("claim").items():
        claim = leaf.load()
        if not name.startswith("scgdm/") or not isinstance(claim, BoundClaim):
            continue
        for form in claim.forms:
            named = {
                symbol.name.removeprefix(MEASURED)
                for symbol in form.right(Letters(claim.notation(claim.cases[0]))).free_symbols
                if symbol.name.startswith(MEASURED)
            }
            assert named <= set(claim.measured), (name, form.reading)


def holds(assumption, values):
    relation = assumption.relation(Letters({name: name for name in values}))
    left, right = (
        evaluate(side, {n: n for n in values}, values) for side in (relation.lhs, relation.rhs)
    )
    return bool(relation.func(left, right))


def largest_beta(v):
    curved = v["C_g"] ** 4 * v["L_f"] ** 2
    whole = v["C_g"] ** 2 * v["L_f"] + v["C_f"] * v["L_g"]
    total = curved / v["gamma"] ** 2 + curved / v["gamma"] + whole**2 / v["alpha"] ** 2
    return sqrt((1 / 8) / total)


def largest_eta(v):
    return min(1.0, 1 / (2 * v["beta"] * (v["C_g"] ** 2 * v["L_f"] + v["C_f"] * v["L_g"])))


def largest_period(v):
    root = sqrt(6 * v["C_f"] ** 2 * v["L_g"] ** 2 + 16 * v["C_g"] ** 4 * v["L_f"] ** 2)
    return 1 / (4 * v["beta"] * v["eta"] * root)


CONDITIONS = {
    "STEP_FACTOR": ("beta", largest_beta),
    "SMALL_STEP": ("eta", largest_eta),
    "PERIOD": ("p", largest_period),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_holds_up_to_its_boundary_and_not_beyond(name):
    letter, largest = CONDITIONS[name]
    random = np.random.default_rng(3)
    for _ in range(40):
        drawn = {x: float(np.exp(random.uniform(-2, 2))) for x in V}
        end = largest(drawn)
        for share, stated_so in ((0.3, True), (1 - 1e-9, True), (1 + 1e-9, False), (3.0, False)):
            assert holds(getattr(given, name), drawn | {letter: share * end}) is stated_so


def test_both_momenta_are_below_one_over_eta():
    for alpha, gamma, fine in (
        (9.9, 9.9, True), (0.1, 9.99, True), (10.0, 1.0, False), (1.0, 10.0, False),
        (11.0, 0.1, False), (0.1, 11.0, False),
    ):  # fmt: skip
        values = V | {"eta": 0.1, "alpha": alpha, "gamma": gamma}
        assert holds(given.STEP_SIZE, values) is fine


@pytest.mark.parametrize("alpha", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("gamma", [0.2, 1.0, 7.0])
def test_the_largest_factor_is_the_papers_and_is_admitted(alpha, gamma):
    for problem in (BoundedComposition(inner_curvature=0.5), BiasAmplification(
            objective_of="client-wise")):  # fmt: skip
        found = given.largest_factor(problem, alpha, gamma)
        c = problem.constants
        v = {
            "C_g": c["inner_gradient_moment"], "C_f": c["outer_gradient_moment"],
            "L_g": c["inner_mean_smoothness"], "L_f": c["outer_mean_smoothness"],
            "alpha": alpha, "gamma": gamma,
        }  # fmt: skip
        assert found == pytest.approx(largest_beta(v), rel=1e-9)
        assert found <= largest_beta(v)


@pytest.mark.parametrize(
    ("local_steps", "step_size", "rounds", "fine"),
    [(4, 1 / 16, 64, True), (1, 1.0, 1, True), (4, 1 / 16, 63, False), (4, 0.0624, 64, False),
     (2, 1 / 16, 128, False), (16, 1 / 16, 16, False)],
)  # fmt: skip
def test_the_schedule_is_the_corollarys(local_steps, step_size, rounds, fine):
    method = LocalSCGDM(
        local_steps=local_steps, step_size=step_size, momentum=0.5, inner_momentum=0.5
    )
    steps = rounds * local_steps
    printed = step_size == pytest.approx(steps**-0.5) and local_steps == pytest.approx(steps**0.25)
    assert printed is fine
    assert SCHEDULE.applies(Case(BoundedComposition(), method, rounds)) is fine


def test_conditions_on_the_algorithm_tell_samples_and_averages_apart():
    def case(problem, **more):
        return Case(problem, LocalSCGDM(**more), 1)

    one, two = BoundedComposition(clients=1), BoundedComposition(clients=2)
    noisy = BoundedComposition(clients=2, outer_gradient_noise=0.1)
    assert given.PRINTED.applies(case(two))
    assert not given.PRINTED.applies(case(two, averaged="mx"))
    assert not given.PRINTED.applies(case(two, local_steps=1))
    assert given.TWO_SAMPLES.applies(case(noisy))
    assert not given.TWO_SAMPLES.applies(case(noisy, samples="one"))
    assert given.ONE_SAMPLE.applies(case(noisy, samples="one"))
    assert not given.ONE_SAMPLE.applies(case(noisy))
    # without noise they are the same algorithm
    assert given.TWO_SAMPLES.applies(case(two, samples="one"))
    assert given.ONE_SAMPLE.applies(case(two))
    assert given.ALIKE.applies(case(noisy))
    assert given.ALIKE.applies(case(BoundedComposition(clients=1, heterogeneity=1.0)))
    for apart in ("heterogeneity", "opposition_slope", "inner_offset"):
        assert not given.ALIKE.applies(case(BoundedComposition(clients=2, **{apart: 1.0})))
    assert given.MODELS_AVERAGED.applies(case(two, averaged="mx"))
    assert not given.MODELS_AVERAGED.applies(case(two, averaged="um"))
    assert given.MODELS_AVERAGED.applies(case(one, averaged=""))
    different = BiasAmplification(objective_of="client-wise")
    assert not given.INNER_ESTIMATES.applies(case(different))
    assert given.INNER_ESTIMATES.applies(case(different, averaged="mx"))
    assert given.INNER_ESTIMATES.applies(case(two))
    assert not given.INNER_ESTIMATES.applies(case(BoundedComposition(inner_offset=1.0)))


NEEDED = {
    "Assumption 3.1": {"inner_mean_smoothness", "outer_mean_smoothness"},
    "Assumption 3.2": {"inner_gradient_moment", "outer_gradient_moment"},
    "Assumption 3.3": {"inner_gradient_noise", "inner_value_noise", "outer_gradient_noise"},
}


@pytest.mark.parametrize(
    "name",
    ["theorem-3.4", "corollary-3.5", "lemma-4.1", "lemma-4.1-proof", "lemma-4.2", "lemma-4.3",
     "lemma-a.1", "lemma-a.2", "potential", "potential-descent"],
)  # fmt: skip
def test_every_bound_assumes_what_the_paper_does(name):
    claim = leaves("claim")[f"scgdm/{name}"].load()
    assert {a.name: set(a.roles) for a in claim.assumes if a.roles} == NEEDED
