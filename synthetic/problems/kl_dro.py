r"""KL-regularised distributionally robust learning over clients, in the forms (4), (5) and (6).

**Data.** Client i has ``samples`` rows a, ‖a‖ = feature_bound, labelled by the sign of ⟨a, v_i⟩,
v_i = v + heterogeneity·δ_i, with a quarter of the labels flipped; f^i(w) is the mean loss of the
linear model ⟨a, w⟩.

**Forms** of min_w max_r Σ r_i f^i(w) − γ Σ r_i log(n r_i), with γ = temperature:

* "exp", (6): F = (1/n) Σ exp(f^i/γ): inner f^i, outer exp(·/γ), client by client (ComFedL);
* "log", (5): Φ = γ log((1/n) Σ exp(f^i/γ)): inner exp(f^i/γ), averaged inside outer γ log (FedDRO);
  whole batches only, since a minibatch of exp(f^i/γ) is biased;
* "average": F = (1/n) Σ f^i, what FedAvg minimises;
* (4) itself: ``saddle_value`` and ``robust_weights``.

**Constants.** With R = feature_bound, and for the logistic loss on ‖w‖ ≤ B = ball (for the sigmoid
loss, which is bounded everywhere, on R^d), scores are at most RB and f^i lies in [m, M]:

* f^i: gradient ≤ R|ℓ'|, its Lipschitz constant R²|ℓ''|; a sample's value has standard deviation
  ≤ (M − m)/2 (Popoviciu), its gradient ≤ R|ℓ'|;
* exp: gradient ≤ e^{M/γ}/γ and Lipschitz constant e^{M/γ}/γ² on the range [m, M] of f^i;
* F of (6): e^{M/γ}(L_f/γ + G_f²/γ²);  Φ of (5): L_f + G_f²/γ;  the average: L_f.

**Optimum.** For the logistic loss: (5) by cvxpy's exponential cone and by Newton's method, enclosed
by the Frank–Wolfe gap; exp(·/γ) is monotone, so (6) has the same minimiser. The sigmoid loss is not
convex: only m is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.linear_model import LinearModel
from driftproof.synthetic.building_blocks.losses import LOSSES
from driftproof.synthetic.certificates.robust_logistic import logistic_optimum
from driftproof.synthetic.oracles.dro import DROOracles, robust_weights, saddle_value
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.parameters import NonNegative, NonNegativeInt, Positive, PositiveInt
from driftproof.toolkit.problem import Solution, problem


class DROProblem(CompositionProblem):
    """A problem in the form (6) "exp", (5) "log", or the plain "average" of the losses."""

    outer_everywhere = False
    form: str

    @property
    def offers(self) -> str:
        """The average has losses of samples, the robust forms are compositions."""
        return "samples" if self.form == "average" else "composition"

    @property
    def inside(self) -> bool:
        """Form (5) averages inside the logarithm."""
        return self.form == "log"


@problem(
    name="kl-dro",
    source="ComFedL, problems (4), (5) and (6)",
    statement=r"\min_w\max_{r\in\Delta}\sum_i r_i f^i(w) - \gamma\sum_i r_i\log(n r_i)",
)
class KLDRO(DROProblem):
    """Robust logistic (or sigmoid-loss) regression over clients.

    At w = 0 every loss is log 2, and F = exp(log 2) at γ = 1; a loss bends by R²/4 at most:

    >>> import torch
    >>> problem = KLDRO()
    >>> round(float(problem.objective(torch.zeros(3, 1))), 5), problem.constants["inner_smoothness"]
    (2.0, 0.25)

    Args:
        clients: n.
        dim: d, the number of features.
        samples: rows a client.
        loss: "logistic" (constants on the ball) or "sigmoid" (constants everywhere).
        form: "exp", "log" or "average".
        temperature: γ.
        feature_bound: R.
        ball: B (used by the logistic loss).
        heterogeneity: how far the clients' labelling vectors lie apart.
        data_seed: of the data.
    """

    clients: PositiveInt = 4
    dim: PositiveInt = 3
    samples: PositiveInt = 20
    loss: Literal["logistic", "sigmoid"] = "logistic"
    form: Literal["exp", "log", "average"] = "exp"
    temperature: Positive = 1.0
    feature_bound: Positive = 1.0
    ball: Positive = 5.0
    heterogeneity: NonNegative = 0.5
    data_seed: NonNegativeInt = 0

    notation = {"gamma": "temperature", "n": "clients", "R": "feature_bound", "B": "ball"}

    def validate(self) -> None:
        """Refuse what overflows."""
        top = LOSSES[self.loss].range(self.feature_bound * self.ball)[1]
        self.require(
            "temperature", "above loss/700, or exp overflows", top / self.temperature < 700
        )

    @classmethod
    def examples(cls) -> list[KLDRO]:
        """Return a member for each form and loss."""
        return [
            cls(clients=2, samples=3, ball=2.0),
            cls(clients=3, samples=4, form="log"),
            cls(clients=2, samples=3, form="average", temperature=0.3),
            cls(clients=2, samples=3, loss="sigmoid", temperature=0.5),
            cls(clients=2, samples=3, loss="sigmoid", form="average"),
        ]

    @property
    def radius(self) -> float | None:
        """The ball, for the logistic loss."""
        return self.ball if self.loss == "logistic" else None

    @cached_property
    def data(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Features [samples, dim] and labels ±1 [samples] of each client."""
        random = np.random.Generator(np.random.Philox(self.data_seed))
        common = random.standard_normal(self.dim)
        features, labels = [], []
        for _ in range(self.clients):
            rows = random.standard_normal((self.samples, self.dim))
            rows *= self.feature_bound / np.linalg.norm(rows, axis=1, keepdims=True)
            own = common + self.heterogeneity * random.standard_normal(self.dim)
            flips = np.where(random.random(self.samples) < 0.25, -1.0, 1.0)
            features.append(rows)
            labels.append(np.where(rows @ own >= 0, 1.0, -1.0) * flips)
        return features, labels

    @cached_property
    def loss_range(self) -> tuple[float, float]:
        """[m, M], an enclosure of every f^i."""
        return LOSSES[self.loss].range(self.feature_bound * self.ball)

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        loss, largest = LOSSES[self.loss], self.feature_bound * self.ball
        low, high = self.loss_range
        gamma, slope = self.temperature, self.feature_bound * loss.slope(largest)
        bend, top = self.feature_bound**2 * loss.curvature(largest), math.exp(high / gamma)
        if self.form == "average":
            return {
                "field_gradient_bound": slope,
                "field_gradient_noise": slope,
                "objective_smoothness": bend,
            }
        if self.form == "log":
            return {
                "inner_gradient_bound": top * slope / gamma,
                "inner_smoothness": top * (bend / gamma + slope**2 / gamma**2),
                "outer_gradient_bound": gamma * math.exp(-low / gamma),
                "outer_smoothness": gamma * math.exp(-2 * low / gamma),
                "objective_smoothness": bend + slope**2 / gamma,
            }
        return {
            "inner_gradient_bound": slope,
            "inner_smoothness": bend,
            "inner_gradient_noise": slope,
            "inner_value_noise": (high - low) / 2,
            "outer_gradient_bound": top / gamma,
            "outer_smoothness": top / gamma**2,
            "outer_gradient_noise": 0.0,
            "objective_smoothness": top * (bend / gamma + slope**2 / gamma**2),
        }

    @cached_property
    def solution(self) -> Solution:
        """The optimum on the ball, certified; for the sigmoid loss only a lower bound."""
        start = torch.from_numpy(self.start())[:, None]
        if not LOSSES[self.loss].convex:
            lowest = {"exp": math.exp(self.loss_range[0] / self.temperature)}
            low = lowest.get(self.form, self.loss_range[0])
            return Solution(
                low, float(self.objective(start)), None, {"method": "range of the loss"}
            )
        found = self.robust_optimum()
        low, high = found.low, found.high
        if self.form == "exp":  # exp(·/γ) is monotone
            low, high = (math.exp(end / self.temperature) for end in (low, high))
        gap = {"frank_wolfe_gap": high - low}
        return Solution(low, high, found.minimiser, {**found.certificate, **gap})

    def robust_optimum(self, weights: np.ndarray | None = None) -> Solution:
        """Enclose the optimum on the ball of (5), or of the mean of the losses with given weights.

        In form "average" it is the mean with equal ones.
        """
        rows, labels = (np.concatenate(part) for part in self.data)
        shares = np.kron(np.eye(self.clients), np.full((1, self.samples), 1 / self.samples))
        if weights is not None or self.form == "average":  # a mean is one loss
            equal = np.full(self.clients, 1 / self.clients)
            shares = (equal if weights is None else weights)[None] @ shares
        return logistic_optimum(
            rows * labels[:, None], shares, ball=self.ball, penalty=self.temperature
        )

    def start(self) -> np.ndarray:
        """Return 0."""
        return np.zeros(self.dim)

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> DROOracles:
        """Return the oracles of some clients."""
        chosen = clients or range(self.clients)
        features, labels = ([part[k] for k in chosen] for part in self.data)
        sizes = [self.samples] * self.clients
        model = LinearModel(
            features, labels, LOSSES[self.loss], sizes=sizes, dtype=dtype, device=device
        )
        return DROOracles(model, form=self.form, temperature=self.temperature)

    def losses(self, w: Tensor) -> Tensor:
        """Return f^i(w), [clients, replicates], for w of shape [dim, replicates]."""
        model = self.oracles(w.dtype, str(w.device)).model
        return model(w.expand(self.clients, *w.shape), None)[0][:, 0]

    def saddle_value(self, w: Tensor, r: Tensor) -> Tensor:
        """Return the objective of (4) at w and r in the simplex [clients, replicates]."""
        return saddle_value(self.losses(w), r, self.temperature)

    def robust_weights(self, w: Tensor) -> Tensor:
        """Return the r that maximises (4) at w, r_i ∝ exp(f^i(w)/γ): [clients, replicates]."""
        return robust_weights(self.losses(w), self.temperature)
