"""Networks and the problems on them: ``from driftproof.networks import NetworkLosses, Perceptron``.

The networks of this project are imported when they are used; a model of your own is made by
``from_function`` or ``from_module``. A run that is measured on its way is
``driftproof.experiments.TrackedRun``.
"""

from __future__ import annotations

from typing import Any

from driftproof.whole import refuse_hidden

refuse_hidden()

from driftproof.synthetic.network_problems.adapted import AdaptedLosses  # noqa: E402 - after the look
from driftproof.synthetic.network_problems.bilevel import NetworkTuning  # noqa: E402
from driftproof.synthetic.network_problems.evaluated import Scores, evaluated  # noqa: E402
from driftproof.synthetic.network_problems.fairness import FairLosses  # noqa: E402
from driftproof.synthetic.network_problems.plain import NetworkLosses  # noqa: E402
from driftproof.synthetic.network_problems.robust import RobustClients, RobustSamples  # noqa: E402
from driftproof.synthetic.network_problems.samples import ClientData  # noqa: E402
from driftproof.toolkit.discover import find_symbol, symbols  # noqa: E402
from driftproof.toolkit.network import Model, Network, network, uniform_by_fan_in  # noqa: E402
from driftproof.toolkit.networks._linear import linear  # noqa: E402
from driftproof.toolkit.own_model import from_function, from_module  # noqa: E402

__all__ = [
    "AdaptedLosses",
    "ClientData",
    "FairLosses",
    "Model",
    "Network",
    "NetworkLosses",
    "NetworkTuning",
    "RobustClients",
    "RobustSamples",
    "Scores",
    "evaluated",
    "from_function",
    "from_module",
    "linear",
    "network",
    "uniform_by_fan_in",
]


def __getattr__(symbol: str) -> Any:
    return find_symbol("network", symbol)


def __dir__() -> list[str]:
    return [*__all__, *symbols("network")]
