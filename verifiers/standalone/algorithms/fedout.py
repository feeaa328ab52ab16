"""FedOut of FedNest (2022)."""

from driftproof.verifiers.standalone.nested import OUTER, SERIES, START

TEXT = (
    SERIES
    + "\ndef run():  # FedOut: FedSVRG on x at fixed y, around the hypergradient\n"
    + START
    + OUTER
)
