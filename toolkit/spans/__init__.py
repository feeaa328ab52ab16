"""Spans: vectors as exact combinations of unknown ones, which torch's linear functions accept."""
