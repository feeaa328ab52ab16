"""Compares a stated Lipschitz constant of the objective's gradient with what is proven and met."""

import sympy

from synthetic.attacks import attack
from verifiers.compared import Comparison


def steepest(case, right, roles):
    """Return the comparison of right at the constants' letters with the steepest pair of points."""
    constants = case.problem.constants
    letters = {letter: sympy.Rational(constants[role]) for letter, role in roles.items()}
    stated = float(right(type("Numbers", (), letters)))
    proven = constants["objective_smoothness"]
    found = proven * attack(case.problem, "objective_smoothness")
    return [Comparison("steepest pair of points", found, max(found, proven), stated)]
