"""FedInn of FedNest (2022)."""

import textwrap

from driftproof.verifiers.standalone.nested import INNER, START

TEXT = (
    "\ndef run():  # FedInn: FedSVRG on y at fixed x\n"
    + START
    + textwrap.indent(textwrap.dedent(INNER), "        ")
)
