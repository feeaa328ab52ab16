"""Certificates as theorems of Coq: what is accepted, that changed ones are refused, the squares."""

import json
import random
import re
import shutil
from itertools import islice
from pathlib import Path

import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from driftproof.synthetic.classes import (
    convex,
    plus,
    similar,
    smooth_convex,
    smooth_strongly_convex,
    start_at_minimiser,
)
from driftproof.toolkit.algorithms import FedAvg, FedSVRG, ProximalGradient
from driftproof.toolkit.measure import each, sq
from driftproof.verifiers.worst_case import check, coqc
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.coq_text import UntranslatedError, fractions
from driftproof.verifiers.worst_case.machine_checked import coq
from driftproof.verifiers.worst_case.on_paper.printed import on_paper
from driftproof.verifiers.worst_case.potential import potential
from driftproof.verifiers.worst_case.refutation import refuted
from driftproof.verifiers.worst_case.squares import squares
from tests.certificates import (
    LOCAL,
    NEAR,
    RUNS,
    UNREADABLE,
    counterexamples,
    distance,
    edits,
    gap,
    made,
    proved,
)
from tests.commands import driftproof
from tests.coq_mutants import accepted, certificates, mutants, theorem

LIBRARY = Path(__file__).parents[1] / "driftproof" / "coq"
COQ = pytest.mark.skipif(shutil.which("coqc") is None, reason="no coqc: apt-get install coq")


def test_the_library_assumes_nothing():
    assert {path.stem for path in LIBRARY.glob("*.v")} == set(coqc.ORDER)
    for path in LIBRARY.glob("*.v"):
        text = re.sub(r"\(\*.*?\*\)", "", path.read_text(encoding="utf-8"), flags=re.S)
        assert not re.search(r"\b(Admitted|Axioms?|Parameters?|Conjecture|admit|give_up)\b", text)
        for section in re.split(r"^End \w+\.$", text, flags=re.M)[-1:]:  # outside of all sections
            assert not re.search(r"^(Variables?|Hypothes[ie]s|Context)\b", section, re.M)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_squares_are_those_of_the_matrix(data):
    """The basis gives the matrix back, exactly; what Coq has to see is dominant."""
    size, rank = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    number = st.builds(fmpq, st.integers(-9, 9), st.integers(1, 10**6))
    factor = fmpq_mat(
        size, rank, data.draw(st.lists(number, min_size=size * rank, max_size=size * rank))
    )
    matrix = (factor * factor.transpose()).tolist()
    found = squares(matrix)
    assert found is not None
    basis = fmpq_mat(len(found.basis), size, [x for row in found.basis for x in row])
    gram = fmpq_mat(len(found.gram), len(found.gram), [x for row in found.gram for x in row])
    assert (basis.transpose() * gram * basis).tolist() == [
        [x * found.factor for x in row] for row in matrix
    ]
    for i, row in enumerate(found.gram):
        rest = [x - sum(d * r[i] * r[j] for d, r in found.squares) for j, x in enumerate(row)]
        assert 2 * rest[i] >= sum(map(abs, rest))
    matrix[0][0] -= matrix[0][0] + 1  # below 0
    assert squares(matrix) is None


@pytest.mark.parametrize("name", RUNS)
def test_a_theorem_is_written_without_coq(name):
    written = coq(made(name).text)
    assert written.theorem[0].startswith("Theorem bound : forall (E : space)")
    assert written.conclusion == check.check(made(name).text).said[-1]
    known = RUNS[name][0].leaf_name == "fedavg"
    assert ("gradient_descent" in written.text or "fedavg (" in written.text) or not known


@COQ
@pytest.mark.parametrize("name", ["convex", "two variables", "bounded gradients"])
def test_coq_accepts(name, tmp_path):
    (tmp_path / "1 run.json").write_text(made(name).text, encoding="utf-8")
    ran = driftproof("prove", "1 run.json", "--json", cwd=tmp_path)
    (row,) = json.loads(ran.stdout)
    assert (ran.returncode, row["result"], row["theorem"]) == (0, "MACHINE-CHECKED", "_1_run.v")
    assert (tmp_path / "_1_run.v").exists()
    assert (
        set(row["axioms"])
        == {
            "ClassicalDedekindReals.sig_forall_dec",
            "FunctionalExtensionality.functional_extensionality_dep",
        }
        <= coqc.AXIOMS
    )


def server(view):
    return each("round", "local_step", sq(view.mean("x") - view.minimiser))


@COQ
def test_coq_accepts_a_recursion_with_points_that_several_clients_share(tmp_path):
    """FedSVRG: all clients agree after the first step of a round. FedAvg is another algorithm."""
    case = build(
        FedSVRG(local_steps=2, step_size=0.1),
        [smooth_strongly_convex(1, 0.1), NEAR],
        rounds=2,
        left=server,
        clients=2,
    )[-1]
    text = coq(proved(case).text).text
    assert "‖(fedsvrg (1/10) 2 [g_0; g_1] x_0 2) - xs‖² <=" in text
    coqc.prove(text)
    with pytest.raises(coqc.RefusedTheoremError):
        coqc.prove(text.replace("‖(fedsvrg", "‖(fedavg"))


def test_a_step_size_is_the_decimal_that_python_prints():
    """1e-05 is 1/100000, and not the nearest double."""
    case = build(FedAvg(step_size=1e-5), [smooth_convex(1), NEAR], rounds=1, left=gap, clients=1)
    assert "gradient_descent (1/100000) g_0 x_0 1" in coq(proved(case[-1]).text).text


def test_a_power_that_is_a_root_is_no_fraction():
    assert fractions("L * R ** (2 * S)", {"L": "1", "R": "1/2", "S": "3"}).endswith("L * R ^ 6")
    for power in ("sqrt(5)", "S / 2"):
        with pytest.raises(UntranslatedError, match="a whole power"):
            fractions(f"R ** ({power})", {"R": "2", "S": "3"})


@COQ
def test_coq_accepts_an_iterate_that_is_the_start_again():
    """From x* two clients go opposite ways, and their mean is x*."""
    case = build(
        LOCAL,
        [smooth_strongly_convex(1, 0.1), similar(1), start_at_minimiser()],
        rounds=1,
        left=distance,
        clients=2,
    )[-1]
    coqc.prove(coq(proved(case).text).text)


@COQ
def test_coq_refuses_changed_theorems_that_are_false():
    """Certificates, regions and refutations: python -m tests.coq_mutants makes a thousand."""
    those = list(islice(mutants(seed=1), 20))
    held = accepted([text for _, text, _ in those])
    assert not any(false and holds for (_, _, false), holds in zip(those, held, strict=True))
    assert sum(false for _, _, false in those) > 5
    originals = [
        theorem(file).text([]) for _, name, file in certificates() if name in ("convex", "0")
    ]
    assert accepted(originals) == [True, True]


@COQ
def test_coq_decides_as_the_checker_does():
    """What changed certificates prove, by both; of one whose squares are not found neither says."""
    parts, expected = ["From Driftproof Require Import reading."], []
    for name in ("convex", "nonconvex"):
        file = json.loads(made(name).text)
        for changed, _ in zip(edits(file, random.Random(1)), range(40), strict=False):
            try:
                written = theorem(changed).text([])
            except (UntranslatedError, *UNREADABLE):
                continue
            try:
                check.check(json.dumps(changed))
                expected.append("true")
            except check.RefusedCertificateError:
                expected.append("false")
            except UNREADABLE:
                continue
            definitions = written[written.index("Open Scope") : written.index("Lemma checked")]
            parts.append(
                f"Module M{len(parts)}.\n{definitions}\nEnd M{len(parts)}.\n"
                f"Eval vm_compute in check M{len(parts)}.the_certificate."
            )
    assert min(expected.count("true"), expected.count("false")) > 5
    said = coqc.output("\n".join(parts))
    assert re.findall(r"= (true|false)", said) == expected


def test_of_a_class_unknown_to_coq_nothing_is_translated_and_all_is_printed():
    """Also where no inequality of that class is used, or none at all."""
    found = potential(ProximalGradient(step_size=0.5), [smooth_convex(2), plus(convex())], rho=1)
    assert any(not json.loads(text)["multipliers"] for text in found.certificates.values())
    for text in found.certificates.values():
        with pytest.raises(UntranslatedError, match="convex functions"):
            coq(text)
        assert "\\begin{proof}" in on_paper(text)


def refutations() -> list[str]:
    """Return the counterexamples that are translated: of one space, not of cocoercive operators."""
    return [text for text in counterexamples() if not UNTRANSLATED & set(kinds(text))]


def kinds(text: str) -> list[str]:
    file = json.loads(text)
    found = [kind for f in file["functions"].values() for kind in f["classes"]]
    return [*found, "two spaces"] if isinstance(file["vectors"], dict) else found


UNTRANSLATED = {"cocoercive", "two spaces"}


@COQ
@pytest.mark.parametrize("k", range(4))
def test_coq_accepts_a_counterexample(k):
    """Convex, nonconvex, two clients, an operator."""
    written = refuted(refutations()[k])
    assert written.theorem[0].startswith("Theorem refuted : exists (")
    assert set(coqc.prove(written.text).axioms) <= coqc.AXIOMS


@COQ
def test_verify_marks_what_is_machine_checked(tmp_path):
    ran = driftproof(
        "verify", "localsgd/gradient-descent", "--profile", "smoke", "--prove", cwd=tmp_path
    )
    assert ran.returncode == 0
    (row,) = json.loads((tmp_path / "report" / "results.json").read_text("utf-8"))["results"]
    assert row["machine_checked"]["coq"] == coqc.version()
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    for name in row["machine_checked"]["theorems"]:
        assert f"theorems/{name}" in page
        assert "Theorem bound" in (tmp_path / "report/theorems" / name).read_text("utf-8")
    links = re.findall(r'href="((?:certificates|theorems|on_paper)/[^"]+)"', page)
    assert {link.partition("/")[0] for link in links} == {"certificates", "theorems", "on_paper"}
    for link in links:
        assert (tmp_path / "report" / link).is_file()


@COQ
def test_nesterovs_method_on_the_page_is_machine_checked(tmp_path):
    page = (Path(__file__).parents[1] / "docs/machine_checked.md").read_text("utf-8")
    (claim,) = re.findall(r"```python\n(.*?)```", page, re.S)
    (tmp_path / "nesterov.py").write_text(claim, encoding="utf-8")
    assert driftproof("verify", "nesterov.py", "--prove", cwd=tmp_path).returncode == 0
    results = json.loads(next(tmp_path.glob("report*/results.json")).read_text("utf-8"))["results"]
    assert sum(len(row["machine_checked"]["theorems"]) for row in results) == 3


def test_what_is_not_translated_is_refused_with_the_reason(tmp_path):
    other = next(text for text in counterexamples() if "two spaces" in kinds(text))
    (tmp_path / "other.json").write_text(other, encoding="utf-8")
    file = json.loads(made("convex").text)
    file["multipliers"][0][0] = "1/7"
    (tmp_path / "forged.json").write_text(json.dumps(file), encoding="utf-8")
    ran = driftproof("prove", "other.json", "forged.json", cwd=tmp_path)
    assert ran.returncode == 1
    assert "NOT TRANSLATED\n  got: a counterexample of two spaces" in ran.stdout
    assert "REFUSED\n  driftproof check refuses it: the values do not cancel" in ran.stdout
    assert "0 of 2 are machine-checked" in ran.stdout


def test_without_coqc_the_file_is_written_and_the_remedy_told(tmp_path, monkeypatch):
    (tmp_path / "run.json").write_text(made("convex").text, encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = driftproof("prove", "run.json", cwd=tmp_path)
    assert ran.returncode == 3
    assert "apt-get install coq" in ran.stderr
    assert (tmp_path / "run.v").exists()
