"""Functions and matrices that families are made of."""
