"""Attacks on declared constants; ``attack(problem, role)`` says how closely one was reached."""

from synthetic.attacks.search import Attack, attack, attacked, maximise
from synthetic.attacks.thorough import searched

__all__ = ["Attack", "attack", "attacked", "maximise", "searched"]
