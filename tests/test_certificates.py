"""Certificates of worst cases: what is proved, that forged ones are refused, the exact LDLᵀ."""

import copy
import json
import random
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from driftproof.synthetic.classes import smooth_convex
from driftproof.synthetic.classes.relations import start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Vector
from driftproof.verifiers.worst_case import written
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.certificate import certify
from driftproof.verifiers.worst_case.check import (
    SCHEMA,
    THEOREM,
    RefusedCertificateError,
    check,
    positive_semidefinite,
)
from driftproof.verifiers.worst_case.check_counterexample import COUNTEREXAMPLE, functions_of
from driftproof.verifiers.worst_case.digest import digest, sealed
from driftproof.verifiers.worst_case.expression import ends, evaluate
from driftproof.verifiers.worst_case.program import matrices
from driftproof.verifiers.worst_case.solve import solve
from driftproof.verifiers.worst_case.written import Right, squares
from tests.certificates import (
    KNOWN,
    RUNS,
    UNREADABLE,
    accepted,
    counterexamples,
    edits,
    gap,
    last,
    made,
    proved,
    read,
    solved_by_scs,
    true,
)
from tests.commands import driftproof


@pytest.mark.parametrize("name", RUNS)
def test_the_proved_bound_is_the_worst_case(name):
    """Exactly, where it is known; else nearly, and never below what a solver attains."""
    of = made(name)
    low, high = ends(evaluate(str(of.bound), {}))
    assert check(of.text).conclusion.right == low == high
    if name in KNOWN:
        assert of.bound == KNOWN[name]
    else:
        assert of.solved.value * (1 - 1e-6) <= of.bound <= of.solved.value * (1 + 1e-6)


DISTURBED = {"1e-9": 1e-9, "1e-7": 1e-7, "1e-5": 1e-5}


@pytest.mark.parametrize("noise", DISTURBED.values(), ids=DISTURBED)
@pytest.mark.parametrize("name", RUNS)
def test_the_bound_does_not_depend_on_the_solvers_digits(name, noise):
    """Every multiplier and the whole primal are disturbed, in proportion to the largest."""
    of, rng = made(name), np.random.default_rng(0)

    def disturbed(array):
        return array + noise * np.abs(array).max(initial=0.0) * rng.standard_normal(array.shape)

    gram = disturbed(of.solved.gram)
    solved = replace(
        of.solved,
        multipliers=disturbed(of.solved.multipliers),
        gram=(gram + gram.T) / 2,
        values=disturbed(of.solved.values),
        value=of.solved.value * (1 + noise),
    )
    bound = certify(of.case, solved).bound
    if name in KNOWN:
        assert bound == of.bound
    else:
        assert bound <= of.solved.value * (1 + max(10 * noise, 1e-6))


@pytest.mark.parametrize("name", KNOWN)
def test_the_bound_does_not_depend_on_the_solver_or_the_order(name):
    """SCS, a first-order method, on vectors and points in the opposite order."""
    turned = read(sealed(reversed_file(json.loads(made(name).text))))[0]
    assert certify(turned, solved_by_scs(turned)).bound == KNOWN[name]


def reversed_file(file):
    """Return a file whose vectors and points stand in the opposite order."""
    vectors = file["vectors"]
    if isinstance(vectors, list):
        file["vectors"] = vectors[::-1]
    for function in file["functions"].values():
        function["points"] = dict(reversed(function["points"].items()))
    return file


@pytest.mark.parametrize("name", RUNS)
def test_a_certificate_states_the_program_that_was_solved(name):
    """Read back by another route, it has the same matrices, to rounding in doubles."""
    case = made(name).case
    ours, theirs = matrices(case), matrices(read(made(name).text)[0])
    key, other = (of.gram.dense.sum((1, 2)) for of in (ours, theirs))
    assert np.allclose(np.sort(key), np.sort(other), atol=1e-12)
    assert np.allclose(np.sort(ours.bounds), np.sort(theirs.bounds), atol=1e-12)
    spaces = np.argsort(case.second or [False] * len(case.vectors), kind="stable")  # x, then y
    gram, their_gram = ours.objective[0], theirs.objective[0]
    assert np.allclose(gram[np.ix_(spaces, spaces)], their_gram, atol=1e-12)


FILES = [*RUNS, *range(6)]


@pytest.mark.parametrize("name", FILES)
def test_no_edited_file_shows_what_is_false(name):
    """Certificates, and counterexamples by number, edited by a grammar.

    What is still accepted states the same, which other multipliers or functions show too, or
    something else that is true (``tests.certificates.true``).
    """
    text = made(name).text if isinstance(name, str) else counterexamples()[name]
    file, refused = json.loads(text), 0
    for changed_file, _ in zip(edits(file, random.Random(str(name))), range(300), strict=False):
        shown = accepted(changed_file)
        refused += shown is None
        if shown is not None and shown.differs_from(file):
            assert true(shown) is not False, shown.text
    assert refused > 100


@pytest.mark.parametrize("name", ["convex", "local steps"])
def test_every_multiplier_is_needed(name):
    """Left out, one after another; the bound of the local steps has no room either."""
    file = json.loads(made(name).text)
    for place in range(len(file["multipliers"])):
        less = [m for k, m in enumerate(file["multipliers"]) if k != place]
        with pytest.raises(RefusedCertificateError):
            check(sealed({**file, "multipliers": less}))


def test_an_equality_may_have_a_multiplier_below_zero():
    """‖x_0‖² = 1, and the least ‖x_0‖²: −‖x_0‖² ≤ −1 needs the multiplier −1."""
    case = replace(last("operator"), objective=-(Vector.basis(0) * Vector.basis(0)))
    start = replace(case.relations[0], equality=True)
    of = proved(replace(case, relations=(start,)))
    assert of.bound == -1
    with pytest.raises(RefusedCertificateError, match="below 0"):
        check(of.text.replace('"equals"', '"at_most"'))


def at(file, path):
    """Return what holds the last key of a path, and that key."""
    *keys, last_key = path.split("__")
    for key in keys:
        file = file[int(key) if isinstance(file, list) else key]
    return file, last_key


def changed(name="convex", **parts):
    """Return a certificate with some parts changed."""
    file = copy.deepcopy(json.loads(made(name).text))
    for path, value in parts.items():
        holder, key = at(file, path)
        holder[key] = value
    return sealed(file)


@pytest.mark.parametrize(
    "parts",
    [
        {"schema": "driftproof worst case 1"},
        {"functions__f_0__classes": {"smooth-convex": {"L": "1", "mu": "0"}}},
        {"functions__f_0__classes": {"smooth-convex": {}}},
        {"functions__f_0__classes": {"harmless": {}}},
        {"functions__f_0__classes": {"smooth-strongly-convex": {"L": "1", "mu": "1"}}},
        {"functions__f_0__classes": {"smooth-convex": {"L": "-1"}}},
        {"functions__f_0__classes": {"cocoercive": {"L": "1", "mu": "1"}}},
        {"functions__f_0__points__x_0__f": {"x_0": "1"}},
        {"functions__f_0__points__x_0__x": {"f_0(x_1)": "1"}},
        {"multipliers": [["1", "smooth-convex", "f_0", "x_0"]]},
        {"multipliers": [["1", "smooth-convex", "f_0", "x_0", "x_1", "x*"]]},
        {"multipliers": [["1", "smooth", "f_0", "x_0", "x_1"]]},
        {"multipliers": [["1", "assumption", "start", "x_0"]]},
        {"multipliers": [["1.0", "assumption", "start"]]},
        {"multipliers": [[1, "assumption", "start"]]},
        {"multipliers": [["1/0", "assumption", "start"]]},
        {"multipliers": [["1", "assumption", "another"]]},
        {"conclusion__values": {"f_0(x_9)": "1"}},
        {"conclusion__products": [["1", {"x_9": "1"}, {"x_0": "1"}]]},
        {"conclusion__right": "1/6 if True else 0"},
        {"conclusion__right": "L/6"},
        {"conclusion__letters": {"L": "1"}},
        {"conclusion": {}},
        {"assumptions": {"start": {"products": [], "values": {}, "at_least": "1"}}},
        {"assumptions": {"ѕtart": {"products": [], "values": {}, "at_most": "1"}}},
        {"vectors": 3},
        {"vectors": "abc"},
        {"about": 3},
    ],
    ids=str,
)
def test_what_is_no_certificate_is_not_read(parts):
    with pytest.raises(UNREADABLE):
        check(changed(**parts))


X_0, G_0, F_0 = "x_0", "∇f_0(x_0)", "f_0(x_0)"
FALSE = {
    "functions": {
        "f_0": {
            "classes": {"smooth-convex": {"L": "1"}},
            "points": {
                "x*": {"x": {}, "g": {}, "f": {}},
                "x_0": {"x": {X_0: "1"}, "g": {G_0: "1"}, "f": {F_0: "1"}},
            },
        }
    },
    "assumptions": {},
    "conclusion": {
        "products": [],
        "values": {F_0: "1"},
        "constant": "0",
        "right": "0",
        "letters": {},
    },
    "multipliers": [["1", "smooth-convex", "f_0", "x*", "x_0"]],
}
"""f_0(x_0) ≤ 0 of a convex function that is least at 0: what is in the way is −⟨g_0, x_0⟩."""


def test_the_name_of_an_assumption_is_words():
    """Of another alphabet, say: "start" that a reader takes for the one of the algorithm."""
    text = made("convex").text
    assert check(sealed(json.loads(text)))
    with pytest.raises(ValueError, match="the assumption"):
        check(text.replace('"start"', '"ѕtart"'))


@pytest.mark.parametrize(
    "forged",
    [
        {"vectors": [X_0, G_0]},
        {"vectors": {"x": [X_0, G_0], "y": [G_0]}},  # orthogonal, for the last one counts
        {"vectors": {"x": [X_0], "y": [G_0], "": []}},
        {"vectors": {"x": [X_0], "": [G_0]}},
        {"vectors": {"x": [X_0], "х": [G_0]}},
        {"vectors": {"x": [X_0], "X": [G_0]}},
        {"vectors": [X_0, G_0, G_0]},
        {"vectors": [X_0, G_0], "values": [F_0, F_0]},
        {"vectors": [X_0, G_0, F_0]},
    ],
    ids=str,
)
def test_a_forged_certificate_is_refused(forged):
    file = {"schema": "driftproof certificate 2", "about": "", "values": [F_0], **FALSE, **forged}
    with pytest.raises((RefusedCertificateError, *UNREADABLE)):
        check(sealed(file))


def test_that_two_spaces_are_orthogonal_is_said():
    """It is an assumption: under it the false conclusion above does hold."""
    file = {
        "schema": "driftproof certificate 2",
        "about": "",
        "values": [F_0],
        **FALSE,
        "vectors": {"x": [X_0], "y": [G_0]},
    }
    said = check(sealed(file)).said
    assert "space x has x_0," in said
    assert "vectors of the spaces x, y are orthogonal," in said


def test_a_field_that_is_there_twice_is_refused():
    """Of two "values" json takes the last; a reader may take the first."""
    text = made("convex").text
    twice = text.replace('"values": [', '"values": [],\n "values": [', 1)
    assert json.loads(twice)["values"]
    with pytest.raises(ValueError, match="twice"):
        check(twice)


def test_a_condition_of_one_point_is_not_one_of_two():
    """‖g_j − g_i‖ ≤ G does not follow from bounded gradients."""
    file = json.loads(made("bounded gradients").text)
    place = next(k for k, m in enumerate(file["multipliers"]) if m[1] == "bounded-gradients")
    file["multipliers"][place].append("x*")
    with pytest.raises(TypeError):
        check(sealed(file))


def test_the_right_side_is_the_expression_that_is_written():
    """1/6 = L R²/(4Sη L + 2): any smaller value of a letter, and it is not proved any more."""
    letters = dict.fromkeys(("L", "R", "S", "eta"), Fraction(1))
    right = Right("L*R**2/(4*L*S*eta + 2)", letters)
    text = proved(last("convex"), right=right).text
    assert check(text).said[-1] == (
        "f_0(x_1) ≤ L*R**2/(4*L*S*eta + 2) = 1/6 (about 0.166666667), "
        "where L = 1, R = 1, S = 1, eta = 1"
    )
    file = json.loads(text)
    for letter, value in (("R", "999999999/1000000000"), ("S", "2"), ("eta", "11/10")):
        smaller = copy.deepcopy(file)
        smaller["conclusion"]["letters"][letter] = value
        with pytest.raises(RefusedCertificateError, match="larger by"):
            check(sealed(smaller))


@pytest.mark.parametrize("number", ["0x10", "1_5", "0b1", "1e3"])
def test_a_number_that_a_reader_does_not_see_is_refused(number):
    with pytest.raises(ValueError, match="the number"):
        evaluate(f"R/{number}", {"R": fmpq(1)})


def test_a_constant_of_the_measure_counts():
    """f_1 + 1/10 ≤ 4/15 is what f_1 ≤ 1/6 says; and nothing less."""
    moved = {"conclusion__constant": "1/10", "conclusion__right": "4/15"}
    it = check(changed(**moved))
    assert (it.conclusion.right, it.upper) == (fmpq(1, 6), fmpq(1, 6))
    assert it.said[-1] == "f_0(x_1) + 1/10 ≤ 4/15 (about 0.266666667)"
    with pytest.raises(RefusedCertificateError):
        check(changed(conclusion__constant="1/10"))


def test_of_an_irrational_right_side_the_lower_end_is_proved():
    right = Right("sqrt(2)/8", {})
    assert right.low < right.high
    of = proved(last("convex"), right=right)
    assert of.bound <= right.low
    assert check(of.text).said[-1] == "f_0(x_1) ≤ sqrt(2)/8 (about 0.176776695, rounded down)"
    smaller = json.loads(of.text)
    smaller["conclusion"]["right"] = "sqrt(2)/9"
    with pytest.raises(RefusedCertificateError):
        check(sealed(smaller))


@given(
    st.recursive(
        st.sampled_from(["a", "b", "2", "3", "7"]),
        lambda of: st.one_of(
            st.tuples(of, st.sampled_from("+-*/"), of).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
            st.tuples(of, st.integers(-3, 3)).map(lambda t: f"({t[0]})**({t[1]})"),
            st.tuples(of, of).map(lambda t: f"Max({t[0]}, {t[1]})"),
            of.map(lambda t: f"sqrt(({t})**2 + 1)"),
            of.map(lambda t: f"Abs({t})"),
            of.map(lambda t: f"-({t})"),
        ),
        max_leaves=8,
    ),
    st.fractions(-4, 4, max_denominator=9),
    st.fractions(1, 4, max_denominator=9),
)
def test_a_right_side_is_evaluated_as_sympy_does(text, a, b):
    """Another route: sympy, with fractions and at 60 digits."""
    from sympy import Rational, nan, oo, sympify, zoo

    letters = {n: value for n, value in (("a", a), ("b", b)) if re.search(rf"\b{n}\b", text)}
    given_to = {n: Rational(v.numerator, v.denominator) for n, v in letters.items()}
    exact = sympify(text, locals=given_to)
    try:
        low, high = ends(
            evaluate(text, {n: fmpq(v.numerator, v.denominator) for n, v in letters.items()})
        )
    except ArithmeticError:
        assert exact.has(zoo, nan, oo) or not exact.is_real
        return
    if low == high and exact.is_Rational:
        assert Rational(int(low.p), int(low.q)) == exact
    else:
        digits = Rational(int(low.p), int(low.q)).evalf(60) - exact.evalf(60)
        assert abs(float(digits)) < 1e-50 * max(1.0, float(abs(high)))
        assert float(high - low) < 1e-100 * max(1.0, float(abs(high)))


@pytest.mark.parametrize(
    "text",
    ["", "1 +", "b # a", "b\n", "2**log(-1)", "Max(b, log(-1))", "Abs(sqrt(-b))", "x.y", "[1]",
     "__import__('os')", "a if b else c", "9**9**9", "1e3", "True", "2**10001", "exp(10**9)",
     "0**-1", "log(-1)", "sqrt(-1)", "1/(a - a)", "a b", "µ", "max(1, 2)", "Max()", "lambda: 1"],
)  # fmt: skip
def test_what_is_no_right_side_has_no_value(text):
    with pytest.raises((SyntaxError, ValueError, ArithmeticError)):
        ends(evaluate(text, {n: fmpq(1) for n in "ab" if n in text and len(text) > 1}))


@pytest.mark.parametrize(
    ("text", "value"),
    [("sqrt(9/4)", fmpq(3, 2)), ("sqrt(1/4)", fmpq(1, 2)), ("sqrt(0)", fmpq(0)),
     ("(9/4)**(3/2)", fmpq(27, 8)), ("(9/4)**(-1/2)", fmpq(2, 3)), ("Max(1, 1/2, 3/4)", fmpq(1)),
     ("Max(1/3, 1/4)", fmpq(1, 3)), ("sqrt(1/9)", fmpq(1, 3)), ("Max(2, sqrt(2)**2)", None),
     ("Min(1, 1/2)", fmpq(1, 2)), ("8**(2/3)", None), ("2**(1/2)", None), ("2**(3/2)", None),
     ("2**sqrt(2)", None), ("sqrt(2)**2", None), ("pi/4", None), ("exp(1)*log(2)", None)],
)  # fmt: skip
def test_a_value_is_a_fraction_where_it_can_be(text, value):
    from sympy import Rational, sympify

    low, high = ends(evaluate(text, {}))
    if value is not None:
        assert low == high == value
    else:
        fractions = re.sub(r"(\d+)/(\d+)", r"Rational(\1, \2)", text)
        exact = sympify(fractions).evalf(90)
        assert 0 < high - low < fmpq(1, 10**140)
        for end in (low, high):
            assert abs(exact - Rational(int(end.p), int(end.q)).evalf(90)) < 1e-80


@pytest.mark.parametrize("side", ["at_most", "equals"])
def test_only_equalities_take_multipliers_below_0(side):
    """‖g‖² ≥ 1 does not follow from ‖g‖ ≤ 1, nor from ‖g‖² ≤ 1, but from ‖g‖² = 1."""
    square = {"products": [["1", {"g": "1"}, {"g": "1"}]], "values": {}}
    file = {
        "schema": SCHEMA, "about": "", "vectors": ["g"], "values": [], "assumptions": {},
        "functions": {"f": {"classes": {"bounded-gradients": {"G": "1"}},
                            "points": {"x": {"x": {}, "g": {"g": "1"}, "f": {}}}}},
        "conclusion": {"products": [["-1", {"g": "1"}, {"g": "1"}]], "values": {},
                       "constant": "0", "right": "-1", "letters": {}},
        "multipliers": [["-1", "bounded-gradients", "f", "x"]],
    }  # fmt: skip
    with pytest.raises(RefusedCertificateError, match="below 0"):
        check(sealed(file))
    file["assumptions"]["unit"] = {**square, side: "1"}
    file["multipliers"] = [["-1", "assumption", "unit"]]
    if side == "equals":
        assert check(sealed(file)).said[-1].startswith("− ‖g‖² ≤ -1")
    else:
        with pytest.raises(RefusedCertificateError, match="below 0"):
            check(sealed(file))


def test_a_right_side_without_a_value_is_said_to_be_none():
    with pytest.raises(ArithmeticError, match="no real number"):
        ends(evaluate("sqrt(-2)", {}))


@pytest.mark.parametrize("name", ["x_0", "f_0", "Max", "pi", "__class__", "1_0", " L", ""])
def test_a_letter_is_the_name_of_nothing_else(name):
    """Else a right side would have two meanings."""
    file = json.loads(made("convex").text)
    file["conclusion"] |= {"right": f"0*({name or 1}) + 1", "letters": {name: "1"}}
    with pytest.raises(UNREADABLE):
        check(sealed(file))
    file["conclusion"] |= {"right": "0*L_f + 1", "letters": {"L_f": "1"}}
    assert check(sealed(file)).said[-1].endswith("where L_f = 1")


@pytest.mark.parametrize(
    "text",
    [
        "((7/3)**9999)**9999",
        "((2**10000)**10000)**10000 + 1",
        "-" * 9000 + "1",
        "(" * 4000 + "1" + ")" * 4000,
        "+".join("1" * 9000),
        "(1/3)**-10000**2",
    ],
)
def test_a_right_side_of_any_size_ends_soon(text):
    with pytest.raises(UNREADABLE):
        ends(evaluate(text, {}))


def alternating(matrix):
    """Tell by the characteristic polynomial whether a symmetric matrix is ⪰ 0 (all roots real)."""
    coefficients = fmpq_mat(matrix).charpoly().coeffs() if matrix else [fmpq(1)]
    degree = len(matrix)
    return all(c * (-1) ** (degree - k) >= 0 for k, c in enumerate(coefficients))


FRACTIONS = st.fractions(-3, 3, max_denominator=6).map(lambda f: fmpq(f.numerator, f.denominator))


@st.composite
def symmetric(draw):
    """Draw a matrix ⪰ 0 of any rank, changed by little in one entry, or any symmetric one."""
    size, rank = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    rows = draw(
        st.lists(st.lists(FRACTIONS, min_size=rank, max_size=rank), min_size=size, max_size=size)
    )
    matrix = [
        [sum((a * b for a, b in zip(u, v, strict=True)), fmpq(0)) for v in rows] for u in rows
    ]
    if size and draw(st.booleans()):
        i, j = draw(st.integers(0, size - 1)), draw(st.integers(0, size - 1))
        change = draw(FRACTIONS) / 10**9
        matrix[i][j] += change
        if i != j:
            matrix[j][i] += change
    return matrix


@given(symmetric())
@settings(deadline=None)
def test_definiteness_is_that_of_the_characteristic_values(matrix):
    assert positive_semidefinite(matrix) == alternating(matrix)


@given(symmetric(), st.data())
@settings(deadline=None)
def test_what_is_not_symmetric_is_not_semidefinite(matrix, data):
    if len(matrix) > 1:
        i = data.draw(st.integers(1, len(matrix) - 1))
        matrix[i][0] += fmpq(1, 10**30)
        assert not positive_semidefinite(matrix)


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda p: p[0] <= p[1]),
        st.fractions(-3, 3, max_denominator=5).filter(bool),
    )
)
def test_squares_are_the_form_that_they_are_of(gram):
    total = GramForm()
    for c, u, v in squares(gram):
        total = total + u * v * c
    assert total.gram == gram


def test_the_checker_is_a_few_short_files_that_load_no_solver(tmp_path):
    folder = Path(check.__code__.co_filename).parent
    files = [folder / f"{name}.py" for name in ("check", "statement", "expression")]
    of_letters = [folder / "signs.py", folder.parents[1] / "toolkit/ratios.py"]
    for parts, most in ((files, 555), ([folder / "classes.py"], 75), (of_letters, 390)):
        assert sum(len(part.read_text(encoding="utf-8").splitlines()) for part in parts) <= most
    path = tmp_path / "one.json"
    path.write_text(made("convex").text, encoding="utf-8")
    code = (
        "import sys; from driftproof.cli import status; done = status(['check', sys.argv[1]]);"
        "print(*sys.modules); sys.exit(done)"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    loaded = ran.stdout.splitlines()[-1].split()
    assert "flint" in loaded
    for heavy in (
        "torch",
        "cvxpy",
        "clarabel",
        "scipy",
        "numpy",
        "driftproof.verifiers.worst_case.builder",
    ):
        assert heavy not in loaded, heavy


def test_the_command_says_what_is_proved_and_what_is_not(tmp_path):
    text = made("strongly convex").text
    (tmp_path / "good.json").write_text(text, encoding="utf-8")
    ran = driftproof("check", "good.json", cwd=tmp_path)
    assert ran.returncode == 0
    for words in (
        "good.json: PROVED",
        "at x_0 = x_0: gradient ∇f_0(x_0)",
        "L = 1, mu = 1/10",
        "‖x_0‖² ≤ 1",
        "then ‖x_0 − 3/2 ∇f_0(x_0)‖² ≤ 289/400",
        "not proved: that the points",
    ):
        assert words in ran.stdout
    assert "hold" not in ran.stdout.splitlines()[-1]  # one file is not counted
    smaller = json.loads(text)
    smaller["conclusion"]["right"] = "1/2"
    (tmp_path / "false.json").write_text(sealed(smaller), encoding="utf-8")
    (tmp_path / "changed.json").write_text(text.replace("x_0", "x_7"), encoding="utf-8")
    both = driftproof("check", "good.json", "false.json", "changed.json", cwd=tmp_path)
    assert both.returncode == 1
    assert both.stdout.count("PROVED") == 1
    assert both.stdout.count("REFUSED") == 2
    assert "larger by" in both.stdout
    assert "changed after it was written" in both.stdout
    assert both.stdout.splitlines()[-1] == "1 certificate holds, 2 do not"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no certificate"),
        ("{}", "fields are"),
        ("[1]", "fields are"),
        ("\xff", "no certi"),
        ("[" * 100_000, "RecursionError"),
        (None, "No such file"),
    ],
)
def test_what_cannot_be_read_has_status_2(tmp_path, text, said):
    if text is not None:
        (tmp_path / "it.json").write_text(text, encoding="latin-1")
    ran = driftproof("check", "it.json", cwd=tmp_path)
    assert ran.returncode == 2
    assert said in ran.stderr or "utf-8" in ran.stderr
    assert "remedy:" in ran.stderr


def test_a_name_cannot_steer_the_terminal(tmp_path):
    file = json.loads(made("convex").text)
    file["about"] = "harmless\x1b[2J\nPROVED"
    (tmp_path / "it.json").write_text(sealed(file), encoding="utf-8")
    said = driftproof("check", "it.json", cwd=tmp_path).stdout
    assert "\x1b" not in said
    assert "harmless?[2J?PROVED" in said


def test_without_a_new_digest_every_change_is_noticed():
    file = json.loads(made("local steps").text)
    assert file["digest"] == digest(file)
    for changed_file, _ in zip(edits(file, random.Random(0)), range(100), strict=False):
        if changed_file != file:
            assert changed_file["digest"] != digest(changed_file)


def test_what_nothing_bounds_has_no_certificate():
    case = replace(last("convex"), relations=())
    with pytest.raises(DriftproofError):
        certify(case)


PAGE = (Path(__file__).parents[1] / "docs" / "certificates.md").read_text(encoding="utf-8")


def test_the_example_of_the_page(tmp_path):
    text = PAGE.split("```json\n")[1].split("```")[0]
    said = PAGE.split("```console\n")[1].split("```")[0]
    command, expected = said.split("\n", 1)
    assert command == "$ driftproof check descent.json"
    (tmp_path / "descent.json").write_text(text, encoding="utf-8")
    ran = driftproof("check", "descent.json", cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, expected)
    about, *given, conclusion = check(text).said
    shown = [f"  {about}", *(f"    {line}" for line in given), f"  then {conclusion}"]
    assert shown == [line for line in expected.splitlines()[1:-1] if "proved" not in line]
    case, bound = read(text)
    assert solve(case).value == pytest.approx(float(bound), rel=1e-6)


def test_the_squares_of_the_page():
    """‖x_0‖²/6 − … = ‖x_0 − 3/2 (g_0 + g_1)‖²/6 + ‖g_0 − g_1‖²/8, made from the multipliers."""
    case, bound = read(PAGE.split("```json\n")[1].split("```")[0])
    by_pair = {
        (one.name, other.name): condition.quantity(one, other)
        for condition, client, places in case.conditions()
        for one, other in [[case.triples[client][place] for place in places]]
    }
    pairs = (("x*", "x_0"), ("x*", "x_1"), ("x_0", "x_1"))
    total = sum((by_pair[pair] for pair in pairs), GramForm()) / 2
    x, g, h = map(Vector.basis, range(3))
    u, v = x - (g + h) * Fraction(3, 2), g - h
    assert total + x * x / 6 - case.objective == u * u / 6 + v * v / 8
    assert bound == case.relations[0].bound / 6


def test_what_is_written_is_checked_before_it_counts(monkeypatch):
    """A writer that forgets a multiplier gives no certificate, though what it wrote from is one."""
    (case,) = build(
        FedAvg(step_size=1.0),
        [smooth_convex(L=1), start_within(R=1)],
        rounds=1,
        left=gap,
        clients=1,
    )
    proof = certify(case)
    right = Right(str(proof.bound))
    assert check(written.certificate(case, right, proof.multipliers))
    less = dict(list(proof.multipliers.items())[1:])
    with pytest.raises(DriftproofError, match="driftproof check refuses"):
        written.certificate(case, right, less)


@pytest.mark.parametrize(
    ("kind", "letters"),
    [
        ("cocoercive", {"L": "1", "mu": "0"}),
        ("lipschitz", {"L": "1"}),
        ("strongly-monotone", {"mu": "0"}),
        ("normal-cone", {}),
        ("bounded-gradients", {"G": "1"}),
    ],
)
def test_what_says_nothing_of_values_has_none(kind, letters):
    """Any number would do for them, and a statement about it would be nobody's."""
    file = json.loads(made("convex").text)
    (of,) = file["functions"].values()
    of["classes"] = {kind: letters}
    with pytest.raises(ValueError, match="says nothing"):
        check(json.dumps(file))


# -- the conditions of subgradients, of the normals of a set, and of its diameter


def of_two_points(kind, letters, products, right, values=None, **more):
    """Return a file of one function, with points p and q where it has gradients n and m."""
    with_values = ("u", "v") if kind == "convex" else ()
    points = {
        x: {"x": {x: "1"}, "g": {g: "1"}, "f": {f: "1"} if with_values else {}}
        for x, g, f in (("p", "n", "u"), ("q", "m", "v"))
    }
    return {
        "schema": SCHEMA,
        "about": "",
        "vectors": ["p", "q", "n", "m"],
        "values": [*with_values],
        "functions": {"f": {"classes": {kind: letters}, "points": points}},
        "assumptions": {},
        "conclusion": {
            "products": products,
            "values": values or {},
            "constant": "0",
            "right": right,
            "letters": {},
        },
        **more,
    }


def follows(file, *used):
    """Tell whether a certificate with these multipliers is accepted."""
    try:
        check(sealed(file | {"multipliers": used}))
    except RefusedCertificateError:
        return False
    return True


@pytest.mark.parametrize("kind", ["convex", "normal-cone"])
def test_a_gradient_speaks_of_the_other_points_from_its_own(kind):
    """⟨g, x_i − x_j⟩ ≤ 0, or f_i − f_j of a convex function: if g is that at x_j, and else not."""
    values = {"p": "u", "q": "v"}
    for (i, j), g in product(permutations("pq"), "nm"):
        less = {values[j]: "1", values[i]: "-1"} if kind == "convex" else {}
        file = of_two_points(kind, {}, [["1", {g: "1"}, {i: "1", j: "-1"}]], "0", less)
        shown = [follows(file, ["1", kind, "f", *order]) for order in permutations("pq")]
        assert any(shown) == ((j, g) in (("p", "n"), ("q", "m"))), (i, j, g)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_projection_brings_points_nearer_and_no_reflection_does(sign):
    """‖p − q‖ ≤ ‖(p + n) − (q + m)‖ of normals n and m; of p − n and q − m it is false."""
    apart = {"p": "1", "q": "-1"}
    before = apart | {"n": str(sign), "m": str(-sign)}
    products = [["1", apart, apart], ["-1", before, before]]
    file = of_two_points("normal-cone", {}, products, "0")
    both = [["2", "normal-cone", "f", *order] for order in permutations("pq")]
    assert follows(file, *both) == (sign == 1)


@pytest.mark.parametrize("D", ["2", "1/2"])
def test_points_of_a_set_are_within_its_diameter(D):
    """‖p − q‖² ≤ D² follows, and nothing smaller; and a set may have two points D apart."""
    apart = [["1", {"p": "1", "q": "-1"}, {"p": "1", "q": "-1"}]]
    little = fmpq(1, 10**9)
    for right, holds in ((fmpq(D) ** 2, True), (fmpq(D) ** 2 - little, False)):
        file = of_two_points("diameter", {"D": D}, apart, str(right))
        assert follows(file, ["1", "diameter", "f", "p", "q"]) is holds
    file["functions"]["f"]["classes"]["normal-cone"] = {}
    file |= {"schema": COUNTEREXAMPLE, "numbers": {}, "fields": {}}
    inside = {"p": ["0"], "q": [D], "n": ["-1"], "m": ["1"]}
    assert functions_of(sealed(file | {"coordinates": inside})).left == fmpq(D) ** 2
    farther = str(fmpq(D) + little)
    for other, kind in (({"q": [farther]}, "diameter"), ({"n": ["1"], "m": ["-1"]}, "normal-cone")):
        with pytest.raises(RefusedCertificateError, match=f"f is not {kind}"):
            functions_of(sealed(file | {"coordinates": inside | other}))


def test_a_letter_that_is_free_has_no_number():
    """Else "for all D > 0" and "where D = 1" would both be said of one statement."""
    apart = [["1", {"p": "1", "q": "-1"}, {"p": "1", "q": "-1"}]]
    file = of_two_points(
        "diameter", {"D": "D"}, apart, "D**2", schema=THEOREM, region=[["0", "<", "D"]]
    )
    assert follows(file, ["1", "diameter", "f", "p", "q"])
    file["conclusion"]["letters"] = {"D": "1"}
    with pytest.raises(ValueError, match="is free, and has a number"):
        follows(file, ["1", "diameter", "f", "p", "q"])
