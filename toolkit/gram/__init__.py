"""Vectors as exact combinations of unknown ones, and forms in their Gram matrix, as carriers."""

from driftproof.toolkit.gram import operations  # noqa: F401 - it fills the table
