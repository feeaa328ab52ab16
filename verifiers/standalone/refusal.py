"""Why there is no script."""


class NoScriptError(Exception):
    """A finding that no script is written of; its text is the reason, in a line."""
