"""The command ``driftproof``, and ``python -m driftproof``.

Before it imports anything by name it looks whether the names still mean driftproof's packages.
"""

from __future__ import annotations

import sys

from driftproof.whole import hidden


def main() -> None:
    """Run the command, or say what hides driftproof's packages."""
    shadowed = hidden()
    if shadowed is not None:
        got, wanted, remedy = shadowed
        sys.stderr.write(f"driftproof: {got}\n    wanted: {wanted}\n    remedy: {remedy}\n")
        sys.exit(2)
    from driftproof.cli import main as command

    command()


if __name__ == "__main__":
    main()
