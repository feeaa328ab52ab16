"""Pytest looks for examples only in those scripts whose framework is installed."""

from importlib.util import find_spec

SCRIPTS = {"blazefl.py": "blazefl", "flower_simulation.py": "flwr"}
collect_ignore = [script for script, package in SCRIPTS.items() if find_spec(package) is None]
