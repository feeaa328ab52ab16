"""What the two ComFedL papers print of their personalised experiments: settings, grids, sentences.

Entered before anything was run. Preprint: section 5.2, figures 4 to 8. Journal version: section
5.2, figures 4 to 6, and the grids of section 5.3.

Margins and measures are part of how a sentence is read, and were fixed at the same time:

* "better", "outperforms": at the last round, in the mean over clients of the accuracy (or of the
  loss) that the personalised models have on their clients' validation images;
* "faster": in the mean of that accuracy over all rounds;
* "noisy", "smoother": in the root mean square of the second differences of the validation loss;
* "robust": the last accuracies differ by less than MARGIN.
"""

from __future__ import annotations

CLIENTS = 10
LOCAL_STEPS = 5
"""τ, "the synchronization gap is 5 by default" (journal; the preprint gives none)."""
SHARE = 0.28
"""ρ."""
TEMPERATURE = 0.5
"""γ of ComFedL-DAMAML, in both papers."""

STEP_SIZE = 0.05
"""η of ComFedL-MAML (preprint, figures 5 and 6) and of ComFedL-DAMAML (about figure 7)."""
STUDIED_STEP_SIZE = 0.01
"""η in the preprint's study of γ (figure 8)."""

JOURNAL = {
    "fedavg": {"step_size": 0.1},
    "fedmaml": {"adaptation": 0.1, "step_size": 0.1},
    "tr-maml": {"adaptation": 0.05, "step_size": 0.1, "weight_step": 0.08},
    "ditto": {"step_size": 0.2, "personal_step_size": 0.2, "proximity": 0.1},
    "damaml": {"adaptation": 0.05, "step_size": 0.1, "temperature": 0.5},
}
"""The journal's hyper-parameters of each method."""

STEP_SIZES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Searched for "learning rate (both inner and outer if two types of learning rates are needed)"."""
SMALLER = (1e-4, 3e-4)
"""Rates below the printed grid, tried for DAMAML, whose step is up to 200 times as long; ours."""
TEMPERATURES = (0.1, 0.5, 1.0, 5.0)
"""Searched for γ "for our method"."""
WEIGHT_STEPS = (8e-3, 8e-2, 8e-1)
"""Searched for TR-MAML."""
PROXIMITIES = (0.05, 0.1, 0.5, 1.0, 5.0)
"""Searched for Ditto's λ."""

GAPS = (1, 5, 10)
"""τ where it is varied; chosen here, no values are in the text."""
SHARES = (0.2, 0.28, 0.6)
"""ρ where it is varied; chosen here ("60% samples" is the journal's example)."""
MARGIN = 0.02
"""Mean accuracies within two percentage points count as alike; chosen here."""

MAML_SENTENCES = {
    "better": "ComFedL-MAML outperforms FedAvg significantly",
    "gap": "ComFedL-MAML converges much faster when τ is increased",
    "share": "ComFedL-MAML outperforms FedAvg at every ρ",
    "large": "ComFedL-MAML's advantage over FedAvg is larger at the largest ρ than at the smallest",
}
"""Preprint, section 5.2, figures 4, 5, 6."""

DAMAML_SENTENCES = {
    "loss": "ComFedL-DAMAML has a lower validation loss than ComFedL-MAML",
    "accuracy": "ComFedL-DAMAML has a better validation accuracy than ComFedL-MAML",
    "robust": "ComFedL-DAMAML is robust to γ",
}
"""Preprint, section 5.2, figures 7 and 8."""

JOURNAL_SENTENCES = {
    "best": "ComFedL-DAMAML outperforms all the other methods",
    "worst": "FedAvg gets the worst validation loss and accuracy",
    "better": "FedMAML and Ditto perform better than FedAvg",
    "noisy": "FedMAML's and Ditto's loss curves are noisy: noisier than ComFedL-DAMAML's",
    "smoother": "TR-MAML gets a smoother curve than FedMAML",
    "gap": "ComFedL-DAMAML converges much faster when τ is increased",
    "robust": "ComFedL-DAMAML is robust to γ",
    "share": "ComFedL outperforms FedAvg at every ρ",
    "large": "ComFedL's advantage over FedAvg is larger at the largest ρ than at the smallest",
    "diverge": "when the learning rate is 1, most methods just diverge",
}
"""Journal, section 5.2, figures 4, 5, 6; the last from section 5.3, which says it of the
distributionally robust experiments, whose grid of learning rates is the same."""
