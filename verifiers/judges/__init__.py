"""Judges: what was measured or computed in, a row with its verdict out."""
