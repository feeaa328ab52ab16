"""Pytest looks for examples in the files of Triton only where it is installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("triton") is not None else ["triton_*.py"]
