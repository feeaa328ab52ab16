"""Checks of a problem and an algorithm against themselves, made once before any verdict.

``problem.audit_problem`` and ``algorithm.audit_algorithm`` raise a DriftproofError at the first
thing that does not fit: it names what was got, what was wanted, and the method to look at.
"""
