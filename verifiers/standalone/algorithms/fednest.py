"""FedNest (2022), with FedInn, FedOut and FedIHGP."""

from driftproof.verifiers.standalone.nested import INNER, OUTER, SERIES, START

TEXT = (
    SERIES
    + "\ndef run():  # FedNest: T calls of FedInn, then one of FedOut\n"
    + START
    + "\n        for call in range(T):"
    + INNER
    + OUTER.lstrip("\n")
)
