"""Oracles that several families share; they take arrays and numbers, and know no problem."""
