"""What stands after ≤ in a statement is compared with what is judged, wherever it can be read."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftproof import bound, grid
from driftproof.algorithms import ComFedL
from driftproof.problems import BoundedComposition
from driftproof.toolkit.discover import leaves
from driftproof.verifiers.in_print.comparison import unlike
from driftproof.verifiers.in_print.entry import over_draws
from driftproof.verifiers.in_print.formulas import right_sides_of
from tests.commands import driftproof

DEFINED = {
    "comfedl": r"\sigma=\max\{\sigma_1,\sigma_2,\sigma_3\}",
    "scgdm": r"L_F=C_g^2L_f+C_fL_g",
    "localsgd": "N=S",
}
"""Letters that a paper defines elsewhere than in the statements."""


@cache
def bounds():
    """Return the claims that are judged by a formula, as a paper defines its letters."""
    claims = [leaf.load() for leaf in leaves("claim").values()]
    return {c.name: (c, with_letters(c)) for c in claims if right_sides_of(c)}


def with_letters(claim):
    defined = DEFINED.get(claim.name.partition("/")[0], "")
    return replace(claim, statement=rf"{claim.statement},\quad {defined}")


def judged_as(claim, right):
    return replace(claim, right=lambda c: right, readings={}, corrected=None, erratum=None)


def test_every_statement_of_a_paper_is_what_is_judged():
    """docs/claims.md has the numbers."""
    alone = [unlike(claim) for claim, _ in bounds().values()].count({})
    defined = {name: unlike(claim) for name, (_, claim) in bounds().items()}
    assert {name: other for name, other in defined.items() if other and type(other) is dict} == {}
    read = [*defined.values()].count({})
    assert (len(bounds()), read, read - alone) == (98, 49, 9)
    assert {"comfedl/theorem-1", "scgdm/theorem-3.4", "localsgd/rounds"} <= {
        name for name, other in defined.items() if other == {}
    }


@pytest.mark.parametrize(
    "name",
    [
        "comfedl/theorem-2",
        "scgdm/theorem-3.4",
        "localsgd/rounds",
        "localsgd/stationarity",
        "scgdm/lemma-4.2",
    ],
)
def test_a_changed_right_side_is_noticed(name):
    claim = bounds()[name][1]
    right = right_sides_of(claim)[0][1]
    assert unlike(judged_as(claim, right)) == {}
    letters = [x for x in sorted(right.free_symbols, key=str) if not x.name.startswith("sigma_")]
    changed = [right / 2, *(right.subs(x, 2 * x) for x in letters)]
    changed += [right - term for term in right.args if right.is_Add]
    for other in changed:
        assert unlike(judged_as(claim, other)), other


def judged(statement, right):
    """Return what is told of a statement whose right side is a formula of ComFedL's letters."""
    claim = replace(bounds()["comfedl/lemma-2"][0], statement=statement)
    formula = sympy.sympify(right, locals={"S": sympy.Symbol("S")})
    return unlike(
        replace(
            claim,
            right=lambda c: formula.subs({x: getattr(c, x.name) for x in formula.free_symbols}),
        )
    )


@pytest.mark.parametrize(
    ("statement", "same", "other"),
    [
        (r"\|x\|^2 \le 2\eta^2 L", "2*eta**2*L", "eta**2*L"),
        (r"\|x\|^2 \leq \frac12\eta\tau", "eta*tau/2", "eta*tau"),
        (
            r"\mathbb{E}\big[\|x\|^2\big] \le \left(\tfrac{\eta}{L}\right)^{2\tau}",
            "(eta/L)**(2*tau)",
            "(eta/L)**tau",
        ),
        (r"F(x) - F^* \le \sqrt{\eta L} \cdot 1.5", "sqrt(eta*L)*3/2", "sqrt(eta*L)*1.6"),
        (r"\|x\|^2 \le \rho^\tau,\quad \rho = 1-\eta L", "(1-eta*L)**tau", "(1-eta)**tau"),
        (
            r"\eta \le 1/L:\quad \frac1S\sum_s\|x\|^2 \le \frac{2(F(w_0)-F^*)}{\eta T}",
            "2*F_gap/(eta*S*tau)",
            "F_gap/(eta*T)",
        ),
        (
            r"\|x\|^2 \le 4 (1-\eta L/2)^\tau L^2 + \eta^2\tau/L^2",
            "4*(1-eta*L/2)**tau*L**2 + eta**2*tau/L**2",
            "4*(1-eta*L/2)**tau*L**2 + eta**2*tau*L**2",
        ),
        (r"\|x\|^2 \le \max\{\eta, L\}", "Max(L, eta)", "eta + L"),
        (r"\|w_0-w^*\| \le R \;\Rightarrow\; \|x\|^2 \le \eta L", "eta*L", "L"),
        (r"\|x\| \le \eta L", "eta**2*L**2", "eta**2*L"),  # as a square
        (r"\tfrac{\eta}2\|x\|^2 \le L", "2*L/eta", "eta*L"),  # without its factor
        (r"F(w_{s+1}) - F(w_s) + \tfrac18\|x\|^2 \le \eta L", "eta*L", "L"),  # a sum of terms
        (r"(1+\eta)\|x\|^2 \le L", "L/(1+eta)", "eta*L"),
        (r"\|x\|^2 \le \frac{\log\tau}{8} + 2\log(1+\eta)L", "log(tau)/8+2*log(1+eta)*L", "L"),
        (r"\|x\|^2 \le \sqrt{L/\eta} \tau", "sqrt(L/eta)*tau", "tau"),
        (r"\|x\|^2 \le e^{-\eta\tau} L", "exp(-eta*tau)*L", "exp(-eta)*L"),
        (r"\|x\|^2 \le \exp(-\eta\tau) L", "exp(-eta*tau)*L", "exp(-eta)*L"),
        (
            r"\lVert x\rVert^2 \leqslant \rho^\tau \text{ where } \rho = 1-\eta L",
            "(1-eta*L)**tau",
            "(1-eta)**tau",
        ),
    ],
)
def test_a_formula_is_read_as_a_referee_reads_it(statement, same, other):
    assert judged(statement, same) == {}
    assert set(judged(statement, other)) == {"printed"}


@pytest.mark.parametrize(
    ("statement", "right"),
    [
        (r"\|x\|^2 \le \eta L \text{ for each } t", "eta"),  # words
        (r"\|x\|^2 \le \log \eta L", "eta"),  # of two meanings
        (r"\mathbb{E}\|x\| \le \eta L", "eta**2*L**2"),  # no mean of squares
        (r"\|x\|^2 \le \varepsilon", "eta"),  # a letter that nothing explains
        (r"\|x\|^2 \le 1/2L", "L/3"),  # of two meanings
        (r"\|x\|^2 \le \eta/L^2\tau", "eta/(L**2*tau)"),  # of two meanings
        (r"\sum_{t<T}\|x\|^2 \le T\eta", "eta"),  # judged as a mean, perhaps
        (r"\|x\|^2 = \eta", "L"),  # no bound
        ("", "L"),
    ],
)
def test_where_the_two_may_be_the_same_what_was_not_read_is_told(statement, right):
    assert judged(statement, right).startswith("cannot read ")


def test_what_is_not_known_of_it_is_named():
    said = judged(r"\|x\|^2 \le \frac{\eta}{AN_0}", "eta")
    assert said == r"cannot read A, N_0 in \frac{\eta}{AN_0}: no letter of the claim is called so"
    assert judged(r"\|x\|^2 \le 1/2L", "L/3") == "cannot read 1/2L"  # each letter is known


TOKENS = r"""\tau \eta G_f ^ _ { } ( ) + - / \frac \sqrt \max \{ \} , \le = \quad \rho 1 2 \left(
\| \mathbb{E} F(w_0)-F^* ^2 \cdot . \tfrac12 \bar \text{hi} : \; [ | \\ & $ ² τ \sum
\frac{1}{0} \sqrt{-1} \log e \exp \|w_0-w^*\| \begin{matrix} \text{open(1)} __import__"""


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(tokens=st.lists(st.sampled_from(TOKENS.split()), max_size=9))
def test_no_statement_raises(tokens):
    said = judged(r"x \le " + " ".join(tokens), "L")
    assert isinstance(said, str) or set(said) <= {"printed"}


DRIFT = r"""
from driftproof import bound, each, grid, sq
from driftproof.algorithms import ComFedL
from driftproof.problems import BoundedComposition


@bound(
    name="mine/drift", source="my draft",
    statement=r"\|\bar w_{s,t}-\bar w_s\|^2 \le \tau\eta^2G_f^2G_g^2",
    cases=grid(BoundedComposition(distance=20.0), ComFedL(local_steps=5), rounds=2),
    right=lambda c: c.tau**2 * c.eta**2 * c.G_f**2 * c.G_g**2,
)
def drift(view):
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))
"""


def test_a_statement_that_was_forgotten_is_told(tmp_path):
    """It is SUPPORTED, so that nothing else would say it."""
    (tmp_path / "mine.py").write_text(DRIFT, encoding="utf-8")
    made = driftproof("verify", "mine.py", "--workers", "1", cwd=tmp_path)
    assert made.returncode == 0
    assert "SUPPORTED" in made.stdout
    assert (
        r"mine/drift: the statement says ≤ \tau\eta^2G_f^2G_g^2, but ≤ G_{f}^{2} G_{g}^{2} "
        r"\eta^{2} \tau^{2} was judged."
    ) in made.stdout
    page = (tmp_path / "report-mine" / "index.html").read_text(encoding="utf-8")
    assert "as judged, which is not what the statement says" in page
    assert "The statement above says" in page
    judged = page.index('<div class="judged"><span>judged</span>')
    assert "<details" not in page[page.index("as judged") : judged]  # it stands open
    (tmp_path / "mine.py").write_text(DRIFT.replace(r"\le \tau", r"\le C\tau"), encoding="utf-8")
    made = driftproof("verify", "mine.py", "--workers", "1", cwd=tmp_path)
    assert (
        "mine/drift: the statement was not compared with what was judged: cannot read C in C\\tau"
    ) in made.stdout
    (tmp_path / "mine.py").write_text(DRIFT.replace(r"\tau\eta", r"\tau^2\eta"), encoding="utf-8")
    made = driftproof("verify", "mine.py", "--workers", "1", cwd=tmp_path)
    assert "the statement says" not in made.stdout
    assert "The statement above says" not in (tmp_path / "report-mine/index.html").read_text()


@pytest.mark.parametrize(
    ("sign", "said"),
    [
        (r"\frac1n\sum_i", True),
        (r"E\, + ", True),
        (r"\mathbb{E}", False),
        (r"{\mathbf E}_t", False),
        ("E[", False),
        (r"\operatorname{E}", False),
        (r"E_{\xi}\left[", False),
    ],
)
def test_a_mean_that_no_statement_says_is_told(sign, said):
    cases = grid(BoundedComposition(), ComFedL(), rounds=1)
    statement = rf"{sign}\|x\|^2 \le \eta"
    of = bound(name="a", source="x", statement=statement, right=lambda c: c.eta, cases=cases)
    claim = of(lambda view: None)
    drawn, alone = (SimpleNamespace(replicates=k, expected=None) for k in (2, 1))
    assert bool(over_draws(claim, [alone, drawn])) is said
    assert not over_draws(claim, [alone])
    assert not over_draws(claim, [SimpleNamespace(replicates=2, expected="SUPPORTED")])


def test_a_mean_over_noise_is_told_in_the_terminal_and_on_the_page(tmp_path):
    noisy = DRIFT.replace("distance=20.0", "inner_value_noise=0.1").replace("local_steps=5", "")
    (tmp_path / "mine.py").write_text(noisy.replace("rounds=2", "rounds=1"), encoding="utf-8")
    made = driftproof("verify", "mine.py", "--workers", "1", cwd=tmp_path)
    assert "mine/drift: the statement has no expectation." in made.stdout
    page = (tmp_path / "report-mine" / "index.html").read_text(encoding="utf-8")
    assert "Here the statement has no expectation." in page


def test_each_judged_right_side_stands_open_on_the_page(tmp_path):
    made = driftproof(
        "verify",
        "comfedl/lemma-2",
        "feddro/theorem-5.1",
        "--profile",
        "smoke",
        "--workers",
        "1",
        cwd=tmp_path,
    )
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert page.count('<div class="judged">') == 3
    assert made.stdout.count("Refuted as printed: feddro/theorem-5.1; driftproof errata says") == 1


MINE = """
class Mine(ComFedL):
    def step(self, ctx, oracles, state):  # so the radii of ComFedL are not proven of it
        return super().step(ctx, oracles, state)

"""


def test_a_claim_without_a_range_says_how_to_give_one(tmp_path):
    noise = "grid(BoundedComposition(outer_gradient_noise=[0.0, 0.5]), Mine(), rounds=40),"
    text = DRIFT.replace(DRIFT[DRIFT.index("grid(B") : DRIFT.index("    right=")], f"{noise}\n")
    text = text.replace("\n@bound(", MINE + "\n@bound(")
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    made = driftproof("verify", "mine.py", "--workers", "1", "--json", cwd=tmp_path)
    exact, sampled = json.loads(made.stdout)["results"]
    assert (exact["verdict"], sampled["verdict"]) == ("SUPPORTED", "INCONCLUSIVE")
    assert "write range=lambda c: …" in sampled["reason"]
    place = sampled["reason"].rpartition("docs/claims.md#")[2]
    guide = (Path(__file__).parents[1] / "docs" / "claims.md").read_text(encoding="utf-8")
    assert f"### {place.capitalize().replace('-', ' ')}\n" in guide
    page = (tmp_path / "report-mine" / "index.html").read_text(encoding="utf-8")
    assert "; 1 of 2 cases need no sampling, and were decided exactly" in page
