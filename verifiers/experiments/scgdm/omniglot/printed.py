"""What Local-SCGDM (2022), section 5.2 and A.1 print of figures 6 and 7.

Printed: Omniglot, 33/5/12 alphabets to train, validate and test (after Vinyals et al. 2016); one
alphabet a client; a task is N characters of the client's alphabet, K drawings to train and 15 to
validate; "we augment the characters by performing rotation operations (multipliers of 90
degrees)"; "a 4-layer convolutional neural network where each convolutional layer has 64 filters of
3×3 and it is followed by a batch-normalization layer" (Finn et al. 2017); inner learning rate 0.4;
the settings below "e.g. for the 5-way-1-shot case". N is 5 in figure 6, 20 in figure 7; K 1 and 5.

Not printed, chosen before anything was run: the settings of the other cases (the same); how many
steps; p (5, as in 5.1); which sample the outer function sees (the query of the inner one's task).
"""

from __future__ import annotations

from math import log
from typing import Any

QUERIES = 15
FILTERS = 64
SIDE = 28
"""Of the images, as in Vinyals et al. 2016; not in this paper's print."""
INNER_RATE = 0.4
LOCAL_STEPS = 5
CLIENTS = 33
CASE = 5, 1
"""Ways and shots of the case that the settings are printed for."""
SHARES = (33 / 50, 5 / 50, 12 / 50)
"""Of the alphabets, to train, validate and test."""
SETTINGS: dict[str, dict[str, Any]] = {
    "Local-BSGD": {"step_size": 0.1},
    "Local-SCGD": {"step_size": 0.1, "inner_momentum": 0.99},
    "Local-SCGDM": {
        "step_size": 1.0, "step_factor": 0.1, "momentum": 0.9, "inner_momentum": 0.99
    },
}  # fmt: skip
GREAT_LOSS = log(1.25)
""""A great margin" in training loss: the other's is larger by a quarter, or more."""
GREAT_ACCURACY = 0.05
"""… and in validation accuracy: five points."""
BETTER = "our algorithm outperforms the baselines"
MARGIN = "… with a great margin"
