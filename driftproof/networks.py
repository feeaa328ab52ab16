"""Networks and the problems on them: ``from driftproof.networks import NetworkLosses, Perceptron``.

The networks of this project are imported when they are used; a model of your own is made by
``from_function`` or ``from_module``. A run that is measured on its way is
``driftproof.experiments.TrackedRun``.
"""

from typing import TYPE_CHECKING

from driftproof.toolkit.exports import exports

if TYPE_CHECKING:
    from driftproof.synthetic.network_problems.adapted import AdaptedLosses as AdaptedLosses
    from driftproof.synthetic.network_problems.evaluated import Scores as Scores
    from driftproof.synthetic.network_problems.evaluated import evaluated as evaluated
    from driftproof.synthetic.network_problems.fairness import FairLosses as FairLosses
    from driftproof.synthetic.network_problems.plain import NetworkLosses as NetworkLosses
    from driftproof.synthetic.network_problems.robust import RobustClients as RobustClients
    from driftproof.synthetic.network_problems.robust import RobustSamples as RobustSamples
    from driftproof.synthetic.network_problems.samples import ClientData as ClientData
    from driftproof.toolkit.network import Model as Model
    from driftproof.toolkit.network import Network as Network
    from driftproof.toolkit.network import network as network
    from driftproof.toolkit.network import uniform_by_fan_in as uniform_by_fan_in
    from driftproof.toolkit.networks._linear import linear as linear
    from driftproof.toolkit.own_model import from_function as from_function
    from driftproof.toolkit.own_model import from_module as from_module

__getattr__, __dir__, __all__ = exports(__name__, __file__, "driftproof.toolkit.networks")
