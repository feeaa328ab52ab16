"""Algebra by sympy: steps of proofs on their domains, and orders of growth."""
