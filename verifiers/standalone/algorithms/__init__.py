"""Algorithms in numpy, as texts of scripts, from the papers' pseudo-code: one file an algorithm.

A text defines ``run()``, which yields ``(state, marks, cohort)`` at the start and after every local
step. The cohort is 1 for clients that take part, [clients, 1, outcomes].
"""
