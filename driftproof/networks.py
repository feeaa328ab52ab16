"""Networks and the problems on them: ``from driftproof.networks import NetworkLosses, Perceptron``.

The networks of this project are imported when they are used; a model of your own is made by
``from_function`` or ``from_module``. A run that is measured on its way is
``driftproof.experiments.TrackedRun``.
"""

from __future__ import annotations

from typing import Any

from driftproof.synthetic.network_problems.adapted import AdaptedLosses
from driftproof.synthetic.network_problems.evaluated import Scores, evaluated
from driftproof.synthetic.network_problems.fairness import FairLosses
from driftproof.synthetic.network_problems.plain import NetworkLosses
from driftproof.synthetic.network_problems.robust import RobustClients, RobustSamples
from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.discover import find_symbol, symbols
from driftproof.toolkit.network import Model, Network, network, uniform_by_fan_in
from driftproof.toolkit.networks._linear import linear
from driftproof.toolkit.own_model import from_function, from_module

__all__ = [
    "AdaptedLosses",
    "ClientData",
    "FairLosses",
    "Model",
    "Network",
    "NetworkLosses",
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
