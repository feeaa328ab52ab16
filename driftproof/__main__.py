"""The command ``driftproof``, and ``python -m driftproof``."""

from __future__ import annotations

from driftproof.cli import main

if __name__ == "__main__":
    main()
