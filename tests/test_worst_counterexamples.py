"""Small counterexamples over classes: checked in fractions, and run by the algorithm itself."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from driftproof import bound, smallest
from driftproof.classes import over
from driftproof.synthetic.classes import (
    bounded_gradients,
    monotone_lipschitz,
    similar,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    start_at_minimiser,
    start_gap,
    start_within,
    strongly_convex_concave,
)
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import average, sq
from driftproof.verifiers.judges.worst_cases import measure
from driftproof.verifiers.papers.localsgd.claims._saddles import distance_at_end
from driftproof.verifiers.standalone.of_class import script_of_class
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.tex_of_class import tex_of_class
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.check import RefusedCertificateError
from driftproof.verifiers.worst_case.check_counterexample import functions_of as check
from driftproof.verifiers.worst_case.counterexample import simple
from driftproof.verifiers.worst_case.digest import sealed
from driftproof.verifiers.worst_case.exact import fraction
from driftproof.verifiers.worst_case.expression import ends, evaluate
from driftproof.verifiers.worst_case.linear_operators import curves_above
from driftproof.verifiers.worst_case.solve import solve
from driftproof.verifiers.worst_case.witness import witness
from driftproof.verifiers.worst_case.written import Right, counterexample
from tests.closed_forms import distance, gap
from tests.commands import driftproof
from tests.worst_functions import Interpolant, functions


def gradient(view):
    return average("step", sq(view.gradient(view.mean("w"))))


STRONGLY = smooth_strongly_convex(L=1, mu=0.1)
# how far off the bound is, and the dimension that suffices
RUNS = {
    "descent": ([smooth_convex(L=1), start_within(R=1)], gap, FedAvg(step_size=0.5), 2, 1, 1),
    "contraction": ([STRONGLY, start_within(R=1)], distance, FedAvg(step_size=0.5), 2, 1, 1),
    "not convex": ([smooth(L=1), start_gap(delta=1)], gradient, FedAvg(step_size=0.5), 3, 1, 1),
    "local steps": (
        [STRONGLY, similar(zeta=1), start_within(R=1)], distance,
        FedAvg(local_steps=2, step_size=0.5), 1, 2, 2,
    ),
    "from the minimiser": (
        [STRONGLY, similar(zeta=1), start_at_minimiser()], distance,
        FedAvg(local_steps=2, step_size=0.5), 1, 2, 2,
    ),
    "another scale": (
        [smooth_strongly_convex(L=100, mu=1), similar(zeta=30), start_within(R=5)], distance,
        FedAvg(local_steps=2, step_size=0.01), 1, 2, 2,
    ),
}  # fmt: skip


def found(name, share):
    """Return the program, the solver's answer, a bound that is too small, functions, and a file."""
    classes, left, method, rounds, clients, _ = RUNS[name]
    case = build(method, classes, rounds=rounds, left=left, clients=clients)[-1]
    solved = solve(case)
    bound = Fraction(int(share * solved.value * 10**6), 10**6)
    made = simple(case, solved, bound)
    return case, solved, bound, made, counterexample(case, Right(str(bound)), made)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("name", RUNS)
def test_a_bound_that_is_too_small_has_a_simple_counterexample(name, share):
    _, left, method, rounds, clients, dimension = RUNS[name]
    case, solved, bound, made, text = found(name, share)
    assert bound < made.value <= Fraction(solved.value) * (1 + Fraction(1, 10**6))
    shown = check(text)
    assert shown.dimension <= dimension
    assert shown.said[-1].startswith("but not ")
    assert shown.said[2].startswith("f_0 is ")
    assert all(" = (" in line for line in shown.said[3:5])
    assert fraction(shown.left) == made.value
    # the algorithm itself, on functions that are made from the counterexample
    problem = functions(case, made.solved(solved), clients)
    assert problem.dim <= dimension
    ctx = NoiselessContext(clients, dtype=torch.float64, device="cpu")
    ran = run(problem, method, ctx, rounds=rounds, left=left).values[-1, 0]
    assert ran == pytest.approx(float(made.value), rel=1e-5)
    assert ran > bound or share > 0.99  # the functions are known to some five digits


@pytest.mark.parametrize("name", RUNS)
def test_what_is_shown_does_not_depend_on_how_the_solver_turns_its_answer(name):
    """The same digits from a Gram matrix that was disturbed by what another processor changes."""
    case, solved, bound, made, _ = found(name, 0.9)
    rng = np.random.default_rng(0)
    noise = 1e-10 * np.abs(solved.gram).max() * rng.standard_normal(solved.gram.shape)
    other = replace(solved, gram=solved.gram + noise + noise.T, value=solved.value * (1 + 1e-10))
    again = simple(case, other, bound)
    assert (again.coordinates, again.values) == (made.coordinates, made.values)


def test_the_numbers_are_those_of_a_program_written_by_hand():
    """Gradient descent, twice by 1/2, on the function of one dimension that is found."""
    _, _, bound, made, _ = found("descent", 0.9)
    numbers = dict(
        zip(["x_0", "g_0", "g_1", "g_2"], [row[0] for row in made.coordinates], strict=True)
    )
    x = [numbers["x_0"], numbers["x_0"] - numbers["g_0"] / 2]
    x.append(x[1] - numbers["g_1"] / 2)
    g, f = [0, *(numbers[f"g_{k}"] for k in range(3))], [0, *made.values]
    x = [0, *x]
    f = [0, *made.values[: len(x) - 1]]
    assert abs(x[1]) <= 1
    for i in range(4):
        for j in range(4):
            assert f[i] >= f[j] + g[j] * (x[i] - x[j]) + (g[i] - g[j]) ** 2 / 2
    assert f[3] == made.value > bound


def test_what_is_changed_is_refused():
    """Each number that is given, made larger: another function, or one that does not exceed."""
    text = found("local steps", 0.9)[-1]
    file, refused = json.loads(text), 0
    for name, row in file["coordinates"].items():
        for k in range(len(row)):
            changed = json.loads(text)
            changed["coordinates"][name][k] = str(Fraction(row[k]) + 1)
            with pytest.raises(RefusedCertificateError):
                check(sealed(changed))
            refused += 1
    for name, number in file["numbers"].items():
        changed = json.loads(text)
        changed["numbers"][name] = str(Fraction(number) + 1)
        with pytest.raises(RefusedCertificateError, match=r"is not smooth|the formula of"):
            check(sealed(changed))
        refused += 1
    assert refused == sum(map(len, file["coordinates"].values())) + len(file["numbers"])
    file["conclusion"]["right"] = str(check(text).left)
    with pytest.raises(RefusedCertificateError, match="the conclusion holds"):
        check(sealed(file))


@pytest.mark.parametrize(
    ("name", "share", "bent"),
    [("descent", 0.999, True), ("contraction", 0.9, False), ("from the minimiser", 0.999, False)],
)
def test_functions_of_one_variable_have_formulas(name, share, bent):
    """They exceed the bound in fractions, and no other formula goes with the points."""
    case, _, bound, made, text = found(name, share)
    file = json.loads(text)
    assert {len(row) for row in made.coordinates} == {1}
    assert made.value > bound
    assert any(of["below"] != of["above"] for of in file["fields"].values()) is bent
    for function, field in file["fields"].items():
        for part in ("slope", "below", "above", *["knot"] * bent):
            changed = json.loads(text)
            changed["fields"][function][part] = str(Fraction(field[part]) + 1)
            with pytest.raises(RefusedCertificateError, match="the formula of"):
                check(sealed(changed))
    # a client's gradient is what the formula says, by a formula of the test's own
    for client, triples in enumerate(case.triples):
        s, p, q, k = map(Fraction, file["fields"][f"f_{client}"].values())
        for t in triples:
            x, g = (
                sum(c * made.coordinates[j][0] for j, c in of.coefficients.items())
                for of in (t.point, t.gradient)
            )
            assert g == (s + p * x if x <= k else s + p * k + q * (x - k))


def test_the_smallest_of_rounds_has_functions_of_one_variable():
    """x_0 = 1 is a fixed point for x²/2 + 3x and −3x; the three dimensions before had 123 lines."""

    def best(view):
        return smallest("round", view.gap(view.mean("w")))

    classes, two_steps = RUNS["descent"][0], FedAvg(local_steps=2, step_size=0.5)
    (case,) = build(two_steps, classes, rounds=4, left=best, clients=2)
    made = simple(case, solve(case), Fraction(1, 8))
    assert check(counterexample(case, Right("1/8"), made)).dimension == 1
    unbounded = replace(case, relations=case.relations[:1])  # m may be any number
    assert curves_above(unbounded, Fraction(1, 8)) is None


@pytest.mark.parametrize("eta", [1.0, 0.5])
def test_clients_that_nothing_relates_have_functions_of_one_variable(eta):
    """At ζ = 2 or 4; functions of two variables exceed the right side at ζ = 1."""
    two_steps = FedAvg(local_steps=2, step_size=eta)
    claim = bound(
        name="tests/contraction",
        source="tests",
        statement="x",
        classes=over(RUNS["contraction"][0], two_steps, rounds=1, clients=2),
        right=lambda c: (1 - c.eta * c.mu) ** c.tau * c.R**2,
    )(distance)
    made = measure(claim, claim.classes[0], claim.forms)["comparisons"]
    assert made[-1]["forms"]["printed"]["dimension"] == 1


def test_a_script_and_a_text_name_formulas(monkeypatch, capsys):
    """Of twelve local steps too; and neither says what is false of them."""
    twelve = FedAvg(local_steps=12, step_size=0.2)
    monkeypatch.setitem(RUNS, "twelve", (*RUNS["local steps"][:2], twelve, 1, 2, 1))
    made, text = found("twelve", 0.5)[-2:]
    claim = SimpleNamespace(name="mine", source="a draft", statement="a \\le b")
    script = script_of_class("mine", "printed", text)
    assert len(script.splitlines()) <= 60
    exec(script, scope := {})
    assert (scope["left"], "REFUTED" in capsys.readouterr().out) == (made.value, True)
    assert "f_{2}'(x) &= x + 1" in tex_of_class(claim, "printed", text)
    for said, change in {
        "it is not of its class": lambda of: of["fields"]["f_0"].update(above="9"),
        "not met: gradients at x": lambda of: of["fields"]["f_0"].update(slope="1"),
        "not met: start": lambda of: of["assumptions"]["start"].update(at_most="1/9"),
        "^$": lambda of: of["conclusion"].update(right="9"),
    }.items():
        change(file := json.loads(text))
        with pytest.raises(AssertionError, match=said):
            exec(script_of_class("mine", "printed", json.dumps(file)), {})
    with pytest.raises(NoScriptError, match="not above the right side"):
        tex_of_class(claim, "printed", json.dumps(file))


def test_classes_whose_conditions_do_not_suffice_have_linear_fields_alone():
    classes = [monotone_lipschitz(L=1, mu=0.5), start_within(R=1)]
    case = build(FedAvg(step_size=0.3), classes, rounds=1, left=distance, clients=1)[-1]
    solved = solve(case)
    shown = simple(case, solved, Fraction(1, 10))  # but linear fields of the class, of few digits
    assert [of["matrix"][0] for of in shown.fields] == [["1/2", "4/5"]]
    made = json.loads(found("contraction", 0.9)[-1])
    made["functions"]["f_0"]["classes"] = {"lipschitz": {"L": "1"}}
    made["fields"] = {}
    for point in made["functions"]["f_0"]["points"].values():
        point["f"] = {}  # operators have no values
    with pytest.raises(RefusedCertificateError, match="do not suffice"):
        check(sealed(made))


def test_a_linear_field_is_checked_by_its_matrix():
    """Of monotone operators the file has a field; every other number in it is refused."""
    classes = [monotone_lipschitz(L=2, mu=0.5), start_within(R=1)]
    case = build(FedAvg(step_size=0.3), classes, rounds=1, left=distance, clients=1)[-1]
    text = counterexample(case, Right("9/10"), witness(case, solve(case)))
    shown = check(text)
    assert float(shown.left) == pytest.approx(1 - 2 * 0.3 * 0.5 + 0.6**2, rel=1e-9)
    for kind, letter, value in (
        ("strongly-monotone", "mu", "51/100"),
        ("lipschitz", "L", "199/100"),
    ):
        file = json.loads(text)
        file["functions"]["A_0"]["classes"][kind][letter] = value
        with pytest.raises(RefusedCertificateError, match=f"not {kind}"):
            check(sealed(file))
    several = [monotone_lipschitz(L=2, mu=0.5), similar(zeta=1), start_at_minimiser()]
    local = FedAvg(local_steps=2, step_size=0.3)
    (apart,) = build(local, several, rounds=1, left=distance, clients=2)
    of_two = counterexample(apart, Right("0"), witness(apart, solve(apart)))
    assert {shift for f in json.loads(of_two)["fields"].values() for shift in f["shift"]} > {"0"}
    assert check(of_two).left > 0
    for part in ("matrix", "shift"):
        for row in range(2):
            file = json.loads(text)
            entries = file["fields"]["A_0"][part]
            if part == "matrix":
                entries[row][0] = str(Fraction(entries[row][0]) - Fraction(1, 10**20))
            else:
                entries[row] = "1"
            with pytest.raises(RefusedCertificateError):
                check(sealed(file))
    file = json.loads(text)
    file["fields"] = {}
    with pytest.raises((RefusedCertificateError, ValueError)):
        check(sealed(file))


BOUNDED = {
    "schema": "driftproof counterexample 2", "about": "", "vectors": ["x", "g", "h"],
    "values": [], "functions": {"f": {
        "classes": {"bounded-gradients": {"G": "1"}},
        "points": {"one": {"x": {"x": "1"}, "g": {"g": "1"}, "f": {}},
                   "two": {"x": {}, "g": {"h": "1"}, "f": {}}},
    }},
    "assumptions": {},
    "conclusion": {"products": [["1", {"g": "1", "h": "-1"}, {"g": "1", "h": "-1"}]], "values": {},
                   "constant": "0", "right": "3", "letters": {}},
    "coordinates": {"x": ["1"], "g": ["1"], "h": ["-1"]}, "numbers": {}, "fields": {},
}  # fmt: skip
"""Two gradients of length 1 that are 2 apart."""


def test_bounded_gradients_are_those_of_some_function():
    """Any at distinct points, but one at one point; and values have to fit, which is not known."""
    assert check(sealed(BOUNDED)).left == 4
    file = json.loads(sealed(BOUNDED))
    file["coordinates"]["x"] = ["0"]
    with pytest.raises(RefusedCertificateError, match="two gradients at one point"):
        check(sealed(file))
    file["functions"]["f"]["points"]["three"] = {"x": {"g": "1"}, "g": {"g": "1"}, "f": {}}
    with pytest.raises(RefusedCertificateError, match="two gradients at one point"):
        check(sealed(file))
    file["coordinates"] |= {"g": ["1", "0"], "h": ["1", "0"], "x": ["0", "0"]}
    file["conclusion"] |= {"right": "-1"}
    assert check(sealed(file)).left == 0
    with pytest.raises(TypeError):
        check(sealed({**BOUNDED, "vectors": "xgh"}))
    file = json.loads(sealed(BOUNDED))
    file["coordinates"]["g"] = ["2"]
    with pytest.raises(RefusedCertificateError, match="is not bounded-gradients"):
        check(sealed(file))
    file = json.loads(sealed(BOUNDED))
    file |= {"values": ["F"], "numbers": {"F": "9"}}
    file["conclusion"]["values"] = {"F": "1"}
    with pytest.raises(RefusedCertificateError, match="do not suffice"):
        check(sealed(file))


def test_a_field_of_two_variables_is_that_of_a_function():
    """In the plane: x-vectors lie on one axis, y-vectors on the other, and D·M is symmetric."""
    classes = [strongly_convex_concave(L=2, mu=0.5), start_within(R=1)]
    method = FedAvgS(inner_step_size=0.3, outer_step_size=0.3)
    case = build(method, classes, rounds=1, left=distance_at_end, clients=1)[-1]
    text = counterexample(case, Right("9/10"), witness(case, solve(case)))
    shown = check(text)
    assert float(shown.left) == pytest.approx(1 - 2 * 0.3 * 0.5 + 0.6**2, rel=1e-9)
    told = [line for line in shown.states.said[1:-1] if not line.startswith("  at ")]
    assert any("orthogonal" in line for line in told)
    assert any(line.startswith("start: ") for line in told)
    assert set(told) < set(shown.said)
    file = json.loads(text)
    y_0 = file["coordinates"]["y_0"]
    for changed in (["1/9", y_0[1]], ["1/9", "0"]):
        file["coordinates"]["y_0"] = changed
        with pytest.raises(RefusedCertificateError):
            check(sealed(file))
    # (x, y) ↦ (x, y − x) is the field of no function; the other two are of −xy, and of x² − y²
    ending = {**BOUNDED["conclusion"], "right": "-1", "products": [["1", {"g": "1"}, {"g": "1"}]]}
    of = {
        "classes": {"strongly-monotone": {"mu": "0"}, "lipschitz": {"L": "2"}},
        "points": {"z": {"x": {"x": "1", "y": "1"}, "g": {"g": "1", "h": "1"}, "f": {}}},
    }
    plain = {
        **BOUNDED,
        "vectors": {"x": ["x", "g"], "y": ["y", "h"]},
        "functions": {"A": of},
        "conclusion": ending,
    }
    axes = {"x": ["1", "0"], "y": ["0", "1"]}
    for matrix, (g, h), good in (
        ([["0", "-1"], ["1", "0"]], ["-1", "1"], True),
        ([["1", "0"], ["-1", "1"]], ["1", "0"], False),
        ([["1", "0"], ["0", "1"]], ["1", "1"], True),
    ):
        plain["fields"] = {"A": {"matrix": matrix, "shift": ["0", "0"]}}
        plain["coordinates"] = {**axes, "g": [g, "0"], "h": ["0", h]}
        if good:
            assert check(sealed(plain)).dimension == 2
        else:
            with pytest.raises(RefusedCertificateError, match="that of a function"):
                check(sealed(plain))
    nowhere = ["0", "0"]
    for g, h, entry in ((["1", "1"], ["1", "-1"], "1"), (nowhere, nowhere, "0")):
        plain["fields"]["A"]["matrix"] = [[entry, "0"], ["0", entry]]
        plain["coordinates"] = {"x": ["1", "1"], "y": ["1", "-1"], "g": g, "h": h}
        with pytest.raises(RefusedCertificateError, match="a coordinate of both spaces"):
            check(sealed(plain))
    # of (x, y, z) with x on the first axis: −y²/2 − yz − z²/2, and what only one pair forbids
    plain["coordinates"] = {"x": ["1", "0", "0"], "y": ["0", "1", "0"]}
    plain["coordinates"] |= {"g": ["0", "0", "0"], "h": ["0", "1", "1"]}
    together = [["0", "0", "0"], ["0", "1", "1"], ["0", "1", "1"]]
    plain["fields"] = {"A": {"matrix": together, "shift": ["0", "0", "0"]}}
    assert check(sealed(plain)).dimension == 3
    plain["fields"]["A"]["matrix"] = [["1", "0", "1"], ["0", "1", "0"], ["1", "0", "1"]]
    plain["coordinates"] |= {"g": ["1", "0", "0"], "h": ["0", "1", "1"]}
    with pytest.raises(RefusedCertificateError, match="that of a function"):
        check(sealed(plain))


def test_several_smooth_functions_have_none_where_values_are_spoken_of():
    """Of the infimum of a mean nothing is known; of gradients alone the conditions suffice."""
    text = found("not convex", 0.9)[-1]
    file = json.loads(text)
    file["functions"]["f_1"] = {**file["functions"]["f_0"], "points": {}}
    with pytest.raises(RefusedCertificateError, match="do not suffice"):
        check(sealed(file))


def test_an_equality_has_to_hold():
    file = json.loads(found("contraction", 0.9)[-1])
    start = file["assumptions"]["start"]
    start["equals"] = str(Fraction(start.pop("at_most")) / 2)
    with pytest.raises(RefusedCertificateError, match="assumption start"):
        check(sealed(file))


def test_what_lies_in_the_enclosure_of_an_irrational_right_side_does_not_exceed_it():
    """√2 is known to 2^−500 or so; a number above the lower end and below √2 is no more than √2."""
    low, high = ends(evaluate("sqrt(2)", {}))
    below = next(x for k in count(1) if (x := low + (high - low) / 2**k) ** 2 < 2)
    assert low < below
    file = BOUNDED | {"vectors": ["x"], "values": ["F"], "functions": {}}
    file["coordinates"] = {"x": ["0"]}
    file["conclusion"] = BOUNDED["conclusion"] | {
        "products": [],
        "values": {"F": "1"},
        "right": "sqrt(2)",
    }
    for left in (below, high):
        with pytest.raises(RefusedCertificateError, match="the conclusion holds"):
            check(sealed(file | {"numbers": {"F": str(left)}}))
    above = high + (high - low)
    assert check(sealed(file | {"numbers": {"F": str(above)}})).left == above


def test_both_orders_of_a_pair_count():
    """f(x_0) = 2 with a gradient of 0: f is above its minimum, which only one order says."""
    file = json.loads(found("descent", 0.9)[-1])
    file["fields"], name = {}, next(n for n in file["numbers"] if n.endswith("(x_0)"))
    for value in ("2", "-2"):
        file["numbers"][name] = value
        with pytest.raises(RefusedCertificateError, match="is not smooth-convex"):
            check(sealed(file))


def test_the_command_shows_it_and_tells_what_was_changed(tmp_path):
    text = found("local steps", 0.9)[-1]
    path = tmp_path / "c.json"
    path.write_text(text, encoding="utf-8")
    shown = driftproof("check", str(path))
    assert shown.returncode == 0
    assert "COUNTEREXAMPLE\n  (said of it" in shown.stdout
    assert f"in dimension {check(text).dimension} there are functions" in shown.stdout
    assert "x_1 = x_0 − 1/2 ∇f_0(x_0) = (" in shown.stdout
    assert "at x_0 = x_0 = (" not in shown.stdout
    assert "driftproof" not in shown.stderr
    path.write_text(text.replace("counterexample 2", "counterexample 1"), encoding="utf-8")
    assert driftproof("check", str(path)).returncode == 2
    file = json.loads(text)
    file["about"] = "something else"
    path.write_text(json.dumps(file), encoding="utf-8")
    assert "it was changed after it was written" in driftproof("check", str(path)).stdout


def test_coordinates_and_values_have_few_digits():
    made = found("contraction", 0.5)[3]
    numbers = [x for row in made.coordinates for x in row] + list(made.values)
    assert all(x.denominator <= 10**6 for x in numbers)
    assert np.isfinite(np.array(numbers, dtype=float)).all()


@pytest.mark.parametrize("constants", [("1", "-5"), ("-1", "-2"), ("1", "2"), ("0", "0")])
def test_constants_of_no_function_are_refused(constants):
    made = json.loads(found("contraction", 0.9)[-1])
    for function in made["functions"].values():
        function["classes"] = {"smooth-strongly-convex": {"L": constants[0], "mu": constants[1]}}
    with pytest.raises((ValueError, ArithmeticError)):
        check(sealed(made))


def test_vectors_of_several_spaces_have_to_be_orthogonal():
    made = json.loads(found("local steps", 0.9)[-1])
    made["vectors"] = {"x": made["vectors"][:1], "y": made["vectors"][1:]}
    with pytest.raises(RefusedCertificateError, match="not orthogonal"):
        check(sealed(made))


# -- functions made from a worst case: they are of their class, and the algorithm itself is as bad


TOO_LONG = ([STRONGLY, start_within(R=1)], distance, FedAvg(step_size=1.9), 2, 1, 1)
OF_CLASS = {**RUNS, "too long a step": TOO_LONG}


def worst(name):
    """Return the functions that a program's solution gives."""
    classes, left, method, rounds, clients, _ = OF_CLASS[name]
    case = build(method, classes, rounds=rounds, left=left, clients=clients)[-1]
    return functions(case, solve(case), clients)


@pytest.mark.parametrize("name", OF_CLASS)
def test_they_are_of_their_class(name):
    """At random points, far from the triples too: every pair meets the interpolation condition."""
    problem = worst(name)
    random = np.random.default_rng(0)
    for f in problem.functions:
        points = random.normal(size=(12, problem.dim)) * 2
        known = [(x, *f(x)) for x in (*points, *f.points)]
        for x, fx, gx in known:
            for y, fy, gy in known:
                d, e = x - y, gx - gy
                rise = (e @ e + f.L * f.mu * d @ d - 2 * f.mu * e @ d) / (2 * (f.L - f.mu))
                scale = 1 + abs(fx) + abs(fy)
                assert fx >= fy + gy @ d + rise - 1e-6 * scale


@pytest.mark.parametrize("name", OF_CLASS)
def test_they_take_the_triples(name):
    problem = worst(name)
    for f in problem.functions:
        for x, g, value in zip(f.points, f.gradients, f.values, strict=True):
            made, slope = f(x)
            size = max(1.0, np.abs(f.gradients).max())
            assert made == pytest.approx(value, abs=1e-4 * size)
            assert np.abs(slope - g).max() < 1e-3 * size


def test_the_gradient_is_the_value_s():
    problem = worst("local steps")
    f, x = problem.functions[0], np.full(problem.dim, 0.3)
    for j in range(problem.dim):
        step = np.zeros(problem.dim)
        step[j] = 1e-4
        slope = (f(x + step)[0] - f(x - step)[0]) / 2e-4
        assert slope == pytest.approx(f(x)[1][j], abs=1e-4)


def test_one_triple_gives_a_parabola():
    f = Interpolant(np.array([[1.0]]), np.array([[2.0]]), np.array([5.0]), 4.0, 1.0)
    value, gradient = f(np.array([2.0]))
    assert value == pytest.approx(5 + 2 + 4 / 2)
    assert gradient[0] == pytest.approx(2 + 4)


@pytest.mark.parametrize(
    "classes",
    [
        [monotone_lipschitz(1, 0.1), start_within(1)],
        [bounded_gradients(smooth_convex(1), 1), start_within(1)],
    ],
)
def test_classes_with_necessary_conditions_alone_have_none(classes):
    case = build(FedAvg(step_size=0.1), classes, rounds=1, left=distance, clients=1)[-1]
    with pytest.raises(DriftproofError, match="suffice"):
        functions(case, solve(case), 1)


def test_functions_that_need_not_be_convex_are_bounded_below_as_they_should_be():
    classes = [smooth(1), start_gap(1)]
    case = build(FedAvg(step_size=0.5), classes, rounds=2, left=gradient, clients=1)[-1]
    solved = solve(case)
    problem = functions(case, solved, 1)
    (f,) = problem.functions
    ctx = sampled_context(problem, ("worst",), replicates=1)
    made = run(problem, FedAvg(step_size=0.5), ctx, rounds=2, left=gradient)
    assert made.values[-1, 0] == pytest.approx(solved.value, rel=1e-4)
    assert f.mu == -f.L == -1
    least = (f.values - (f.gradients**2).sum(1) / 2).min()
    assert least == pytest.approx(0, abs=1e-5)
    around = np.linspace(-6, 6, 241)[:, None] * np.eye(problem.dim)[0]
    assert all(f(x)[0] >= least - 1e-6 for x in around)


def test_several_functions_that_need_not_be_convex_have_none():
    case = build(FedAvg(step_size=0.5), [smooth(1), start_gap(1)], rounds=1, left=gradient)[-1]
    with pytest.raises(DriftproofError, match="suffice"):
        functions(case, solve(case), 2)


def test_a_bound_on_values_is_refuted_on_a_parabola_as_far_out_as_it_allows():
    """x_0 = 1 is far inside F(x_0) − F* ≤ 1 of a flat parabola: two dimensions were told."""
    classes = [smooth_strongly_convex(L=1, mu=0.01), start_gap(delta=1)]
    (case,) = build(FedAvg(step_size=1.0), classes, rounds=4, left=gap, clients=1)
    made = simple(case, solve(case), Fraction("0.6561"))  # (1 − √μ)⁴ of Nesterov's bound
    assert check(counterexample(case, Right("6561/10000"), made)).dimension == 1
    assert made.value > Fraction("0.922")  # 0.99⁸ is the worst, of x²/200
