"""Bounds for all values of free letters: signs in a region, certificates, verdicts, forgeries."""

import json
import re
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from driftproof.synthetic.classes import (
    for_all,
    over,
    similar,
    smooth_convex,
    smooth_strongly_convex,
    start_within,
)
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.toolkit.verdict import Evidence, Verdict
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.judges import theorems
from driftproof.verifiers.papers.localsgd.claims import any_state as localsgd
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.check import RefusedCertificateError, check
from driftproof.verifiers.worst_case.digest import sealed
from driftproof.verifiers.worst_case.region import Sample
from driftproof.verifiers.worst_case.room import families
from driftproof.verifiers.worst_case.signs import Region
from driftproof.verifiers.worst_case.written import theorem
from tests.certificates import at_point
from tests.closed_forms import CLAIMS, FILE, distance, gap
from tests.commands import driftproof

ROOT = Path(__file__).parents[1]
SMALL = st.fractions(-3, 3, max_denominator=4)
SHARES = st.fractions(0, 1, max_denominator=50)


# --- rational functions and their signs -----------------------------------------------------------


@st.composite
def ratios(draw, letters=("x", "y")):
    """A quotient of polynomials of degree 2 in some letters."""
    parts = []
    for _ in range(2):
        total = draw(SMALL) + 0 * Ratio.letter(letters[0])
        for name in letters:
            total = total + draw(SMALL) * Ratio.letter(name) ** draw(st.integers(0, 2))
        parts.append(total)
    assume(not vanishes(parts[1]))
    return parts[0] / parts[1]


@given(ratios(), ratios(), SHARES, SHARES)
def test_ratios_are_added_and_multiplied_as_their_values_are(a, b, x, y):
    point = {"x": x, "y": y}
    try:
        one, two = a.at(point), b.at(point)
    except ZeroDivisionError:
        assume(False)
    assert (a + b).at(point) == one + two
    assert (a * b - a).at(point) == one * two - one
    assert a - a == 0
    assert hash(a * 0 + 2) == hash(2)
    if two:
        assert (a / b).at(point) == one / two
        assert (1 - 3 / b).at(point) == 1 - 3 / two


SQUARE = [["0", "<=", "x", "<", "1"], ["0", "<", "y", "<=", "1 + x"]]


@settings(max_examples=200)
@given(ratios(), SHARES, SHARES)
def test_what_is_said_of_a_sign_holds_at_every_point(of, s, t):
    region = Region(SQUARE)
    nonnegative, positive = region.nonnegative(of), region.positive(of)
    assert nonnegative or not positive
    assume(s < 1 and t > 0)
    point = {"x": s, "y": t * (1 + s)}
    if nonnegative or positive:
        assert of.at(point) >= 0
    if positive:
        assert of.at(point) > 0


@settings(max_examples=150)
@given(st.lists(SMALL, min_size=2, max_size=5), st.booleans(), st.booleans())
def test_the_sign_of_one_letter_is_what_sympys_roots_say(coefficients, closed_low, closed_high):
    """Another route to the same: isolated roots of the square-free parts."""
    x = sympy.Symbol("x")
    poly = sympy.Poly([sympy.Rational(str(c)) for c in coefficients], x)
    assume(poly.degree() > 0)
    letter = Ratio.letter("x")
    of = 0 * letter
    for c in coefficients:
        of = of * letter + c
    ends = ["<=" if closed_low else "<", "<=" if closed_high else "<"]
    region = Region([["0", ends[0], "x", ends[1], "1"]])

    def inside(root):
        low = root >= 0 if closed_low else root > 0
        return bool(low and (root <= 1 if closed_high else root < 1))

    roots = [root for root in sympy.real_roots(poly, multiple=False) if inside(root[0])]
    middles = [Fraction(k, 97) for k in range(1, 97)]
    above = all(of.at({"x": m}) >= 0 for m in middles)
    crossing = [root for root, times in roots if times % 2 and 0 < root < 1]
    assert region.positive(of) == (above and not roots)
    assert region.nonnegative(of) == (above and not crossing)


@pytest.mark.parametrize(
    ("text", "positive", "nonnegative"),
    [
        ("1 - x + 1/10**9", True, True),
        ("1 - x", False, True),  # 0 at the end
        ("(x**2 - 1/2)**2", False, True),  # 0 at 1/√2, which no fraction is
        ("(x**2 - 1/2)**2 - 1/10**15", False, False),  # below 0 only near it
        ("(x**2 - 1/2)**2 + 1/10**15", True, True),
        ("-1 - x", False, False),
    ],
)
def test_signs_between_rational_points(text, positive, nonnegative):
    region = Region([["0", "<", "x", "<=", "1"]])
    of = region.number(text)
    assert region.positive(of) is positive
    assert region.nonnegative(of) is nonnegative


@pytest.mark.parametrize("pole", ["1/(1 - x)", "1/(x - 1/2)", "1/(x**2 - 1/2)"])
def test_a_number_with_a_pole_in_the_region_is_none(pole):
    with pytest.raises(ValueError, match="pole"):
        Region([["0", "<", "x", "<=", "1"]]).number(pole)


def test_a_pole_outside_the_region_is_no_harm():
    region = Region([["0", "<", "x", "<", "1"]])
    assert region.positive(region.number("1/x + 1/(1 - x)"))


@pytest.mark.parametrize(
    "written",
    [
        [["1", "<", "x", "<", "1"]],  # empty
        [["0", "<", "x", "<", "1"], ["x", "<", "y", "<", "1/2"]],  # empty for some x
        [["0", "<", "x", "<", "y"], ["0", "<", "y", "<", "1"]],  # an end of a later letter
        [["0", "<", "x", ">", "1"]],
        [["0", "<", "x", "<", "1"], ["0", "<", "x", "<", "2"]],  # twice
        [["0", "<", "x", "<", "sqrt(2)"]],
    ],
)
def test_what_is_no_region_is_refused(written):
    with pytest.raises((ValueError, ArithmeticError)):
        Region(written)


# --- statements ---------------------------------------------------------------------------------


def descent(c):
    """Return LR²/(4NηL + 2): Drori and Teboulle 2014."""
    return c.L * c.R**2 / (4 * c.S * c.eta * c.L + 2)


def claim(right, steps=2, eta="0 < eta <= 1/L", L=1, R=1, left=gap, of=None, **more):
    """Return a claim on gradient descent with free letters, and its one case."""
    made = over(
        [of or smooth_convex(L=L), start_within(R=R)],
        FedAvg(step_size=for_all(eta)),
        rounds=steps,
        clients=1,
    )
    return bound(name="mine/all", source="test", statement="x", classes=made, right=right, **more)(
        left
    )


def row_of(made):
    case, form = made.classes[0], made.forms[0]
    return theorems.judge(made, case, form, theorems.measure(made, case, [form]))


def theorem_of(row):
    return next(text for name, text in row.proofs.items() if "theorem" in name)


@pytest.fixture(scope="module")
def proved():
    """The theorem of two steps, for all L, R and η ≤ 1/L."""
    return theorem_of(row_of(claim(descent, L=for_all("0 < L"), R=for_all("0 < R"))))


@settings(max_examples=25, deadline=None)
@given(
    L=st.fractions(Fraction(1, 9), 9),
    R=st.fractions(Fraction(1, 9), 9),
    share=st.fractions(Fraction(1, 50), 1),
)
def test_at_every_point_a_theorem_is_a_certificate(proved, L, R, share):
    """Another checker's work: with numbers, all is decided in fractions."""
    point = {"L": L, "R": R, "eta": share / L}
    it = check(json.dumps(at_point(json.loads(proved), point)))
    value = L * R**2 / (8 * share + 2)
    assert it.conclusion.right == fmpq(value.numerator, value.denominator)


def test_a_theorem_says_its_region_and_its_statement(proved):
    said = check(proved).said
    assert "for all 0 < L, 0 < R, 0 < eta <= 1/L," in said
    assert said[-1].endswith("≤ L*R**2/(4*L*S*eta + 2), where S = 2")
    assert any("x_1 = x_0 − eta ∇f_0(x_0)" in line for line in said)


@pytest.mark.parametrize("steps", [1, 3])
def test_gradient_descent_for_every_step_size(steps):
    row = row_of(claim(descent, steps))
    assert (row.verdict, row.evidence, row.attained) == (Verdict.SUPPORTED, Evidence.THEOREM, True)
    assert "for all 0 < eta <= 1, in every dimension" in row.reason


def test_a_contraction_in_two_letters():
    made = claim(
        lambda c: ((1 - c.eta * c.mu) * c.R) ** 2,
        1,
        "0 < eta <= 2/(L + mu)",
        left=distance,
        of=smooth_strongly_convex(L=1, mu=for_all("0 < mu < L")),
    )
    row = row_of(made)
    assert (row.verdict, row.evidence) == (Verdict.SUPPORTED, Evidence.THEOREM)
    assert check(theorem_of(row)).numbers.said == "0 < mu < 1, 0 < eta <= 2/(mu + 1)"


@pytest.mark.parametrize(
    ("right", "eta"),
    [
        # of one step the rate holds to η = 3/2
        (descent, "0 < eta <= 101/100*3/2"),
        (lambda c: descent(c) * (1 - sympy.Rational(1, 10**9) * c.eta**30), "0 < eta <= 1/L"),
        (lambda c: descent(c) - sympy.Rational(1, 10**6) * (1 - 2 * c.eta), "0 < eta <= 1/L"),
    ],
    ids=["a region 1 % too large", "too small at one end", "too small below 1/2"],
)
def test_what_is_false_somewhere_is_no_theorem(right, eta):
    row = row_of(claim(right, 1, eta))
    assert row.verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE)
    assert not any("theorem" in name for name in row.proofs)
    assert row_of(claim(descent, 1, "0 < eta <= 3/2")).verdict is Verdict.SUPPORTED


def test_what_is_refuted_somewhere_says_where():
    row = row_of(claim(lambda c: descent(c) * (1 - c.eta / 100), 1))
    assert (row.verdict, row.evidence) == (Verdict.REFUTED, Evidence.CLASS)
    assert row.reason.startswith("at eta = 1/2: ")


def sampled(noise, contraction=1, of=smooth_strongly_convex):
    """Return Gower et al.'s claim (2019, Theorem 3.1) with other factors, of one step of SGD."""
    known = {"mu": for_all("0 < mu < L")} if of is smooth_strongly_convex else {}
    those = [of(L=for_all("0 < L"), **known), similar(for_all("0 < zeta"))]
    those.append(start_within(R=for_all("0 < R")))
    method = FedAvg(step_size=for_all("0 < eta <= 1/(2*L)"), participation=0.5)

    def right(c):
        rate = 1 - contraction * c.eta * c.mu if known else 1
        return rate * c.R**2 + noise * c.eta**2 * c.zeta**2

    made = over(those, method, rounds=1)
    return bound(name="mine/sgd", source="test", statement="x", classes=made, right=right)(distance)


def test_a_bound_with_room_is_a_theorem_of_few_multipliers():
    """No program's optimum is this bound, so no one formula gives the multipliers of all."""
    row = row_of(sampled(2))
    assert (row.verdict, row.evidence, row.attained) == (Verdict.SUPPORTED, Evidence.THEOREM, False)
    used = [of[0] for of in json.loads(theorem_of(row))["multipliers"]]
    assert used == ["eta"] * 4 + ["2*eta**2", "-eta*mu + 1"]
    check(theorem_of(row))


@pytest.mark.parametrize(
    ("noise", "contraction", "of", "proved"),
    [
        (2, 1, smooth_convex, True),  # S is 0 on x_0: of a function without slope nothing moves
        (1, 1, smooth_strongly_convex, False),
        (2, 2, smooth_strongly_convex, False),
        (Fraction(13, 10), 1, smooth_convex, False),  # too small near η = 1/(2L) alone
    ],
)
def test_what_has_room_is_proved_and_what_is_false_somewhere_is_not(noise, contraction, of, proved):
    made = sampled(sympy.Rational(str(noise)), contraction, of)
    case, form = made.classes[0], made.forms[0]
    region = Region(written := theorems.region_of(made, case))
    (program,) = build(case.algorithm, case.problem, rounds=1, left=made.left)
    right = theorems.right_side(made, case, form, region)
    taken = []
    for found in families(program, region, right.of_letters(region)):
        with suppress(DriftproofError):
            taken.append(theorem(program, right, written, found))
    assert bool(taken) is proved


def test_an_assumption_that_no_point_meets_applies_to_letters():
    long = Assumption("long", r"\eta > 2", relation=lambda c: c.eta > 2)
    assert row_of(claim(descent, 1, assumes=[long])).verdict is Verdict.INAPPLICABLE


def test_a_right_side_with_a_root_of_a_letter_is_open():
    row = row_of(claim(lambda c: descent(c) * sympy.sqrt(1 + c.eta), 1))
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "no rational function of its free letters" in row.reason


@pytest.mark.parametrize(
    "written", ["eta", "0 < eta, 1", "0 > eta", "0 < eta < gamma", "0 < mu < 1"]
)
def test_what_is_no_range_of_a_letter_is_refused(written):
    with pytest.raises(DriftproofError):
        row_of(claim(descent, 1, written))


def test_fedavgs_round_from_any_state_and_what_is_left_without_a_scale():
    """S is 0 on f_1 = f_2 = μ‖x‖²/2, of any size, whatever the multipliers."""
    made = localsgd.after_a_round
    case, form = made.classes[0], made.forms[0]
    region = Region(theorems.region_of(made, case))
    (program,) = build(case.algorithm, case.problem, rounds=1, left=made.left)
    program = program.less(theorems.factors_of(made, case, form, region))
    point = {"L": Fraction(1), "mu": Fraction(1, 4), "zeta": Fraction(2), "eta": Fraction(2, 3)}
    sample = Sample(program, point)
    assert sample.exact.size == len(program.vectors) - 1
    right = theorems.right_side(made, case, form, region).of_letters(region)
    assert sample.optimum == pytest.approx(float(right.at(point)), rel=1e-6)


def test_a_multiple_of_what_is_not_measured_is_refused():
    with pytest.raises(DriftproofError, match="measured means"):
        row_of(claim(lambda c: descent(c) + c.eta * c.measured("before"), 1))


# --- forgeries ------------------------------------------------------------------------------------


def changed(text, change):
    file = json.loads(text)
    change(file)
    return sealed(file)


FORGERIES = {
    "a region that is too large": lambda f: f["region"][2].__setitem__(4, "81/50/L"),
    "a region without its end": lambda f: f["region"].__setitem__(2, ["0", "<", "eta"]),
    "a bound that is too small at one corner": lambda f: f["conclusion"].update(
        right="L*R**2/(4*L*S*eta + 2)*(1 - 1/10**9*(L*eta)**40)"
    ),
    "a bound that is too small between": lambda f: f["conclusion"].update(
        right="L*R**2/(4*L*S*eta + 2)*(1 + ((L*eta)**2 - 1/2)**2 - 1/10**12)"
    ),
    "a longer step": lambda f: f["functions"]["f_0"]["points"]["x_1"]["x"].update(
        {"∇f_0(x_0)": "-101/100*eta"}
    ),
    "a class that is too large": lambda f: f["functions"]["f_0"]["classes"].update(
        {"smooth-convex": {"L": "101/100*L"}}
    ),
    "a constant that may be below 0": lambda f: f["functions"]["f_0"]["classes"].update(
        {"smooth-convex": {"L": "L - 1"}}
    ),
    "a pole on an edge": lambda f: f["multipliers"][0].__setitem__(0, "1/(1 - eta*L)"),
    "a multiplier that changes its sign": lambda f: f["multipliers"][0].__setitem__(
        0, "1/4 - eta*L"
    ),
    "a letter that has a number too": lambda f: f["conclusion"]["letters"].update(eta="1"),
    "a vector with a letter's name": lambda f: f["region"].append(["0", "<", "x_0", "<", "1"]),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_theorem_is_refused(proved, name):
    with pytest.raises((RefusedCertificateError, ValueError)):
        check(changed(proved, FORGERIES[name]))


def test_every_multiplier_of_a_theorem_is_needed(proved):
    for place in range(len(json.loads(proved)["multipliers"])):
        with pytest.raises(RefusedCertificateError):
            check(changed(proved, lambda file, place=place: file["multipliers"].pop(place)))


@pytest.mark.parametrize("share", ["1/100", "1/10**9"])
def test_no_multiplier_may_be_another(proved, share):
    for place in range(len(json.loads(proved)["multipliers"])):
        for sign in ("+", "-"):

            def other(file, place=place, sign=sign):
                used = file["multipliers"][place]
                used[0] = f"({used[0]})*(1 {sign} {share}*eta*L)"

            if place == len(json.loads(proved)["multipliers"]) - 1 and sign == "+":
                continue  # of the start a larger one proves a larger bound
            with pytest.raises(RefusedCertificateError):
                check(changed(proved, other))


# --- the commands ---------------------------------------------------------------------------------

OWN = """
from driftproof import Reduction, Steps, bound, each
from driftproof.algorithms import FedAvg
from driftproof.classes import for_all, over, smooth_convex, start_within


@bound(
    name="mine/descent",
    source="Drori and Teboulle (2014)",
    statement=r"F(x_1) - F^* \\le LR^2/(4\\eta L + 2)",
    classes=over(
        [smooth_convex(L=1), start_within(R=1)],
        FedAvg(step_size=for_all("0 < eta <= 1/L")), rounds=1, clients=1,
    ),
    right=lambda c: c.L * c.R**2 / (4 * c.S * c.eta * c.L + 2),
)
def gap(view: Steps) -> Reduction | None:
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None
"""


def test_the_commands_prove_a_theorem_and_check_it(tmp_path):
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    ran = driftproof("verify", "own.py", "--out", "made", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "SUPPORTED   theorem" in ran.stdout
    (row,) = json.loads((tmp_path / "made/results.json").read_text(encoding="utf-8"))["results"]
    assert row["evidence"] == "theorem"
    assert row["case"]["algorithm"]["step_size"] == "all 0 < eta <= 1/L"
    files = [f"made/certificates/{name}" for name in row["certificates"] if "theorem" in name]
    ran = driftproof("check", *files, cwd=tmp_path)
    assert ran.returncode == 0
    assert "for all 0 < eta <= 1," in ran.stdout
    assert "theorem" in (tmp_path / "made/index.html").read_text(encoding="utf-8")


def test_two_letters_of_one_name_are_refused():
    made = claim(descent, L=for_all("0 < R <= 1000"), R=for_all("0 < R <= 1"), eta="0 < eta <= 1/R")
    with pytest.raises(DriftproofError, match="two letters with one name"):
        row_of(made)


def test_a_letter_that_may_be_negative_is_refused():
    """sympy takes sqrt(R²) for R; over (−2, −1) it is −R."""
    made = claim(lambda c: c.R * sympy.sqrt(c.R**2), R=for_all("-2 < R < -1"), left=distance)
    with pytest.raises(DriftproofError, match="a range without negative numbers"):
        row_of(made)


QUESTIONS = {
    "a double": lambda eta: eta * 2 != 0.3,
    "a whole number": lambda eta: eta == 1,
    "another letter": lambda eta: eta == for_all("0 < mu"),
    "0": bool,
    "membership": lambda eta: eta in (0, 1),
    "order": lambda eta: eta < 1,
    "order, turned": lambda eta: 1 / eta >= 3,
}


@pytest.mark.parametrize("asks", QUESTIONS.values(), ids=QUESTIONS)
def test_a_text_may_not_choose_by_the_value_of_a_letter(asks):
    """Whatever one answer is given, it is wrong for some values."""

    class Choosing(FedAvg):
        def step(self, ctx, oracles, state):
            asks(self.step_size)
            return super().step(ctx, oracles, state)

    made = claim(descent)
    changed = replace(
        made,
        classes=over(
            [smooth_convex(L=1), start_within(R=1)],
            Choosing(step_size=for_all("0 < eta <= 1/L")),
            rounds=2,
            clients=1,
        ),
    )
    with pytest.raises(DriftproofError, match=r"a choice by |not supported"):
        row_of(changed)


NUMBERS = {
    "accelerated-proximal-gradient",
    "frank-wolfe",
    "douglas-rachford",
    "dykstra",
    "past-extragradient",
    "follow-the-leader",
    "online-frank-wolfe",
    "relatively-inexact-proximal-point",
}
"""Statements that are proved at numbers."""
LOOSE = {
    "cocoercive-contracts",
    "accelerated-proximal-gradient",
    "frank-wolfe",
    "douglas-rachford",
    "online-frank-wolfe",
    "relatively-inexact-proximal-point",
}
"""Statements whose authors claim no worst case, or have it to three digits."""


def test_closed_forms_of_the_literature_are_proved(tmp_path):
    """The first case of each statement of docs/closed_forms.py, as a user types it."""
    words = ["--profile", "smoke", "--json", "--out", str(tmp_path)]
    made = driftproof("verify", str(FILE), *words)
    assert made.returncode == 0, made.stderr
    rows = {row["claim"].removeprefix("pepit/"): row for row in json.loads(made.stdout)["results"]}
    assert len(rows) == 48
    assert {row["verdict"] for row in rows.values()} == {"SUPPORTED"}
    assert {of for of, row in rows.items() if row["evidence"] != "theorem"} == NUMBERS
    assert {of for of, row in rows.items() if row["ratio"] < 1 - 1e-5} == LOOSE
    files = map(str, tmp_path.glob("certificates/*"))
    assert driftproof("check", *files).returncode == 0


def test_the_page_has_every_closed_form():
    """Its rows on docs/theorems.md: the name, and the numbers of steps."""
    page = (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \|.*\| ([\d, ]+) \| [^|]+ \|$", page, re.M)
    steps = {
        name: ", ".join(dict.fromkeys(str(case.rounds) for case in claim.classes))
        for name, claim in CLAIMS.items()
    }
    assert dict(rows) == steps
