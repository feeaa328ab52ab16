"""Theorems of Coq for all values of letters: what is accepted, and what is refused."""

import json
import re
import shutil
from dataclasses import replace

import pytest

from driftproof.synthetic.classes import for_all, over, similar, smooth_strongly_convex
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.discover import leaves
from driftproof.verifiers.judges import worst_cases
from driftproof.verifiers.papers.localsgd.claims import any_state as localsgd
from driftproof.verifiers.worst_case import coq_region_proof, coqc
from driftproof.verifiers.worst_case.check import RefusedCertificateError
from driftproof.verifiers.worst_case.coq_signs import Signs
from driftproof.verifiers.worst_case.coq_text import UntranslatedError
from driftproof.verifiers.worst_case.machine_checked import coq
from tests.test_theorems import changed, claim, descent, row_of, theorem_of

COQ = pytest.mark.skipif(shutil.which("coqc") is None, reason="no coqc: apt-get install coq")


@pytest.fixture(scope="module")
def descends():
    """One step of gradient descent, for all L, R and η ≤ 1/L."""
    return theorem_of(row_of(claim(descent, 1, L=for_all("0 < L"), R=for_all("0 < R"))))


@pytest.fixture(scope="module")
def any_state():
    """One round of FedAvg, for all μ < 1 and η < 2/(1 + μ); L = ζ = 1."""
    conditions = [smooth_strongly_convex(L=1, mu=for_all("0 < mu < L")), similar(zeta=1)]
    algorithm = FedAvg(local_steps=2, step_size=for_all("0 < eta < 2/(L + mu)"))
    classes = over(conditions, algorithm, rounds=1)
    return theorem_of(row_of(replace(localsgd.after_a_round, classes=classes)))


@COQ
def test_coq_accepts_a_theorem_about_all_letters_functions_and_starts(any_state):
    made = coq(any_state)
    stated = made.text[made.text.index("Theorem bound") :]
    for part in (
        "forall (E : space) (mu eta : R) (f_0 : E -> R) (g_0 : E -> E)",
        "(eta < 2 / (mu + 1)) ->",
        "(smooth_strongly_convex 1 mu f_1 g_1) ->",
        "‖(fedavg eta 2 [g_0; g_1] x_0 1) - xs‖² <= (-eta * mu + 1)^4 * ‖x_0 - xs‖² + (",
    ):
        assert part in stated
    assert made.points.startswith("iterates of fedavg of algorithms.v")
    assert set(coqc.prove(made.text).axioms) <= coqc.AXIOMS


@COQ
def test_a_round_from_any_state_has_a_theorem_about_every_number_of_rounds(any_state, descends):
    made = coq(any_state)
    *_, last = made.theorem
    after = (
        "‖(fedavg eta 2 [g_0; g_1] x_0 rounds) - xs‖² <= ((-eta * mu + 1)^4)^rounds * ‖x_0 - xs‖²"
    )
    assert last.startswith(f"  forall rounds, {after} + (")
    assert last.endswith("* geometric ((-eta * mu + 1)^4) rounds.")
    for part, other in ((")^rounds *", ")^(S rounds) *"), ("^4) rounds.", "^5) rounds.")):
        assert part in last
        with pytest.raises(coqc.RefusedTheoremError):
            coqc.prove(made.text.replace(last, last.replace(part, other)))
    assert "every_round" not in coq(descends).text  # its bound is of a start that is near


@COQ
def test_letters_that_coq_has_names_for_are_called_otherwise(descends):
    made = coq(descends)
    assert "(L R_ eta : R)" in made.theorem[0]
    assert "(f_0 (gradient_descent eta g_0 x_0 1) - f_0 xs) <= (" in made.theorem[-1]
    coqc.prove(made.text)


@COQ
def test_squares_may_be_taken_off_one_after_the_other(descends, monkeypatch):
    monkeypatch.setattr(coq_region_proof, "LARGE", 0)
    text = coq(descends).text
    assert "assert (rest_1" in text
    coqc.prove(text)
    with pytest.raises(coqc.RefusedTheoremError):
        coqc.prove(text.replace("(let S := 1 in L *", "(let S := 1 in 99 / 100 * L *"))


def test_what_is_not_proved_never_comes_to_coq(any_state):
    def smaller(file):
        file["conclusion"]["right"] = f"99/100*({file['conclusion']['right']})"

    def larger(file):
        file["region"][1][-1] = "2/(1 + 99/100*mu)"

    for change in (smaller, larger):
        with pytest.raises((RefusedCertificateError, ValueError)):
            coq(changed(any_state, change))


@COQ
def test_classes_of_gradients_alone_are_their_definitions():
    """ComFedL's drift for all G_f, G_g and η, and the bias of FedAvg-S for all L, μ, ζ and η."""
    for name, classes in (
        ("comfedl/client-drift-class", ["bounded_gradients (G_f * G_g) g_0"]),
        ("localsgd/saddle-bias", ["strongly_monotone mu g_1", "lipschitz L g_1"]),
    ):
        of = leaves("claim")[name].load()
        case = next(case for case in of.classes if worst_cases.letters_in(case))
        made = coq(theorem_of(row_of(replace(of, classes=[case]))))
        for said in classes:
            assert f"({said}) ->" in "\n".join(made.theorem)
        coqc.prove(made.text)
        for number in re.findall(r"let tau := (\d)", made.text)[:1]:
            smaller = made.text.replace(f"let tau := {number} in", f"let tau := {number} - 1/9 in")
            with pytest.raises(coqc.RefusedTheoremError):
                coqc.prove(smaller)


def test_another_class_is_not_translated(descends):
    """A file of a normal cone, of which nothing is proved but what is assumed."""
    file = json.loads(descends)
    file["functions"]["f_0"]["classes"]["normal-cone"] = {}
    file["multipliers"].append(["0*R", "normal-cone", "f_0", "x_0", "x*"])
    with pytest.raises(UntranslatedError, match="normal-cone"):
        coq(changed(json.dumps(file), lambda _: None))


@COQ
def test_a_sign_is_shown_where_it_is_one_and_refused_where_not():
    region = [["0", "<", "mu", "<", "1"], ["mu", "<=", "eta", "<", "2/(1 + mu)"], ["1", "<", "t"]]
    signs = Signs(region, lambda of: of)
    names = " ".join(["mu", "eta", "t", *(name for name, _ in signs.hypotheses)])
    for written in (
        "1 - eta*mu",
        "t - mu*eta",
        "t**2 - 2*mu*t + mu**2",
        "1 + eta - 2*mu + t**3",
        "1 - 2*eta*mu + eta**2",
    ):
        of = signs.full(signs.region.number(written))
        signs.product(of.top)
    for written in ("1 - eta", "2 - t", "eta - 2*mu"):
        with pytest.raises(UntranslatedError, match="sign"):
            signs.product(signs.full(signs.region.number(written)).top)
    coqc.output(
        "\n".join(
            [
                "From Driftproof Require Import regions.",
                "Goal forall mu eta t : R,",
                *(f"{said} ->" for _, said in signs.hypotheses),
                f"True. Proof. intros {names}.",
                *signs.lines,
                "exact I. Qed.",
            ]
        )
    )
