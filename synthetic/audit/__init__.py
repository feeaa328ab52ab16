"""Checks of a problem and an algorithm against themselves, made once before any verdict.

``audit_problem`` and ``audit_algorithm`` raise a DriftproofError at the first thing that does not
fit: it names what was got, what was wanted, and the method to look at.
"""

from driftproof.synthetic.audit.algorithm import audit_algorithm
from driftproof.synthetic.audit.problem import audit_problem

__all__ = ["audit_algorithm", "audit_problem"]
