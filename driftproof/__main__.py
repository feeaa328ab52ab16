"""The command ``driftproof``, and ``python -m driftproof``."""

from driftproof.cli import main

if __name__ == "__main__":
    main()
