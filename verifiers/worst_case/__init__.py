"""Worst cases over whole classes of functions: a semidefinite program, its solution and proof."""
