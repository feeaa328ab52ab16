"""Certificates as proofs on paper: what is printed, what is refused, changed texts."""

import json
import random
import re

import pytest

from docs.generate.pages import block
from docs.generate.proofs import CERTIFICATES
from driftproof.toolkit.report.mathml import mathml
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.check import check
from driftproof.verifiers.worst_case.digest import sealed
from driftproof.verifiers.worst_case.on_paper import printed
from driftproof.verifiers.worst_case.on_paper.fewest import fewest
from driftproof.verifiers.worst_case.on_paper.formulas import UnreadError
from driftproof.verifiers.worst_case.on_paper.latex import UnprintableError
from driftproof.verifiers.worst_case.on_paper.printed import on_paper
from driftproof.verifiers.worst_case.on_paper.read_back import read_back
from driftproof.verifiers.worst_case.written import Right
from tests.certificates import RUNS, counterexamples, gap, made, proved
from tests.commands import driftproof

REFUSED = {"any state": "digits", "local steps": "digits"}
"""Runs of which no proof is printed, and a word that says why."""
CHANGES = 20
"""Numbers, signs and indices of a printed proof that are changed, one at a time."""


def certificate(name: str) -> str:
    """Return a run's certificate, or one of those that docs/proofs.md shows."""
    file = CERTIFICATES / f"{name}.json"
    return file.read_text(encoding="utf-8") if file.exists() else made(name).text


@pytest.mark.parametrize("name", RUNS)
def test_a_proof_is_printed_or_refused_with_a_reason(name):
    if name in REFUSED:
        with pytest.raises(UnprintableError, match=REFUSED[name]):
            on_paper(certificate(name))
    else:
        assert on_paper(certificate(name)).startswith("\\begin{theorem}\n")


@pytest.mark.parametrize("path", sorted(CERTIFICATES.iterdir()), ids=lambda path: path.name)
def test_the_page_has_every_proof_as_it_is_printed(path):
    page = (CERTIFICATES.parent / "proofs.md").read_text(encoding="utf-8")
    name, kind = path.stem, "every_n" if path.is_dir() else "proof"
    assert f"<!-- {kind}: {name} -->\n{block(kind, name)}\n<!-- end -->" in page
    for formula in re.findall(r"```math\n(.*?)```|\$([^$]+)\$", block(kind, name), re.S):
        assert mathml("".join(formula).strip()).startswith("<math")


@pytest.mark.parametrize(
    "name", ["gradient-descent-2", "comfedl-drift", "contraction-1", "nonconvex", "nesterov"]
)
def test_a_changed_proof_does_not_read_back(name, monkeypatch):
    """Every number, sign and index that stands in a formula is read, and compared."""
    monkeypatch.setattr(
        printed,
        "read_back",
        lambda *given: monkeypatch.setattr(printed, "given", given, raising=False),
    )
    text = on_paper(certificate(name))
    read_back(text, *printed.given[1:])
    formulas = re.finditer(r"\$[^$]*\$|\\\[.*\\\]|^.*&.*$", text, re.M)
    places = [m.start() + k.start() for m in formulas for k in re.finditer(r"\d+|[-+]", m[0])]
    for at in random.Random(name).sample(places, min(CHANGES, len(places))):
        old = re.compile(r"\d+|.").match(text, at)[0]
        new = {"+": "-", "-": "+"}.get(old) or str(int(old) + 1)
        with pytest.raises(UnreadError):
            read_back(f"{text[:at]}{new}{text[at + len(old) :]}", *printed.given[1:])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"convex and $L$-smooth", r"convex and $\frac{L}{2}$-smooth"),
        (r"\frac{1}{2 L}", r"\frac{1}{L}"),
        (r"A_{0,1}", r"A_{1,0}"),
        ("R^{2}$.", "R^{3}$."),
        (r"0<\eta\le \frac{1}{L}", r"0<\eta\le \frac{2}{L}"),
        ("$3-2\\eta L$", "$1-2\\eta L$"),
        (r"f(x_{1})-f(x^*)\le", r"f(x_{1})-f(x^*)+f(x_{0})-f(x_{0})\le"),
    ],
)
def test_a_text_that_says_something_else_is_refused(old, new, monkeypatch):
    """But not one that says the same in other words: the last."""
    text = on_paper(certificate("gradient-descent-1"))
    assert old in text
    monkeypatch.setattr(printed.OnPaper, "latex", lambda self: text.replace(old, new))
    if "f(x_{0})-f(x_{0})" in new:
        assert new in on_paper(certificate("gradient-descent-1"))
    else:
        with pytest.raises(UnprintableError, match="reads otherwise"):
            on_paper(certificate("gradient-descent-1"))


def test_the_last_square_of_an_inequality_is_left_out_where_that_is_shorter():
    """The textbook's proof of Nesterov's method has two squares, and convexity alone at x*."""
    text = on_paper(certificate("nesterov"))
    assert "$A_{1,2}$ by $1$; $B_{0,1}$ by $1-s$; $B_{*,1}$ by $s$" in text


@pytest.mark.parametrize("name", ["convex, three steps", "local steps", "nonconvex"])
def test_what_is_left_of_the_inequalities_proves_the_bound(name):
    file = json.loads(certificate(name))
    it = check(json.dumps(file))
    first = {tuple(key): it.numbers.number(c) for c, *key in file["multipliers"]}
    few = fewest(it, first)
    check(json.dumps({**file, "multipliers": [[str(c), *key] for key, c in few.items()]}))
    assert {*few} <= {*first}


def test_inequalities_that_are_not_needed_are_dropped():
    case = build(*RUNS["convex, three steps"][:2], rounds=3, left=gap, clients=1)[-1]
    text = proved(case, right=Right("1/5")).text
    it = check(text)
    first = {tuple(key): it.numbers.number(c) for c, *key in json.loads(text)["multipliers"]}
    assert len(fewest(it, first)) < len(first)


def test_the_command_prints_writes_and_refuses(tmp_path):
    text = certificate("gradient-descent-1")
    (tmp_path / "one.json").write_text(text, encoding="utf-8")
    (tmp_path / "two.json").write_text(counterexamples()[0], encoding="utf-8")
    ran = driftproof("prove", "--tex", "one.json", cwd=tmp_path)
    assert (ran.returncode, ran.stdout.strip()) == (0, on_paper(text).strip())
    ran = driftproof("prove", "--tex", "one.json", "two.json", "--out", "tex", cwd=tmp_path)
    assert (tmp_path / "tex" / "one.tex").read_text(encoding="utf-8") == on_paper(text)
    assert ran.returncode == 1
    assert "got:    a counterexample" in ran.stdout
    assert not (tmp_path / "tex" / "two.tex").exists()
    (tmp_path / "two.json").write_text(text.replace('"1/2"', '"1/3"'), encoding="utf-8")
    ran = driftproof("prove", "--tex", "two.json", "--json", cwd=tmp_path)
    (row,) = json.loads(ran.stdout)
    assert (ran.returncode, row["result"], row["tex"]) == (1, "REFUSED", "")


def test_an_irrational_right_side_is_refused():
    file = json.loads(certificate("convex"))
    file["conclusion"] |= {"right": "sqrt(2)", "letters": {}}
    with pytest.raises(UnprintableError, match="irrational"):
        on_paper(sealed({key: value for key, value in file.items() if key != "digest"}))
