"""Spans: vectors as exact combinations of unknown ones, which torch's linear functions accept."""

from driftproof.toolkit.spans import operations  # noqa: F401 - it fills the table
