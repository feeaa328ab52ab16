"""Why there is no script."""

from __future__ import annotations


class NoScriptError(Exception):
    """A finding that no script is written of; its text is the reason, in a line."""
