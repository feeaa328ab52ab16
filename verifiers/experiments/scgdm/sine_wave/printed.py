"""What Local-SCGDM (2022), section 5.1 prints of figures 1 to 5, and the grids chosen for them.

Printed: 25 training tasks y = A sin(x + bπ/5), A and b in {1, …, 5}, "randomly and evenly"
distributed over 5 clients; 3 tasks a client and step, 10 points of x in [−5, 5] a task; 600 test
tasks with A in [0.1, 5], b in [0, 5]; "a two-layer fully-connected neural network with 40 hidden
units and ReLU"; inner learning rate 0.001; p = 5; the rates below.

Not printed, chosen before anything was run: the grids around the printed values; the loss, the
squared error; the number of steps; the points of the test; how many adaptation steps figure 1 has.
"""

from __future__ import annotations

from math import log

CLIENTS, TASKS, SAMPLED, POINTS = 5, 5, 3, 10
VALUES = (1, 2, 3, 4, 5)
"""Of A and of b in training."""
TEST_TASKS = 600
TEST_AMPLITUDES, TEST_PHASES = (0.1, 5.0), (0.0, 5.0)
INNER_RATE, LOCAL_STEPS = 0.001, 5
UNSEEN = (2.5, 1.5)
"""A and b of figure 1's unseen task, (5/2) sin(x + (3/2)π/5)."""

GAMMAS = (0.3, 0.5, 0.7, 0.9)
PERIODS = (1, 5, 10, 20)
ALPHAS = (0.5, 0.7, 0.8, 0.9)
SCGD_GAMMAS = (0.1, 0.3, 0.5, 0.7)
"""Smaller than the printed 0.9."""
RATES = (INNER_RATE, 0.01)
STEPS_SHOWN = (1, 10, 100)
"""Adaptation steps of figure 1."""

FITS_WELL = 0.1
"""A curve fits well if its squared error is at most this share of that of the zero function."""
GREAT = log(1.25)
""""A great margin": the other's loss is larger by a quarter, or more."""
ALIKE = log(1.1)
""""Performs well in different p": losses differ by less than a tenth."""
ZERO = 0.1
""""All zero": the function's mean square is at most this share of the training tasks'."""

FIT = "our algorithm fits the sinusoid curve well"
BETTER = "Local-SCGDM outperforms the other baselines"
MARGIN = "… with a great margin (a quarter or more)"
FASTER_FIT = "smaller γ leads to faster fitting to the training tasks"
OVERFITS = "it overfits for very small γ, and generalises best at γ = 0.7"
PERIOD = "Local-SCGDM performs well in different p values"
BEST_ALPHA = "Local-SCGDM gets best performance at α = 0.9"
DIVERGES = "Local-SCGD diverges with smaller values of its momentum than 0.9"
OWN_SETTING = " (in a setting of our own)"
PRE_TRAINING = "simple pre-training over all of the tasks leads to a degenerated all zero solution"
