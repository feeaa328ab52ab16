"""Theorems that are marked in a paper's LaTeX, and whether they still say what their claims say."""
