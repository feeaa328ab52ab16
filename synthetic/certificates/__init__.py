"""Certified optima: enclosures of a least value that do not rest on the solver."""
