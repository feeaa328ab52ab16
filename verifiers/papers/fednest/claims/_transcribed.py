r"""FedNest's slides line by line: client by client, one replicate, vectors in numpy."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.algorithms._nested import Nested
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.draws import Indices, Subset
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.oracles import Bilevel

NAME = "fednest-loop"
Oracle: TypeAlias = Literal[
    "upper_grad_x", "upper_grad_y", "lower_grad", "lower_hessian_product", "lower_cross_product"
]


class Loop(Enum):
    """The slides as printed, or what a false sibling does."""

    PRINTED = "as printed"
    STALE = "keeps the first shared gradient of a round"
    UNDIVIDED = "sums p_n over S_n"
    OWN = "skips the server's average of y"


class Slides:
    """One run; its draws are those of the federation's run under ``NAME``."""

    def __init__(self, problem: BilevelProblem, given: Nested, loop: Loop) -> None:
        self.given, self.loop, self.m = given, loop, problem.clients
        self.draws = sampled_context(problem, (NAME,), replicates=1)
        self.client: list[Bilevel] = [
            problem.oracles(torch.float64, clients=range(i, i + 1)) for i in range(self.m)
        ]
        start, d = problem.start(), problem.upper_dim
        self.x, self.y, self.step = start[:d], start[d:], 1 / self.client[0].lower_smoothness
        self.q: np.ndarray | None = None

    def round(self) -> None:
        """Apply one k of Algorithm FedNest, or of its light forms."""
        self.q = None
        for _ in range(self.given.inner_calls):
            self.fed_inn()
        if self.given.local_hypergradient:
            self.local_fed_out()
        else:
            self.fed_out()

    def cohort(self, name: str = "cohort") -> Sequence[int]:
        """Draw S for the call that begins now."""
        size = self.given.cohort_size(self.m)
        if size == self.m:
            return range(self.m)
        drawn = self.draws.server_draw(Subset(self.m, size), name, self.draws.t)
        chosen: list[int] = np.flatnonzero(drawn[:, 0].numpy()).tolist()
        return chosen

    def sample(
        self, law: Literal["upper_law", "lower_law"], name: str
    ) -> Callable[[int], Tensor | None]:
        """Draw one minibatch for each client; it is asked by client."""
        drawn = self.draws.draw(getattr(self.client[0], law)(self.given.batch), name)
        return lambda i: None if drawn is None else drawn[i : i + 1]

    def ask(self, i: int, what: Oracle, *vectors: np.ndarray, noise: Tensor | None) -> np.ndarray:
        """Ask client i's oracle."""
        lifted = [torch.from_numpy(np.array(v))[None, :, None] for v in vectors]
        answer: np.ndarray = getattr(self.client[i], what)(*lifted, noise)[0, :, 0].numpy()
        return answer

    def fed_inn(self) -> None:
        """Apply y ← FedInn(x, y, β), or FedAvg on y."""
        given, chosen = self.given, self.cohort()
        own = dict.fromkeys(range(self.m), self.y)
        for nu in range(given.inner_steps):
            if nu == 0 and given.reduces_inner:
                at = self.sample("lower_law", "zeta-shared")
                q = [self.ask(i, "lower_grad", self.x, self.y, noise=at(i)) for i in chosen]
                if self.q is None or self.loop is not Loop.STALE:
                    self.q = np.mean(q, 0)
            zeta = self.sample("lower_law", "zeta")
            for i in own:
                h = -self.ask(i, "lower_grad", self.x, own[i], noise=zeta(i))
                if self.q is not None:
                    h = h + self.ask(i, "lower_grad", self.x, self.y, noise=zeta(i)) - self.q
                own[i] = own[i] + given.inner_step_size * h
            self.draws.t += 1
        self.y = own[0] if self.loop is Loop.OWN else np.mean([own[i] for i in chosen], 0)

    def fed_ihgp(self, x: np.ndarray, clients: Sequence[int]) -> np.ndarray:
        """Return p_{N'}, or the partial sum: of all clients, or (LFedNest) of one alone."""
        given, alone, last, weight = self.given, len(clients) == 1, self.given.terms, 1
        if given.series == "sampled":
            left = self.draws.server_draw(Indices((given.terms,), 1), "left-out", self.draws.t)
            last -= 1 + int(left[0, 0])  # N'
            weight = given.terms
        xi = self.sample("upper_law", "xi-series")
        chosen = clients if alone else self.cohort("series-0")
        terms = [self.ask(i, "upper_grad_y", x, self.y, noise=xi(i)) for i in chosen]
        p: np.ndarray = weight * self.step * np.mean(terms, 0)
        total = p
        for n in range(1, last + 1):
            chosen = clients if alone else self.cohort(f"series-{n}")
            zeta = self.sample("lower_law", f"zeta-series-{n}")
            terms = [
                p - self.step * self.ask(i, "lower_hessian_product", x, self.y, p, noise=zeta(i))
                for i in chosen
            ]
            p = np.sum(terms, 0) if self.loop is Loop.UNDIVIDED else np.mean(terms, 0)
            total = total + p
        return total if given.series == "summed" else p

    def fed_out(self) -> None:
        """Apply x ← FedOut(x, y⁺, α): FedSVRG around the shared hypergradient."""
        given, chosen = self.given, self.cohort()
        own = dict.fromkeys(range(self.m), self.x)
        xi = self.sample("upper_law", "xi-shared")
        shared = [self.ask(i, "upper_grad_x", self.x, self.y, noise=xi(i)) for i in chosen]
        if given.terms:
            p, chi = self.fed_ihgp(self.x, range(self.m)), self.sample("lower_law", "chi")
            shared = [
                one - self.ask(i, "lower_cross_product", self.x, self.y, p, noise=chi(i))
                for i, one in zip(chosen, shared, strict=True)
            ]
        h = np.mean(shared, 0)
        for _ in range(given.outer_steps):
            xi = self.sample("upper_law", "xi")
            for i in own:
                moved = self.ask(i, "upper_grad_x", own[i], self.y, noise=xi(i))
                moved = moved - self.ask(i, "upper_grad_x", self.x, self.y, noise=xi(i)) + h
                own[i] = own[i] - given.outer_step_size * moved
            self.draws.t += 1
        self.x = np.mean([own[i] for i in chosen], 0)

    def local_fed_out(self) -> None:
        """Apply LFedNest's outer step: every client's own hypergradient, at its own x."""
        given, chosen = self.given, self.cohort()
        own = dict.fromkeys(range(self.m), self.x)
        for _ in range(given.outer_steps):
            xi, chi = self.sample("upper_law", "xi"), self.sample("lower_law", "chi")
            for i in own:
                h = self.ask(i, "upper_grad_x", own[i], self.y, noise=xi(i))
                if given.terms:
                    p = self.fed_ihgp(own[i], [i])
                    h = h - self.ask(i, "lower_cross_product", own[i], self.y, p, noise=chi(i))
                own[i] = own[i] - given.outer_step_size * h
            self.draws.t += 1
        self.x = np.mean([own[i] for i in chosen], 0)


def transcribed(
    problem: BilevelProblem, given: Nested, rounds: int, loop: Loop
) -> list[np.ndarray]:
    """Run the slides' loop; return every client's x and y, [clients, dim] each."""
    slides = Slides(problem, given, loop)
    for _ in range(rounds):
        slides.round()
    return [np.tile(v, (problem.clients, 1)) for v in (slides.x, slides.y)]
