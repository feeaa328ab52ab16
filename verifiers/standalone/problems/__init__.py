"""The oracles of problem families in numpy, as texts of scripts: one file a family."""
