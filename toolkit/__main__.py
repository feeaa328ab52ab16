"""``python -m toolkit``: the command ``driftproof``."""

from toolkit.cli import main

if __name__ == "__main__":
    main()
