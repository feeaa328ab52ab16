"""Attacks on declared constants: ``search.attack(problem, role)`` says how close one came."""
