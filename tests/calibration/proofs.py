"""Symbolic statements with known truth: identities and signs, on domains of every kind."""

import numpy as np
import sympy

from driftproof.verifiers.algebra.symbolic import convex_with_minimum, nonnegative, vanishes
from driftproof.verifiers.claim_types.proof import proof
from driftproof.verifiers.judges.proofs import judge
from tests.calibration.table import Judged

DOMAINS = {
    "x > 0": {"positive": True},
    "x ≥ 0": {"nonnegative": True},
    "x real": {"real": True},
    "x": {},
    "x < 0": {"negative": True},
}


def proofs(statements, seed=0):
    """Judge steps of every family, on every domain, with an error of every size."""
    random = np.random.default_rng([seed, 5])
    names = list(FAMILIES)
    claim = proof(name="calibration/proof", source="–", statement="x", right=0)(lambda right: [])
    for number in range(statements):
        name = names[number % len(names)]
        domain = list(DOMAINS)[int(random.integers(len(DOMAINS)))]
        x, y = (sympy.Symbol(letter, **DOMAINS[domain]) for letter in "xy")
        power = int(random.integers(2, 6))
        off = sympy.Rational(int(random.integers(2)), 10 ** int(random.integers(0, 9)))
        step, truth = FAMILIES[name](x, y, power, off, domain)
        row = judge(claim, claim.forms[0], [step])
        yield Judged(f"{name}, {domain}, off by {off}", truth, row.verdict)


def _binomial(x, y, n, off, domain):
    return vanishes((x + y) ** n - sympy.expand((x + y) ** n) + off * x * y, ""), off == 0


def _root(x, y, n, off, domain):
    """√(x²) = x holds for x ≥ 0 alone."""
    return vanishes(sympy.sqrt(x**2, evaluate=False) - x, ""), domain in ("x > 0", "x ≥ 0")


def _size(x, y, n, off, domain):
    """|x|·|y| = xy, wrongly off by a multiple of (|x| + x), which is 0 for x ≤ 0."""
    same = domain in ("x > 0", "x ≥ 0", "x < 0")
    extra = off * (sympy.Abs(x) + x)
    return vanishes(abs(x) * abs(y) - x * y + extra, ""), same and (off == 0 or domain == "x < 0")


def _logarithm(x, y, n, off, domain):
    """Log(xⁿy) = n·log x + log y holds for positive letters; elsewhere 1 + x² stands for them."""
    if domain != "x > 0":
        x, y = 1 + x**2, 1 + y**2
    return vanishes(sympy.log(x**n * y) - n * sympy.log(x) - (1 + off) * sympy.log(y), ""), off == 0


def _exponential(x, y, n, off, domain):
    return vanishes(sympy.exp(x + n * y) - sympy.exp(x) * sympy.exp(y) ** n + off, ""), off == 0


def _cases(x, y, n, off, domain):
    """A case distinction that is wrong below a threshold alone: x² there is 2x²."""
    at = sympy.Rational(1, 10 ** (2 * n))
    inside = (sympy.Abs(x) < at) & (sympy.Abs(x) > 0)
    wrong = sympy.Piecewise(((1 + off) * x**2, inside), (x**2, True))
    return vanishes(wrong - x**2, ""), off == 0


def _larger(x, y, n, off, domain):
    """max(x, y) + min(x, y) = x + y."""
    return vanishes(sympy.Max(x, y) + sympy.Min(x, y) - x - (1 + off) * y, ""), off == 0


def _square(x, y, n, off, domain):
    """(x − y)² − off ≥ 0, which is 0 − off at x = y."""
    return nonnegative((x - y) ** 2 - off, ""), off == 0


def _above(x, y, n, off, domain):
    """The sign of x − off depends on the domain, and fails near 0 alone."""
    return nonnegative(x - off, ""), off == 0 and domain in ("x > 0", "x ≥ 0")


def _bernoulli(x, y, n, off, domain):
    """(1 + x²)ⁿ − 1 − n·x² − off ≥ 0."""
    return nonnegative(sympy.expand((1 + x**2) ** n - 1 - n * x**2) - off, ""), off == 0


def _convex(x, y, n, off, domain):
    """e^u − 1 − u ≥ off for every u of the domain: its least value, 0, is at or near 0."""
    return convex_with_minimum(sympy.exp(x) - 1 - x, x, 0, off, ""), off == 0


def _pieces(x, y, n, off, domain):
    """A convex function, but for a jump down (by off) close to 0."""
    near = sympy.Abs(x) < sympy.Rational(1, 10 ** (2 * n))
    pieces = sympy.Piecewise((x**2 - off, near), (x**2, True))
    return convex_with_minimum(pieces, x, 0, 0, ""), off == 0


FAMILIES = {
    "a binomial": _binomial,
    "a root": _root,
    "sizes": _size,
    "a logarithm": _logarithm,
    "exponentials": _exponential,
    "cases": _cases,
    "the larger": _larger,
    "a square": _square,
    "a letter's sign": _above,
    "Bernoulli": _bernoulli,
    "a convex function": _convex,
    "a convex function in pieces": _pieces,
}
