"""The experiment that docs/experiments.md explains."""
