"""Attacks on declared constants; ``attack(problem, role)`` says how closely one was reached."""

from driftproof.synthetic.attacks.search import Attack, attack, attacked, maximise
from driftproof.synthetic.attacks.thorough import searched

__all__ = ["Attack", "attack", "attacked", "maximise", "searched"]
