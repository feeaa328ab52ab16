"""What an experiment of your own is written with: ``from driftproof.experiments import Run``."""

from driftproof.synthetic.image_problems.imbalanced import ImbalancedImages
from driftproof.toolkit.federation import run, sampled_context
from driftproof.verifiers import experiment as parts
from driftproof.verifiers.experiment import *  # noqa: F403 - all of them are public

__all__ = ["ImbalancedImages", "run", "sampled_context"]
__all__ += parts.__all__
