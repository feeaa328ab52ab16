"""The scripts of what a search finds: their texts are the algorithms, and their sides the row's."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import sympy
import torch

from driftproof import (
    Comparison,
    States,
    Steps,
    average,
    bound,
    comparison,
    each,
    given_past,
    grid,
    smallest,
    sq,
)
from driftproof.synthetic.problems import (
    BoundedComposition,
    PiecewiseBilevel,
    PiecewiseComposition,
    PiecewiseLosses,
    PiecewiseMinimax,
    QuadraticMinimax,
)
from driftproof.toolkit.algorithms import ComFedL, DecayingFedAvg, FedAvg, FedNest, LocalSCGDM
from driftproof.toolkit.algorithms.fedavg import State as Model
from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.federation import run_exactly
from driftproof.toolkit.groups import number
from driftproof.toolkit.oracles import OFFERS
from driftproof.verifiers.claim_types.sources import loaded
from driftproof.verifiers.search.finding import Finding
from driftproof.verifiers.search.units import judged
from driftproof.verifiers.standalone import script
from driftproof.verifiers.standalone.files import PRINTED, agrees, demoted, sides, write
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.script import script_of
from driftproof.verifiers.standalone.texts import wrapped
from driftproof.verifiers.standalone.traced import TEXTS
from tests.commands import ROOT, driftproof

NAMES = {
    "algorithms": ("comfedl", "compositional-fedavg", "fedavg", "feddro", "fedinn", "fednest",
                   "fedout", "fedsvrg", "local-scgdm"),
    "problems": ("bounded-composition", "piecewise-bilevel", "piecewise-composition",
                 "piecewise-losses", "piecewise-minimax"),
}  # fmt: skip
ATOMS, NEAR, ENOUGH = 2**10, 1e-9, 4


def random_curve(random, rising=False):
    knots = np.sort(random.normal(size=3))
    values = np.sort(random.normal(size=3)) if rising else random.normal(size=3)
    return tuple(zip(knots.tolist(), values.tolist(), strict=True))


def curves(random, clients, dim, rising=False):
    return tuple(tuple(random_curve(random, rising) for _ in range(dim)) for _ in range(clients))


def members(name, random):
    """Return random members of a family, and for the others its examples."""
    if name == "piecewise-losses":
        one, other = curves(random, 2, 1), curves(random, 3, 2)
        return [
            PiecewiseLosses(gradients=one, noise=0.5, rare=0.25),
            PiecewiseLosses(clients=3, dim=2, gradients=other),
            PiecewiseLosses(gradients=one, tails="linear"),
        ]
    if name == "piecewise-composition":
        shapes = [curves(random, 2, 1) for _ in range(3)]
        return [
            PiecewiseComposition(),
            PiecewiseComposition(inner=shapes[0], outer=shapes[1], offsets=((0.5,), (-1.0,))),
            PiecewiseComposition(
                inner=shapes[0], outer=shapes[1], plain=shapes[2], averaged_inside=True
            ),
            PiecewiseComposition(
                inner=shapes[0],
                outer=shapes[1],
                offsets=((0.5,), (-1.0,)),
                value_noise=0.5,
                gradient_noise=0.25,
                wave=2.0,
                outer_noise=0.5,
                rare=0.25,
            ),
            PiecewiseComposition(outer=shapes[1], plain=shapes[2], plain_noise=0.5),
            PiecewiseComposition(outer=shapes[1], value_noise=1.0, plain_noise=0.5),
            PiecewiseComposition(
                clients=3, dim=2, inner=curves(random, 3, 2), outer=curves(random, 3, 2)
            ),
        ]
    if name == "piecewise-minimax":
        return [
            PiecewiseMinimax(plain=curves(random, 2, 1), lower=curves(random, 2, 1, rising=True)),
            PiecewiseMinimax(coupling=((2.0,), (-0.5,)), x_noise=0.5, y_noise=0.25, rare=0.25),
            PiecewiseMinimax(clients=1, dim=2, lower=curves(random, 1, 2, rising=True)),
        ]
    if name == "piecewise-bilevel":
        numbers = {"curvature": ((0.5,), (2.0,)), "cross": ((-1.0,), (-0.5,))}
        upper = curves(random, 2, 1)
        return [
            PiecewiseBilevel(plain=curves(random, 2, 1), upper=upper, **numbers),
            PiecewiseBilevel(upper=upper, offsets=((0.25,), (1.0,)), coupling=((0.5,), (0.25,))),
            PiecewiseBilevel(upper=upper, x_noise=0.5, y_noise=0.25, value_noise=0.5, rare=0.25),
        ]
    return leaves("problem")[name].load().examples()


def cases(algorithm, name):
    """Return cases of an algorithm on a family's members, of which all outcomes can be run."""
    random = np.random.default_rng(5)
    for member in members(name, random):
        for method in leaves("algorithm")[algorithm].load().examples():
            if method.needs in OFFERS[member.offers]:
                yield Case(member, method, 2)
                yield Case(member, method, 1)


def of_states(view):
    """Tell states apart by a number for each client and outcome."""
    weights = torch.linspace(1.0, 2.0, sum(x.shape[1] for x in view.state), dtype=torch.float64)
    fields = torch.cat(tuple(view.state), 1) * weights[:, None]
    return each("transition", "client", fields.sum(1) + (fields * fields).sum(1))


STATES = bound(
    name="tests/states",
    source="tests",
    statement="states",
    right=lambda c: -(10**9),
    cases=grid(PiecewiseLosses(), FedAvg(), rounds=1),
)(of_states)


PAIRS = [
    (algorithm, problem)
    for algorithm in NAMES["algorithms"]
    for problem in NAMES["problems"]
    if any(
        leaves("algorithm")[algorithm].load().needs in OFFERS[member.offers]
        for member in leaves("problem")[problem].load().examples()
    )
]


@pytest.mark.parametrize(("algorithm", "problem"), PAIRS)
def test_a_script_moves_as_the_algorithm_does(algorithm, problem):
    compared = 0
    for case in cases(algorithm, problem):
        try:
            ours = run_exactly(
                case.problem, case.algorithm, rounds=case.rounds, left=of_states, limit=ATOMS
            )
        except TooManyAtoms:
            continue
        scope = {}
        exec(script_of(STATES, STATES.forms[0], case), scope)
        assert scope["chance"].sum() == pytest.approx(1, rel=1e-9)
        wanted = ours.values @ ours.weights
        np.testing.assert_allclose(np.concatenate(scope["means"]), wanted, NEAR, NEAR)
        compared += 1
        if compared == ENOUGH:
            return
    assert compared >= 3


def in_plain_numpy(case):
    """Yield the clients' models after each step, by the papers' pseudo-code."""
    of, method = case.problem, case.algorithm
    eta, tau = method.step_size, method.local_steps
    x = u = m = np.zeros(of.clients)

    def at(curves, points):
        return np.array([np.interp(points[k], *np.transpose(p)) for k, (p,) in enumerate(curves)])

    def inner(points):
        values = np.ravel(of.offsets).copy()
        for k, (curve,) in enumerate(of.inner):
            low, high = sorted((0.0, points[k]))
            knots = [low, *(x for x, _ in curve if low < x < high), high]
            area = np.trapezoid(np.interp(knots, *np.transpose(curve)), knots)
            values[k] += np.sign(points[k]) * area
        return values

    for t in range(case.rounds * tau):
        if isinstance(method, FedAvg):
            x = x - eta * at(of.gradients, x)
        elif isinstance(method, ComFedL):
            x = x - eta * at(of.inner, x) * at(of.outer, inner(x))
        else:
            a, b = (
                (0, 0) if t == 0 else (1 - method.inner_momentum * eta, 1 - method.momentum * eta)
            )
            u = a * u + (1 - a) * inner(x)
            m = b * m + (1 - b) * at(of.inner, x) * at(of.outer, u)
            x = x - method.step_factor * eta * m
        if (t + 1) % tau == 0:
            x, u, m = (np.full_like(v, v.mean()) for v in (x, u, m))
        yield x


@bound(
    name="tests/models",
    source="tests",
    statement="models",
    right=lambda c: -(10**9),
    cases=grid(PiecewiseLosses(), FedAvg(), rounds=1),
)
def models(view: Steps):
    return each("transition", "client", view.state[0].sum(1))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "method",
    [FedAvg(local_steps=3), ComFedL(local_steps=2), LocalSCGDM(momentum=4.0, inner_momentum=6.0)],
)
def test_engine_script_and_pseudo_code_agree(method, seed):
    random = np.random.default_rng(seed)
    shapes = [curves(random, 3, 1) for _ in range(2)]
    if isinstance(method, FedAvg):
        member = PiecewiseLosses(clients=3, gradients=shapes[0])
    else:
        offsets = tuple((x,) for x in random.normal(size=3).tolist())
        member = PiecewiseComposition(clients=3, inner=shapes[0], outer=shapes[1], offsets=offsets)
    case = Case(member, method, 3)
    ours = run_exactly(member, method, rounds=3, left=models.left, limit=1).values[:, 0]
    theirs = np.concatenate(list(in_plain_numpy(case)))
    scope = {}
    exec(script_of(models, models.forms[0], case), scope)
    np.testing.assert_allclose(ours, theirs, 1e-9, 1e-9)
    np.testing.assert_allclose(np.concatenate(scope["means"]), theirs, 1e-9, 1e-9)


NEVER = 1e-6
"""A difference that no rounding makes."""


def drifts_linearly(c):
    return c.tau * c.eta**2 * c.G_f**2 * c.G_g**2


@bound(
    name="tests/drift",
    source="tests",
    statement="the drift is linear in the steps",
    cases=grid(PiecewiseComposition(), ComFedL(), rounds=1),
    right=drifts_linearly,
    range=lambda c: c.tau**2 * c.eta**2 * c.G_f**2 * c.G_g**2,
)
def drift(view: Steps):
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))


@bound(
    name="tests/one-step",
    source="tests",
    statement="the noise averages out twice",
    cases=grid(PiecewiseLosses(), FedAvg(), rounds=1),
    right=lambda c: c.measured("before") + (c.eta * c.sigma) ** 2 / c.n**2,
    measured={"before": "before"},
)
def one_step(view: Steps):
    """Return what the next step brings."""
    moved = sq(view.mean("w"))
    return each("transition", moved, before=sq(view.before.w.mean(0)))


@bound(
    name="tests/descent",
    source="tests",
    statement="an {average} of \\ gradients",
    cases=[
        *grid(PiecewiseLosses(), FedAvg(), rounds=1),
        *grid(BoundedComposition(), ComFedL(), rounds=1),
    ],
    right=lambda c: sympy.sqrt(c.F_gap**2) / (9 * c.eta * c.T),
)
def descent(view: States):
    return average("round", sq(view.gradient(view.mean("w"))))


@bound(
    name="tests/minimax",
    source="tests",
    statement="FedNest comes close at once",
    cases=grid(PiecewiseMinimax(), FedNest(terms=0), rounds=1),
    right=lambda c: c.F_gap / (99 * c.alpha * c.K),
)
def saddle(view: States):
    return average("round", sq(view.gradient(view.mean("x"))))


def apart(view):
    late = 2 * view.client("u").mean(0) - view.mean("u")
    return sq(late - view.gradient(view.before.x.mean(0))) if view.t else None


@bound(
    name="tests/direction",
    source="tests",
    statement="the direction is right",
    cases=grid(PiecewiseComposition(), LocalSCGDM(), rounds=1),
    right=lambda c: c.eta / 10**6,
)
def direction(view: Steps):
    distance = apart(view)
    return None if distance is None else each("transition", distance)


VALLEY, OTHER = ((-1.0, -1.0), (0.5, 0.5), (2.0, 1.0)), ((-0.5, -1.5), (0.0, -1.0), (0.25, 2.0))
THREE = PiecewiseLosses(clients=3, gradients=((VALLEY,), (OTHER,), (VALLEY,)))
APART = PiecewiseComposition(outer=((OTHER,), (VALLEY,)))
STEADY = PiecewiseComposition(outer=((((0.0, 1.0),),),) * 2, outer_noise=0.25)
VIOLATIONS = {
    "composition": (drift, Case(PiecewiseComposition(clients=1), ComFedL(local_steps=2), 1)),
    "coin": (one_step, Case(PiecewiseLosses(noise=2.0, rare=0.01), FedAvg(local_steps=2), 1)),
    "cohort": (descent, Case(THREE, FedAvg(local_steps=2, participation=2 / 3), 3)),
    "sampled": (drift, Case(STEADY, ComFedL(local_steps=9, step_size=0.01), 1)),
    "minimax": (saddle, Case(PiecewiseMinimax(), FedNest(terms=0, inner_steps=2), 3)),
    "helper": (direction, Case(APART, LocalSCGDM(), 1)),
    "gradients": (
        descent,
        Case(
            BoundedComposition(inner_slope=10.0, heterogeneity=13.0, distance=1.0),
            ComFedL(step_size=0.006, participation=0.5),
            5,
        ),
    ),
}


def finding_of(claim, case):
    """Return what a search would say of a case: the judge's row."""
    row = judged(claim, claim.forms[0], case, 0)
    assert row.verdict == "REFUTED", row.reason
    return Finding(
        claim.name,
        "printed",
        "confirmed",
        case=json.loads(json.dumps(case.parameters())),
        lhs=row.lhs,
        rhs=row.rhs,
        evidence="exact",
    )


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_script_comes_to_the_sides_of_the_row(name, tmp_path):
    claim, case = VIOLATIONS[name]
    finding = finding_of(claim, case)
    ((path, reason),) = [(w.path, w.reason) for w in write([claim], [finding], tmp_path)]
    assert path is not None, reason
    text = path.read_text()
    left, right, error = sides(path)
    assert agrees(left, right, error, finding.lhs, finding.rhs)
    assert (error > 0) == (name == "sampled")
    # the hypergradient is long
    needs_numpy_alone(text, 115 if "def solve_hessian" in text else 75)
    assert re.search(r"^assert left > right$", text, re.MULTILINE)
    # a step size that is not the case's gives other sides
    eta = case.algorithm.values().get("step_size") or case.algorithm.outer_step_size
    other = tmp_path / "other.py"
    other.write_text(with_another(text, eta).replace("assert left > right", ""))
    ran = subprocess.run([sys.executable, "-I", other], capture_output=True, text=True, check=True)
    moved = [float(side) for side in PRINTED.search(ran.stdout).groups()]
    assert not agrees(*moved, error, finding.lhs, finding.rhs)
    assert not agrees(left, right * 1.001 + NEVER, 0.0, finding.lhs, finding.rhs)


def with_another(text, step_size):
    """Return a script with another step size."""
    lines = text.splitlines()
    for k, line in enumerate(lines):
        names, _, values = line.partition(" = ")
        if re.search(r"\b(eta|alpha)\b", names) and re.fullmatch(r"[\w, ]+", names):
            lines[k] = f"{names} = {values.replace(repr(step_size), repr(step_size * 0.75))}"
            return "\n".join(lines)
    raise AssertionError("the script has no step size")


def needs_numpy_alone(text, longest):
    lines = text.splitlines()
    assert len(lines) <= longest
    assert max(map(len, lines)) <= 100
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    modules = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    }
    assert modules <= {"numpy", "math", "itertools", "types", "fractions", "functools"}


def test_a_script_of_another_step_is_not_written(monkeypatch):
    case = Case(THREE, FedAvg(local_steps=2), 2)
    script_of(descent, descent.forms[0], case)
    monkeypatch.setitem(TEXTS, "sub", lambda made, a, b, **_: TEXTS["add"](made, a, b))
    with pytest.raises(NoScriptError, match="from driftproof's numbers; please report it"):
        script_of(descent, descent.forms[0], case)


def test_a_script_that_comes_to_other_numbers_is_not_kept(tmp_path, monkeypatch):
    claim, case = VIOLATIONS["cohort"]
    finding = replace(finding_of(claim, case), rhs=0.5)
    (written,) = write([claim], [finding], tmp_path)
    assert written.path is None
    assert f"the judge {number(finding.lhs['mean'])} > 0.5; please report" in written.reason
    assert not list(tmp_path.iterdir())
    (doubted,) = demoted([finding], [written])
    assert (doubted.status, doubted.found) == ("candidate", False)
    assert written.reason in doubted.reason


def test_what_a_script_does_not_see_is_a_candidate_whoever_verified_it(tmp_path):
    claim, case = VIOLATIONS["composition"]
    met = replace(case, algorithm=ComFedL(local_steps=1))  # where it is true
    finding = replace(finding_of(claim, case), case=json.loads(json.dumps(met.parameters())))
    (written,) = write([claim], [finding], tmp_path)
    assert written.path is None
    assert "does not see it" in written.reason
    verified = replace(finding, status="verified")
    sampled = replace(finding, evidence="sequential")
    statuses = [f.status for f in demoted([finding, verified, sampled], [written] * 3)]
    assert statuses == ["candidate", "candidate", "confirmed"]


@bound(
    name="tests/odd",
    source="tests",
    statement="x",
    cases=grid(THREE, FedAvg(), rounds=1),
    right=lambda c: c.eta / 10**9,
)
def odd(view: States):
    return average("round", torch.special.bessel_j1(sq(view.gradient(view.mean("w")))))


NOISY = QuadraticMinimax(gradient_noise=1.0)


@comparison(name="tests/compared", source="tests", statement="x", right=1.0, cases=grid(NOISY))
def compared(case: Case, right: float) -> list[Comparison]:
    return [Comparison("one", 2.0, 2.0, right)]


@pytest.mark.parametrize(
    ("claim", "case", "reason"),
    [
        (odd, Case(THREE, FedAvg(), 1), "bessel_j1 has no text in numpy"),
        (
            one_step,
            Case(NOISY, FedAvg(), 9),
            "it compares means of more outcomes than can be listed",
        ),
        (compared, Case(NOISY, FedAvg(), 9), "no run decides it .@comparison., so there is none"),
    ],
)
def test_what_has_no_script_says_why(claim, case, reason):
    with pytest.raises(NoScriptError, match=reason):
        script_of(claim, claim.forms[0], case)


@bound(
    name="tests/spread",
    source="tests",
    statement="x",
    cases=grid(THREE, FedAvg(), rounds=1),
    right=lambda c: c.S / 10**9,
)
def spread(view: Steps):
    away = view.client("w") - view.mean("w")
    return each("round", "local_step", sq(away).mean(0) + sq(view.mean("w")))


def far(view: Steps):
    away = sq(view.mean("w") - view.round_start("w"))
    return each("round", "local_step", view.since_round("far", away))


def before_a_step(view: Steps):
    return each("step", view.objective(view.client("w").mean(0)) + view.t + 2 * view.round)


def two_steps(view: Steps):
    return each("transition", sq((view.state.w - view.previous.w).mean(0))) if view.t % 2 else None


def given(view: Steps):
    return given_past(sq(view.mean("w") - view.before.w.mean(0)))


def least(view: States):
    return smallest("round", view.gap(view.mean("w")))


@pytest.mark.parametrize("left", [far, before_a_step, two_steps, given, least])
def test_every_kind_of_moment_is_measured(left):
    coins = PiecewiseLosses(gradients=((VALLEY,), (OTHER,)), noise=0.5)
    case = Case(coins, FedAvg(local_steps=2, participation=0.5), 2)
    claim = bound(
        name="tests/moments",
        source="tests",
        statement="x",
        right=lambda c: -(10**6) * c.S,
        cases=grid(coins, FedAvg(), rounds=1),
    )(left)
    assert "assert left > right" in script_of(
        claim, claim.forms[0], case
    )  # its numbers are the run's


class Clipped(FedAvg):
    """FedAvg whose step is shorter where the clients' gradients are large."""

    def step(self, ctx, oracles, state):
        made = super().step(ctx, oracles, state)
        if bool((ctx.marks["u"].abs() > 0.5).all()):
            return made
        return state._replace(w=state.w + (made.w - state.w) / 2)


def of_each_algorithm():
    """Return of each paper and algorithm a short case, of the claim with the most means."""
    chosen = {}
    for name, leaf in leaves("claim").items():
        claim = loaded(leaf)
        for case in claim.cases if claim.measures else ():
            if case.algorithm is not None:
                of = name.partition("/")[0], type(case.algorithm).__name__
                short = case.rounds * case.algorithm.local_steps
                rank = (-len(claim.measured), short, name, case.key)
                if of not in chosen or rank < chosen[of][0]:
                    chosen[of] = rank, claim, case
    return [found[1:] for found in chosen.values()]


def test_each_algorithm_of_a_paper_has_a_script_or_a_reason():
    made, reasons = [], []
    for claim, case in of_each_algorithm():
        form = next(form for form in claim.forms if callable(form.right))
        try:
            made.append(script_of(claim, form, case))
        except NoScriptError as reason:
            reasons.append(str(reason))
    assert len(made) >= 10
    assert not [reason for reason in reasons if "report it" in reason or "noted" in reason]


class Named(NamedTuple):
    """Fields that are called what a script's own names are."""

    taken: torch.Tensor
    s: torch.Tensor
    x: torch.Tensor


class OfNames(FedAvg):
    """FedAvg that keeps the model of before."""

    iterate = "x"

    def init(self, ctx, oracles, start):
        return Named(*[ctx.everywhere(start)] * 3)

    def step(self, ctx, oracles, state):
        return Named(state.s, state.x, super().step(ctx, oracles, Model(state.x)).w)


@pytest.mark.parametrize("names", [("means", "another"), ("another", "lambda")])
def test_names_that_a_script_has_itself_are_others_in_it(names):
    @bound(
        name="tests/names",
        source="tests",
        statement="x",
        cases=grid(THREE, OfNames(), rounds=1),
        right=lambda c: c.measured(names[0]) - 3 * c.measured(names[1]) - c.left,
        letters={"left": "step_size"},
    )
    def claim(view: Steps):
        state = view.state
        parts = dict(zip(names, (sq(state.s.mean(0)), sq(state.x.mean(0)) + 1), strict=True))
        return each("transition", sq(state.taken.mean(0)), **parts)

    case = Case(THREE, OfNames(local_steps=2), 2)
    assert "taken_" in script_of(claim, claim.forms[0], case)  # its numbers are the run's


def test_any_name_of_a_form_is_printed_as_it_is(capsys):
    key = 'it\'s \\ a {form}:  # of "quotes",\n' + "and more words, " * 12
    line = wrapped(script._printed(SimpleNamespace(key=key)))
    assert max(map(len, line.splitlines())) <= 100
    exec(line, {"left": 2.5, "right": float("inf")})
    found = PRINTED.search(said := capsys.readouterr().out)
    assert found.groups() == ("2.5", "inf")
    assert said.startswith(f"REFUTED {' '.join(key.split())}: left = 2.5 ")
    assert len(wrapped(f"    # {key.split(chr(10))[0]}" + " words" * 30).splitlines()) == 1


@pytest.mark.parametrize(
    ("case", "says"),
    [
        (Case(QuadraticMinimax(clients=1, dim=1, gradient_noise=0.5), FedAvg(), 1), " = draw("),
        (Case(THREE, FedAvg(participation=2 / 3), 4), "cohort = some_of(3, 2)"),
        (Case(THREE, DecayingFedAvg(), 7), "for _ in range(7):  # round"),
        (Case(THREE, Clipped(), 1), "assert not (abs("),
        (Case(NOISY, FedAvg(), 5), "draw("),
        (Case(THREE, FedAvg(step_size=1e-4), 2000), "for _ in range(2000):  # round"),
    ],
)
def test_what_was_noted_of_a_run_is_read_in_its_script(case, says, tmp_path):
    path = tmp_path / "c.py"
    path.write_text(script_of(spread, spread.forms[0], case), encoding="utf-8")
    assert says in path.read_text()
    left, right, error = sides(path)
    outcome, *_ = script.outcome_of(spread, spread.forms[0], case)
    wanted = (outcome.values @ outcome.weights).max()
    assert (left, right) == (pytest.approx(wanted, rel=1e-12), pytest.approx(right))
    assert error == 0  # NOISY's outcomes are too many: its run ends where they can be listed


def test_answers_of_a_problem_that_cannot_be_written_are_recorded(monkeypatch, tmp_path):
    case = Case(BoundedComposition(dim=2, inner_curvature=0.5), ComFedL(local_steps=2), 2)
    monkeypatch.delitem(TEXTS, "sin")
    path = tmp_path / "c.py"
    path.write_text(script_of(drift, drift.forms[0], case), encoding="utf-8")
    assert "Recorded during the run: inner (torch's sin has no text in numpy)." in path.read_text()
    made = run_exactly(case.problem, case.algorithm, rounds=2, left=drift.left, limit=1)
    path.write_text(path.read_text().replace("assert left > right", ""), encoding="utf-8")
    assert sides(path)[0] == pytest.approx(float(made.values.max()), rel=1e-12)


def test_the_commands_write_and_print_the_script_of_the_page_on_the_search(tmp_path):
    page = (ROOT / "docs/falsify.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (block,) = [block for block in blocks if "def descends" in block]
    (tmp_path / "descent.py").write_text(block)
    assert driftproof("verify", "descent.py", cwd=tmp_path).returncode == 0
    searched = driftproof("falsify", "descent.py", "--climbs", "40", "--out", "s", cwd=tmp_path)
    assert searched.returncode == 1
    assert "mine/descent, printed: with every assumption met, left ≥ " in searched.stdout
    path = tmp_path / "s" / "counterexample-mine-descent-printed.py"
    assert "script: s/counterexample-mine-descent-printed.py" in searched.stdout
    (finding,) = json.loads((tmp_path / "s" / "search.json").read_text())["findings"]
    assert finding["script"] == path.name
    assert agrees(*sides(path), finding["lhs"], finding["rhs"])
    for words in (["s"], ["s/search.json", "--form", "printed*"]):
        assert driftproof("counterexample", *words, cwd=tmp_path).stdout == path.read_text()
    ran = driftproof("counterexample", "s", "--run", cwd=tmp_path)
    assert ran.stdout.startswith("REFUTED printed: left = ")
    other = driftproof("counterexample", "s", "--form", "corrected", cwd=tmp_path)
    assert (other.returncode, "has no script for corrected" in other.stderr) == (2, True)
