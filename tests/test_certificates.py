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

from synthetic.classes.conditions import Constraint, FunctionClass, Triple
from synthetic.classes.functions import (
    bounded_gradients,
    monotone_lipschitz,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
)
from synthetic.classes.relations import similar, start_gap, start_within
from tests.commands import driftproof
from toolkit.algorithms.fedavg import FedAvg
from toolkit.errors import DriftproofError
from toolkit.measure import each, sq
from toolkit.spans.exact import Quantity, Vector
from verifiers.worst_case.builder import build
from verifiers.worst_case.certificate import certify, squares
from verifiers.worst_case.check import RefusedCertificateError, check, positive_semidefinite
from verifiers.worst_case.digest import digest, sealed
from verifiers.worst_case.record import WorstCase
from verifiers.worst_case.solve import matrices, solve

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
    "bounded gradients": (
        LOCAL, [bounded_gradients(smooth_convex(1), 0.25), NEAR], 1, gap, 2
    ),
}  # fmt: skip
KNOWN = {
    "convex": Fraction(1, 6),  # L R²/(4N + 2), Drori & Teboulle 2014
    "convex, three steps": Fraction(1, 14),
    "convex, another scale": Fraction(1000 * 30**2, 6),
    "strongly convex": Fraction(85, 100) ** 2,  # max(|1 − ημ|, |1 − ηL|)²
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
    case, solved, certificate = made(name)
    said = check(certificate.text)
    assert str(certificate.bound) in said[-1]
    value = float(KNOWN.get(name, solved.value))
    assert abs(solved.value - value) < 1e-6 * value
    assert value * (1 - 2e-8) <= float(certificate.bound) <= value * (1 + 1e-6)


def test_small_fractions_prove_the_value_itself(made):
    assert made("convex")[2].bound == Fraction(1, 6)


def read(text):
    """Return the program that a certificate speaks of, and its bound: without the checker."""
    file = json.loads(text)

    def vector(written):
        return Vector({file["vectors"].index(n): Fraction(c) for n, c in written.items()})

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
        tuple(file["vectors"]), tuple(file["values"]), tuple(classes), tuple(triples), relations,
        quantity(file["conclusion"]), {},
    )  # fmt: skip
    return case, Fraction(file["conclusion"]["at_most"])


def conditions_of(kind, **constants):
    """Return the conditions of ``synthetic.classes``, which the checker does not use."""
    if kind == "bounded-gradients":
        return bounded_gradients(smooth_convex(1), constants["G"]).conditions[1:]
    if kind == "strongly-monotone":
        return monotone_lipschitz(10**6, constants["mu"]).conditions[:1]
    if kind == "lipschitz":
        return monotone_lipschitz(constants["L"], constants["L"]).conditions[1:]
    made = {"smooth": smooth, "smooth-convex": smooth_convex,
            "smooth-strongly-convex": smooth_strongly_convex}[kind]  # fmt: skip
    return made(**constants).conditions


@pytest.mark.parametrize("name", RUNS)
def test_a_certificate_states_the_program_that_was_solved(name, made):
    """Read back by another route, it has the same matrices, to rounding in doubles."""
    case, _, certificate = made(name)
    ours, theirs = matrices(case), matrices(read(certificate.text)[0])
    for part in ("gram", "values", "bounds"):
        key = np.concatenate([getattr(ours, part).reshape(len(ours.bounds), -1)], 1)
        other = np.concatenate([getattr(theirs, part).reshape(len(ours.bounds), -1)], 1)
        assert np.allclose(np.sort(key.sum(1)), np.sort(other.sum(1)), atol=1e-12)
    for one, two in zip(ours.objective, theirs.objective, strict=True):
        assert np.allclose(one, two, atol=1e-12)
