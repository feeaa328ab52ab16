"""Certificates of worst cases: what is proved, that changed ones are refused, the exact LDLᵀ."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from synthetic.classes.conditions import Condition, Constraint, FunctionClass, Triple
from synthetic.classes.functions import (
    _interpolation,
    bounded_gradients,
    cocoercive,
    monotone_lipschitz,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    strongly_convex_concave,
)
from synthetic.classes.relations import (
    shared_minimiser,
    similar,
    start_anywhere,
    start_gap,
    start_within,
)
from tests.commands import driftproof
from toolkit.algorithms.fedavg import FedAvg
from toolkit.algorithms.fedavg_s import FedAvgS
from toolkit.algorithms.scaffold import Scaffold
from toolkit.errors import DriftproofError
from toolkit.measure import each, sq
from toolkit.spans.exact import Quantity, Second, Vector
from verifiers.claims.localsgd._saddles import distance_at_end
from verifiers.claims.localsgd.scaffold import lyapunov as of_scaffold
from verifiers.worst_case import certificate
from verifiers.worst_case.builder import build
from verifiers.worst_case.certificate import certify, squares
from verifiers.worst_case.check import RefusedCertificateError, check, positive_semidefinite
from verifiers.worst_case.digest import digest, sealed
from verifiers.worst_case.program import matrices
from verifiers.worst_case.record import WorstCase
from verifiers.worst_case.solve import solve

UNREADABLE = (ArithmeticError, LookupError, TypeError, ValueError)


def distance(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser))


def gap(view):
    return each("round", "local_step", view.gap(view.mean("w")))


def gradient(view):
    return each("round", "local_step", sq(view.gradient(view.mean("w"))))


NEAR = start_within(1)
LOCAL = FedAvg(local_steps=2, step_size=0.1)
RUNS = {
    "convex": (FedAvg(step_size=1.0), [smooth_convex(1), NEAR], 1, gap, 1),
    "convex, three steps": (FedAvg(step_size=1.0), [smooth_convex(1), NEAR], 3, gap, 1),
    "convex, another scale": (
        FedAvg(step_size=0.001), [smooth_convex(1000), start_within(30)], 1, gap, 1
    ),
    "strongly convex": (
        FedAvg(step_size=1.5), [smooth_strongly_convex(1, 0.1), NEAR], 1, distance, 1
    ),
    "nonconvex": (FedAvg(step_size=0.5), [smooth(1), start_gap(1)], 2, gradient, 1),
    "local steps": (
        LOCAL, [smooth_strongly_convex(1, 0.1), similar(1), NEAR], 1, distance, 2
    ),
    "operator": (FedAvg(step_size=0.1), [monotone_lipschitz(1, 0.1), NEAR], 1, distance, 1),
    "fixed point": (FedAvg(step_size=0.75), [cocoercive(2), NEAR], 3, gradient, 1),
    "bounded gradients": (
        LOCAL, [bounded_gradients(smooth_convex(1), 0.25), NEAR], 1, gap, 1
    ),
    "two variables": (
        FedAvgS(local_steps=2, inner_step_size=0.1, outer_step_size=0.1),
        [strongly_convex_concave(1, 0.1), shared_minimiser(), NEAR], 1, distance_at_end, 1,
    ),
    "any state": (
        Scaffold(local_steps=2, step_size=0.075),
        [smooth_strongly_convex(1, 0.1), start_anywhere(1, 0.0075)], 1, of_scaffold.left, 2,
    ),
}  # fmt: skip
KNOWN = {
    "convex": Fraction(1, 6),  # L R²/(4N + 2), Drori & Teboulle 2014
    "convex, three steps": Fraction(1, 14),
    "convex, another scale": Fraction(1000 * 30**2, 6),
    "strongly convex": Fraction(85, 100) ** 2,  # max(|1 − ημ|, |1 − ηL|)²
    "fixed point": Fraction(9, 16),  # Lieder 2018, of T = I − A: 1/(n + 1)·(n/(n + 1))^n/(γ(1 − γ))
    "two variables": Fraction(99, 100) ** 2,
    "operator": 1 - 2 * Fraction(1, 100) + Fraction(1, 100),  # 1 − 2ημ + η²L²
}


def last(name):
    """Return the program of the run's last comparison."""
    algorithm, classes, rounds, left, clients = RUNS[name]
    return build(algorithm, classes, rounds=rounds, left=left, clients=clients)[-1]


@pytest.fixture(scope="module")
def made():
    """Return a function that makes a run's certificate once."""
    known = {}

    def certificate(name):
        if name not in known:
            case = last(name)
            solved = solve(case)
            known[name] = case, solved, certify(case, solved)
        return known[name]

    return certificate


@pytest.mark.parametrize("name", RUNS)
def test_the_proved_bound_is_the_worst_case(name, made):
    _, solved, certificate = made(name)
    said = check(certificate.text)
    assert str(certificate.bound) in said[-1]
    value = float(KNOWN.get(name, solved.value))
    assert abs(solved.value - value) < 1e-6 * value
    below = 1e-15 if name in KNOWN else 1e-6  # the solver's own value is not exact
    assert value * (1 - below) <= float(certificate.bound) <= value * (1 + 1e-6)


def test_small_fractions_prove_the_value_itself(made):
    """Where the multipliers are unique; of many the solver takes the middle."""
    assert made("operator")[2].bound == Fraction(99, 100)
    assert made("convex")[2].bound < Fraction(1, 6) * (1 + Fraction(1, 10**8))


def read(text):
    """Return the program that a certificate speaks of, and its bound: without the checker."""
    file = json.loads(text)

    names, second = file["vectors"], []
    if isinstance(names, dict):
        second = names["y"]
        names = names["x"] + second

    def vector(written):
        numbers = {n: (Second if n in second else int)(names.index(n)) for n in written}
        return Vector({numbers[n]: Fraction(c) for n, c in written.items()})

    def quantity(written):
        total = Quantity({}, {file["values"].index(n): Fraction(c)
                              for n, c in written["values"].items()})  # fmt: skip
        for c, u, v in written["products"]:
            total = total + vector(u) * vector(v) * Fraction(c)
        return total

    classes, triples = [], []
    for number, function in enumerate(file["functions"].values()):
        conditions, parameters = [], {}
        for kind, written in function["classes"].items():
            constants = {c: Fraction(x) for c, x in written.items()}
            conditions += conditions_of(kind, **constants)
            parameters |= constants
        classes.append(FunctionClass("read", parameters, tuple(conditions)))
        triples.append(tuple(
            Triple(number, vector(t["x"]), vector(t["g"]),
                   quantity({"products": [], "values": t["f"]}), at)
            for at, t in function["points"].items()
        ))  # fmt: skip
    relations = tuple(
        Constraint(name, quantity(written), Fraction(written.get("at_most", written.get("equals"))),
                   "equals" in written)
        for name, written in file["assumptions"].items()
    )  # fmt: skip
    case = WorstCase(
        tuple(names), tuple(file["values"]), tuple(classes), tuple(triples), relations,
        quantity(file["conclusion"]), {}, second=tuple(n in second for n in names),
    )  # fmt: skip
    return case, Fraction(file["conclusion"]["at_most"])


def conditions_of(kind, L=Fraction(1), mu=Fraction(0), G=None):
    """Return the conditions of ``synthetic.classes``, which the checker does not use."""
    monotone, lipschitz = monotone_lipschitz(1, 1).conditions
    square = ("difference", "difference")
    return {
        "smooth": lambda: [_interpolation(L, -L)],
        "smooth-convex": lambda: [_interpolation(L, Fraction(0))],
        "smooth-strongly-convex": lambda: [_interpolation(L, mu)],
        "bounded-gradients": lambda: [
            Condition("", {("one", "one"): Fraction(1)}, bound=G**2, of="triples")
        ],
        "strongly-monotone": lambda: [
            replace(monotone, products={**monotone.products, square: mu})
        ],
        "cocoercive": lambda: list(cocoercive(L, mu).conditions),
        "lipschitz": lambda: [replace(lipschitz, products={**lipschitz.products, square: -L * L})],
    }[kind]()


@pytest.mark.parametrize("name", RUNS)
def test_a_certificate_states_the_program_that_was_solved(name, made):
    """Read back by another route, it has the same matrices, to rounding in doubles."""
    case, _, certificate = made(name)
    ours, theirs = matrices(case), matrices(read(certificate.text)[0])
    for part in ("gram", "values", "bounds"):
        key = np.concatenate([getattr(ours, part).reshape(len(ours.bounds), -1)], 1)
        other = np.concatenate([getattr(theirs, part).reshape(len(ours.bounds), -1)], 1)
        assert np.allclose(np.sort(key.sum(1)), np.sort(other.sum(1)), atol=1e-12)
    spaces = np.argsort(case.second or [False] * len(case.vectors), kind="stable")  # x, then y
    (gram, values), (their_gram, their_values) = ours.objective, theirs.objective
    assert np.allclose(gram[np.ix_(spaces, spaces)], their_gram, atol=1e-12)
    assert np.allclose(values, their_values, atol=1e-12)


def numbers(part, path=()):
    """Yield the paths of all fractions of a certificate, and of the points of multipliers."""
    items = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from numbers(value, (*path, key))
        elif path and path[0] in ("functions", "assumptions", "conclusion", "multipliers"):
            yield (*path, key)


def at(file, path):
    """Return what holds the last key of a path."""
    for key in path[:-1]:
        file = file[key]
    return file


def mutations(file):
    """Yield what was changed, and the file, with one number or one index of a point changed."""
    for path in numbers(file):
        old = at(file, path)[path[-1]]
        if path[0] == "multipliers" and path[-1] > 0:
            if path[-1] < 3 or file["multipliers"][path[1]][1] == "assumption":
                continue
            function = file["multipliers"][path[1]][2]
            new = [p for p in file["functions"][function]["points"] if p != old]
        else:
            value = Fraction(old)
            unit = Fraction(1, value.denominator)
            new = [str(x) for x in (value + unit, value - unit, -value) if x != value]
        for changed in new:
            made = copy.deepcopy(file)
            at(made, path)[path[-1]] = changed
            yield (path, old, changed), made


def true(case, bound):
    """Tell by the solver whether a bound holds; nothing may meet the conditions at all."""
    try:
        return solve(case).value <= float(bound) + 1e-6 * max(1.0, abs(float(bound)))
    except DriftproofError as error:
        return "PrimalInfeasible" in error.got


def weaker(file, made):
    """Tell whether what is stated changed in nothing but a larger bound."""
    kept = {key: value for key, value in file.items() if key not in ("multipliers", "digest")}
    same = {key: value for key, value in made.items() if key not in ("multipliers", "digest")}
    kept, same = copy.deepcopy(kept), copy.deepcopy(same)
    bound, now = (Fraction(x["conclusion"].pop("at_most")) for x in (kept, same))
    return kept == same and now >= bound


@pytest.mark.parametrize("name", [n for n in RUNS if n != "convex, three steps"])
def test_a_changed_certificate_is_refused_or_proves_what_is_true(name, made):
    """Each number is changed alone, and the digest is made anew.

    What the checker still takes is the same statement by other multipliers, which a margin leaves
    room for, or a larger bound, or a statement whose worst case the solver confirms: a condition
    with a stricter right side, say, or a point that no multiplier speaks of.
    """
    file = json.loads(made(name)[2].text)
    taken, refused = [], 0
    for what, changed in mutations(file):
        try:
            check(sealed(changed))
        except (RefusedCertificateError, *UNREADABLE):
            refused += 1
        else:
            taken.append((what, changed))
    assert refused > 2 * len(taken)
    for what, changed in taken:
        if not weaker(file, changed):
            assert true(*read(sealed(changed))), what


@pytest.mark.parametrize("name", ["convex", "local steps"])
def test_the_bound_the_class_and_every_multiplier_count(name, made):
    """Negative control: the changes that would make a false statement are all refused."""
    file = json.loads(made(name)[2].text)
    for what, changed in mutations(file):
        path, old, new = what
        false = (
            (path[0] == "conclusion" and path[-1] == "at_most" and Fraction(new) < Fraction(old))
            or (path[0] == "multipliers" and path[-1] == 0 and Fraction(new) < 0)
            or (
                path[0] == "assumptions" and path[-1] == "at_most" and Fraction(new) > Fraction(old)
            )
            or (path[-1] == "L" and Fraction(new) > Fraction(old))
        )
        if false:
            with pytest.raises(RefusedCertificateError):
                check(sealed(changed))


@pytest.mark.parametrize("name", RUNS)
def test_without_a_new_digest_every_change_is_noticed(name, made):
    file = json.loads(made(name)[2].text)
    assert file["digest"] == digest(file)
    assert all(changed["digest"] != digest(changed) for _, changed in mutations(file))


def test_every_multiplier_is_needed(made):
    """Left out, one after another."""
    file = json.loads(made("convex")[2].text)
    for place in range(len(file["multipliers"])):
        made_of = {**file, "multipliers": [m for k, m in enumerate(file["multipliers"])
                                           if k != place]}  # fmt: skip
        with pytest.raises(RefusedCertificateError):
            check(sealed(made_of))


def test_an_equality_may_have_a_multiplier_below_zero():
    """‖x_0‖² = 1, and the least ‖x_0‖²: −‖x_0‖² ≤ −1 needs the multiplier −1."""
    case = replace(last("operator"), objective=-(Vector.basis(0) * Vector.basis(0)))
    start = replace(case.relations[0], equality=True)
    made = certify(replace(case, relations=(start,)))
    assert made.bound == -1
    check(made.text)
    with pytest.raises(RefusedCertificateError, match="below 0"):
        check(made.text.replace('"equals"', '"at_most"'))


def written(**changed):
    """Return a certificate of f(x_1) ≤ 1/6, with some parts changed."""
    file = json.loads(certify(last("convex")).text)
    for path, value in changed.items():
        keys = path.split("__")
        at(file, keys)[keys[-1]] = value
    return sealed(file)


@pytest.mark.parametrize(
    "changed",
    [
        {"schema": "driftproof worst case 2"},
        {"functions__f_0__classes": {"smooth-convex": {"L": "1", "mu": "0"}}},
        {"functions__f_0__classes": {"smooth-convex": {}}},
        {"functions__f_0__classes": {"harmless": {}}},
        {"functions__f_0__classes": {"smooth-strongly-convex": {"L": "1", "mu": "1"}}},
        {"multipliers": [["1", "smooth-convex", "f_0", "x_0"]]},
        {"multipliers": [["1", "smooth-convex", "f_0", "x_0", "x_1", "x*"]]},
        {"multipliers": [["1", "smooth", "f_0", "x_0", "x_1"]]},
        {"multipliers": [["1.0", "assumption", "start"]]},
        {"multipliers": [[1, "assumption", "start"]]},
        {"multipliers": [["1/0", "assumption", "start"]]},
        {"multipliers": [["1", "assumption", "another"]]},
        {"conclusion__values": {"f_0(x_9)": "1"}},
        {"conclusion__products": [["1", {"x_9": "1"}, {"x_0": "1"}]]},
        {"conclusion": {}},
        {"assumptions": {"start": {"products": [], "values": {}, "at_least": "1"}}},
        {"vectors": 3},
    ],
    ids=str,
)
def test_what_is_no_certificate_is_not_read(changed):
    with pytest.raises(UNREADABLE):
        check(written(**changed))


def test_a_condition_of_one_point_is_not_one_of_two():
    """‖g_j − g_i‖ ≤ G does not follow from bounded gradients."""
    text = certify(last("bounded gradients")).text
    file = json.loads(text)
    place = next(k for k, m in enumerate(file["multipliers"]) if m[1] == "bounded-gradients")
    file["multipliers"][place].append("x*")
    with pytest.raises(TypeError):
        check(sealed(file))


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
    rows = draw(st.lists(st.lists(FRACTIONS, min_size=rank, max_size=rank),
                         min_size=size, max_size=size))  # fmt: skip
    matrix = [[sum((a * b for a, b in zip(u, v, strict=True)), fmpq(0)) for v in rows]
              for u in rows]  # fmt: skip
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


def test_edges_of_definiteness():
    one, zero = fmpq(1), fmpq(0)
    assert positive_semidefinite([])
    assert positive_semidefinite([[zero]])
    assert not positive_semidefinite([[-fmpq(1, 10**40)]])
    assert not positive_semidefinite([[zero, one], [one, zero]])
    assert not positive_semidefinite([[zero, one], [one, one]])
    assert positive_semidefinite([[one, one, zero], [one, one, zero], [zero, zero, zero]])
    assert not positive_semidefinite([[one, one, zero], [one, one, one], [zero, one, one]])


@given(st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda p: p[0] <= p[1]),
    st.fractions(-3, 3, max_denominator=5).filter(bool),
))  # fmt: skip
def test_squares_are_the_form_that_they_are_of(gram):
    total = Quantity()
    for c, u, v in squares(gram):
        total = total + u * v * c
    assert total.gram == gram


def test_the_checker_is_one_short_file_that_loads_no_solver(tmp_path, made):
    source = Path(check.__code__.co_filename)
    assert len(source.read_text(encoding="utf-8").splitlines()) <= 200
    path = tmp_path / "one.json"
    path.write_text(made("convex")[2].text, encoding="utf-8")
    code = ("import sys; from driftproof.cli import status; done = status(['check', sys.argv[1]]);"
            "print(*sys.modules); sys.exit(done)")  # fmt: skip
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    loaded = ran.stdout.splitlines()[-1].split()
    assert "flint" in loaded
    for heavy in ("torch", "cvxpy", "clarabel", "scipy", "numpy", "verifiers.worst_case.builder"):
        assert heavy not in loaded, heavy


def test_the_command_says_what_is_proved_and_what_is_not(tmp_path, made):
    text = made("strongly convex")[2].text
    (tmp_path / "good.json").write_text(text, encoding="utf-8")
    ran = driftproof("check", "good.json", cwd=tmp_path)
    assert ran.returncode == 0
    for words in (
        "good.json: PROVED", "at x_0 = x_0: gradient ∇f_0(x_0)", "L = 1, mu = 1/10",
        "‖x_0‖² ≤ 1", "then ‖x_0 − 3/2 ∇f_0(x_0)‖² ≤ ", "not proved: that the points",
    ):  # fmt: skip
        assert words in ran.stdout
    assert "hold" not in ran.stdout.splitlines()[-1]  # one file is not counted
    smaller = json.loads(text)
    smaller["conclusion"]["at_most"] = "1/2"
    (tmp_path / "false.json").write_text(sealed(smaller), encoding="utf-8")
    (tmp_path / "changed.json").write_text(text.replace("x_0", "x_7"), encoding="utf-8")
    both = driftproof("check", "good.json", "false.json", "changed.json", cwd=tmp_path)
    assert both.returncode == 1
    assert both.stdout.count("PROVED") == 1
    assert both.stdout.count("REFUSED") == 2
    assert "larger by" in both.stdout
    assert "changed after it was written" in both.stdout
    assert both.stdout.splitlines()[-1] == "1 certificate holds, 2 do not"
    two = driftproof("check", "good.json", "good.json", cwd=tmp_path)
    assert two.stdout.splitlines()[-1] == "2 certificates hold, 0 do not"
    none = driftproof("check", "false.json", "changed.json", cwd=tmp_path)
    assert none.stdout.splitlines()[-1] == "0 certificates hold, 2 do not"


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "no certificate"), ("{}", "fields are"), ("[1]", "fields are"), ("\xff", "no certi"),
     ("[" * 100_000, "RecursionError"), (None, "No such file")],
)  # fmt: skip
def test_what_cannot_be_read_has_status_2(tmp_path, text, said):
    if text is not None:
        (tmp_path / "it.json").write_text(text, encoding="latin-1")
    ran = driftproof("check", "it.json", cwd=tmp_path)
    assert ran.returncode == 2
    assert said in ran.stderr or "utf-8" in ran.stderr
    assert "remedy:" in ran.stderr


def test_a_name_cannot_steer_the_terminal(tmp_path):
    file = json.loads(certify(last("convex")).text)
    file["about"] = "harmless\x1b[2J\nPROVED"
    (tmp_path / "it.json").write_text(sealed(file), encoding="utf-8")
    said = driftproof("check", "it.json", cwd=tmp_path).stdout
    assert "\x1b" not in said
    assert "harmless?[2J?PROVED" in said


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
    case, bound = read(text)
    assert solve(case).value == pytest.approx(float(bound), rel=1e-6)


def test_the_squares_of_the_page():
    """‖x_0‖²/6 − … = ‖x_0 − 3/2 (g_0 + g_1)‖²/6 + ‖g_0 − g_1‖²/8, made from the multipliers."""
    case, bound = read(PAGE.split("```json\n")[1].split("```")[0])
    by_pair = {
        (one.name, other.name): condition.quantity(one, other)
        for _, condition, one, other in case.conditions()
    }
    pairs = (("x*", "x_0"), ("x*", "x_1"), ("x_0", "x_1"))
    total = sum((by_pair[pair] for pair in pairs), Quantity()) / 2
    x, g, h = map(Vector.basis, range(3))
    u, v = x - (g + h) * Fraction(3, 2), g - h
    assert total + x * x / 6 - case.objective == u * u / 6 + v * v / 8
    assert bound == case.relations[0].bound / 6


def test_what_is_written_is_checked_before_it_counts(monkeypatch):
    """A writer that forgets a multiplier gives no certificate, though what it wrote from is one."""
    (case,) = build(
        FedAvg(step_size=1.0), [smooth_convex(L=1), start_within(R=1)],
        rounds=1, left=gap, clients=1,
    )  # fmt: skip
    assert check(certify(case).text)
    written = certificate._written

    def forgetful(*of):
        told = json.loads(written(*of))
        return json.dumps(told | {"multipliers": told["multipliers"][1:]})

    monkeypatch.setattr(certificate, "_written", forgetful)
    with pytest.raises(DriftproofError, match="driftproof check refuses"):
        certify(case)
