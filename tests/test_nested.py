"""FedNest and its relatives a second time: the slides line by line, client by client in numpy.

The slides' loop is that of the claim fednest/fednest-loop, FedSVRG's that of fednest/fedsvrg. They
ask a client's oracles, which ``test_bilevel`` compares with the functions that are written.
"""

import inspect
import sys
from textwrap import dedent

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import (
    CompositionalBilevel,
    LogisticBilevel,
    QuadraticBilevel,
    QuadraticMinimax,
)
from driftproof.toolkit.algorithms import (
    FedAvgS,
    FedIHGP,
    FedInn,
    FedNest,
    FedNestSGD,
    FedOut,
    FedSVRG,
    LFedNest,
    LFedNestSVRG,
    StocBiO,
)
from driftproof.toolkit.draws import Indices
from driftproof.toolkit.federation import run, run_exactly, sampled_context
from driftproof.toolkit.measure import average
from driftproof.verifiers.papers.fednest.claims import _transcribed, fedsvrg
from driftproof.verifiers.papers.fednest.claims._transcribed import NAME, Loop, Slides

WRITTEN = {
    "fedinn",
    "fedout",
    "fedihgp",
    "fednest",
    "fednest-sgd",
    "lfednest",
    "lfednest-svrg",
    "fedsvrg",
    "fedavg-s",
    "stocbio",
}
ROUNDS = 3

BILEVEL = QuadraticBilevel(
    clients=4,
    dim=2,
    lower_dim=3,
    hessian_heterogeneity=0.3,
    cross_heterogeneity=0.4,
    offset_heterogeneity=0.3,
    target_heterogeneity=0.5,
    regulariser=0.3,
    tilt=0.2,
    regulariser_heterogeneity=0.2,
    upper_noise=0.3,
    lower_value_noise=0.2,
    lower_curvature_noise=0.15,
    cross_noise=0.25,
)
LOGISTIC = LogisticBilevel(
    clients=4,
    dim=3,
    lower_dim=2,
    samples=5,
    validation=4,
    regulariser=0.2,
    feature_bound=2.0,
    cross_heterogeneity=0.4,
    heterogeneity=2.0,
)
MINIMAX = QuadraticMinimax(clients=4, dim=2, heterogeneity=0.4, gradient_noise=0.3)
COMPOSED = CompositionalBilevel(
    clients=4,
    inner_heterogeneity=0.5,
    inner_offset=0.4,
    plain_tilt=0.3,
    inner_value_noise=0.2,
    inner_gradient_noise=0.3,
    plain_noise=0.2,
    distance=0.6,
)


def fed_avg_s(of):
    """Local descent in x and ascent in y."""
    at, chosen = of.given, of.cohort()
    own = dict.fromkeys(chosen, (of.x, of.y))
    for _ in range(at.local_steps):
        xi = of.sample("upper_law", "xi")
        for i, (x, y) in own.items():
            moved = y + at.inner_step_size * of.ask(i, "upper_grad_y", x, y, noise=xi(i))
            seen = moved if at.order == "alternating" else y
            slope = of.ask(i, "upper_grad_x", x, seen, noise=xi(i))
            own[i] = x - at.outer_step_size * slope, moved
        of.draws.t += 1
    of.x, of.y = (np.mean(part, 0) for part in zip(*own.values(), strict=True))


def stoc_bio(of):
    """Ji et al.'s Algorithm 2 on the means f and g, with v_Q of (6)."""
    at, unit = of.given, np.eye(len(of.y))
    eta = at.series_step or of.step

    def mean(what, *vectors, noise):
        asked = [of.ask(i, what, of.x, of.y, *vectors, noise=noise(i)) for i in range(of.m)]
        return np.mean(asked, 0)

    for j in range(at.inner_calls):
        zeta = of.sample("lower_law", f"zeta-{j}")
        of.y = of.y - at.inner_step_size * mean("lower_grad", noise=zeta)
    xi = of.sample("upper_law", "xi")
    factors = []  # I − η∇²_yy G(x, y; B_q), as matrices
    for q in range(1, at.terms + 1):
        zeta = of.sample("lower_law", f"zeta-series-{q}")
        columns = [mean("lower_hessian_product", e, noise=zeta) for e in unit]
        factors.append(unit - eta * np.array(columns).T)
    v_0 = mean("upper_grad_y", noise=xi)
    v_q = np.zeros_like(of.y)
    for q in range(at.terms + 1):
        product = unit
        for factor in factors[:q]:
            product = factor @ product
        v_q = v_q + eta * product @ v_0
    cross = mean("lower_cross_product", v_q, noise=of.sample("lower_law", "chi"))
    of.x = of.x - at.outer_step_size * (mean("upper_grad_x", noise=xi) - cross)
    of.draws.t += 1


def written(algorithm, problem):
    """Return an algorithm's transcription after ROUNDS rounds, by field, and the draws' name."""
    if isinstance(algorithm, FedSVRG):
        x = fedsvrg.transcribed(problem, algorithm, ROUNDS, fedsvrg.Direction.PRINTED)[0]
        return {"x": x}, fedsvrg.NAME
    slides = Slides(problem, algorithm, Loop.PRINTED)
    if isinstance(algorithm, FedIHGP):
        slides.draws.t = ROUNDS - 1
        return {"p": slides.fed_ihgp(slides.x, range(slides.m))}, NAME
    module = sys.modules[__name__]
    one_round = {
        FedInn: slides.fed_inn,
        FedOut: slides.fed_out,
        FedAvgS: lambda: module.fed_avg_s(slides),
        StocBiO: lambda: module.stoc_bio(slides),
    }.get(type(algorithm), slides.round)
    for _ in range(ROUNDS):
        one_round()
    return {"x": slides.x, "y": slides.y}, NAME


FIELDS = {"inner_step_size": 0.3, "outer_step_size": 0.2, "batch": 2}
STEPS = {"inner_steps": 3, "outer_steps": 2}
BOTH = (BILEVEL, LOGISTIC)
CASES = [
    *((FedInn(inner_steps=3, participation=p, **FIELDS), on) for p in (1.0, 0.5) for on in BOTH),
    *((FedIHGP(terms=4, series=s, participation=p, batch=b), on)
      for s, b in (("sampled", 1), ("summed", 3)) for p in (1.0, 0.5) for on in BOTH),
    *((FedOut(terms=3, series=s, outer_steps=3, participation=p, **FIELDS), on)
      for s in ("sampled", "summed") for p in (1.0, 0.5) for on in BOTH),
    *((cls(inner_calls=2, terms=3, participation=p, **STEPS, **FIELDS), on)
      for cls in (FedNest, FedNestSGD, LFedNest, LFedNestSVRG)
      for p in (1.0, 0.5) for on in (*BOTH, MINIMAX, COMPOSED)),
    (FedNest(terms=0, participation=0.25, **STEPS, **FIELDS), MINIMAX),
    (LFedNest(terms=0, **STEPS, **FIELDS), BILEVEL),
    (FedNest(terms=1, inner_step_size=0.4), BILEVEL),
    (FedNest(terms=3, series="summed", participation=0.5, **STEPS, **FIELDS), BILEVEL),
    *((FedSVRG(local_steps=3, participation=p, batch=2), MINIMAX) for p in (1.0, 0.5)),
    *((FedAvgS(local_steps=3, order=o, participation=p, **FIELDS), MINIMAX)
      for o in ("simultaneous", "alternating") for p in (1.0, 0.5)),
    *((StocBiO(inner_calls=3, terms=q, series_step=s, **FIELDS), on)
      for q, s in ((0, 0.0), (3, 0.0), (2, 0.4)) for on in BOTH),
]  # fmt: skip


def difference(algorithm, problem):
    """Return the largest difference over clients, relative to what is written."""
    fields, name = written(algorithm, problem)
    ctx = sampled_context(problem, (name,), replicates=1)
    state = run(problem, algorithm, ctx, rounds=ROUNDS, kernels=False).state
    return max(
        np.abs(getattr(state, field)[..., 0].numpy() - wanted).max() / (np.linalg.norm(wanted) or 1)
        for field, wanted in fields.items()
    )


def named(cases):
    return [pytest.param(*case, id=f"{case[0].leaf_name}-{k}") for k, case in enumerate(cases)]


@pytest.mark.parametrize(("algorithm", "problem"), named(CASES))
def test_the_federation_does_what_is_written(algorithm, problem):
    assert difference(algorithm, problem) < 1e-12


def test_every_transcription_is_compared_on_noise_and_on_sampled_clients():
    alone = {"stocbio"}  # one machine
    for name in WRITTEN:
        held = [(a, p) for a, p in CASES if a.leaf_name == name]
        assert held, name
        assert name in alone or {a.cohort_size(4) for a, _ in held} >= {2, 4}, name
    # the rounds of a sampled series differ in N', and more than one term is met
    draws = sampled_context(BILEVEL, (NAME,), replicates=1)
    left = [int(draws.server_draw(Indices((3,), 1), "left-out", t)[0, 0]) for t in (6, 14, 22)]
    assert len(set(left)) > 1


NEST = {"inner_calls": 2, "terms": 3, **STEPS, **FIELDS}
MUTANTS = [
    # wrong signs
    (FedNest(**NEST), BILEVEL, "fed_inn", "noise=zeta(i)) - self.q", "noise=zeta(i)) + self.q"),
    (FedNest(**NEST), BILEVEL, "fed_out", "one - self.ask", "one + self.ask"),
    (LFedNest(**NEST), BILEVEL, "local_fed_out", "h = h - self.ask", "h = h + self.ask"),
    (FedAvgS(local_steps=3, **FIELDS), MINIMAX, "fed_avg_s", "y + at.inner", "y - at.inner"),
    # a mean that is a sum, or one over all clients where some were asked
    (FedNest(**NEST), BILEVEL, "fed_inn", "else np.mean([own", "else np.sum([own"),
    (FedNest(participation=0.5, **NEST), BILEVEL, "fed_out", "h = np.mean(shared, 0)",
     "h = np.sum(shared, 0) / self.m"),
    (FedIHGP(terms=4), BILEVEL, "fed_ihgp", "self.loop is Loop.UNDIVIDED", "True"),
    # a stale or missing anchor
    (FedNest(**NEST), BILEVEL, "fed_inn", "self.y, noise=zeta(i)) - self.q",
     "own[i], noise=zeta(i)) - self.q"),
    (FedOut(terms=3, outer_steps=3, **FIELDS), BILEVEL, "fed_out",
     "self.x, self.y, noise=xi(i)) + h", "own[i], self.y, noise=xi(i)) + h"),
    # N terms where there are N − 1, or a weight of N − 1
    (FedIHGP(terms=4), BILEVEL, "fed_ihgp", "last -= 1 + int", "last -= int"),
    (FedIHGP(terms=4), BILEVEL, "fed_ihgp", "weight = given.terms", "weight = given.terms - 1"),
    (FedIHGP(terms=4, series="summed"), BILEVEL, "fed_ihgp", "range(1, last + 1)",
     "range(1, last)"),
    (StocBiO(terms=3, **FIELDS), BILEVEL, "stoc_bio", "range(at.terms + 1)", "range(at.terms)"),
    # a sample used twice, a cohort kept, a gradient at another point
    (FedNest(**NEST), BILEVEL, "fed_inn", '"zeta-shared"', '"zeta"'),
    (FedNest(**NEST), BILEVEL, "fed_out", '"chi"', '"zeta"'),
    (FedIHGP(terms=4, participation=0.5), BILEVEL, "fed_ihgp", 'f"series-{n}"', '"series-0"'),
    (LFedNest(**NEST), LOGISTIC, "local_fed_out", "self.fed_ihgp(own[i], [i])",
     "self.fed_ihgp(own[i], range(self.m))"),
    (FedAvgS(local_steps=3, **FIELDS), MINIMAX, "fed_avg_s", '== "alternating"',
     '!= "alternating"'),
    (StocBiO(terms=3, **FIELDS), LOGISTIC, "stoc_bio", "factor @ product", "product @ factor"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("algorithm", "problem", "name", "line", "wrong"),
    [pytest.param(*case, id=f"{case[0].leaf_name}-{k}") for k, case in enumerate(MUTANTS)],
)
def test_another_pseudo_code_is_told_apart(algorithm, problem, name, line, wrong, monkeypatch):
    """Negative control: a transcription with one line changed differs from the federation."""
    here = sys.modules[__name__]
    owner, module = (Slides, _transcribed) if hasattr(Slides, name) else (here, here)
    source, made = dedent(inspect.getsource(getattr(owner, name))), {}
    assert source.count(line) >= 1, "the line to be spoilt is not in the transcription"
    exec(source.replace(line, wrong), vars(module), made)
    monkeypatch.setattr(owner, name, made[name])
    assert difference(algorithm, problem) > 1e-4


# --- exact expectations ---------------------------------------------------------------------------


def nothing(view):
    return average("round", view.round_start("x").sum(0))


SMALL = QuadraticBilevel(
    clients=2,
    hessian_heterogeneity=0.3,
    target_heterogeneity=0.6,
    upper_noise=0.3,
    lower_curvature_noise=0.2,
)


@pytest.mark.parametrize(
    ("problem", "fields"),
    [
        (SMALL, {"terms": 3}),
        (SMALL, {"terms": 2, "participation": 0.5}),
        (SMALL, {"terms": 1, "series": "summed", "participation": 0.5}),
        (SMALL, {"terms": 2, "series": "summed"}),
        (
            LogisticBilevel(clients=2, samples=2, validation=2, heterogeneity=2.0),
            {"terms": 3, "participation": 0.5},
        ),
    ],
)
def test_the_expectation_of_fedihgp_is_the_truncated_inverse(problem, fields):
    """H̄^{-1}(I − (I − H̄/ℓ)^N) ḡ, N + 1 for the partial sum: samples and cohorts are unbiased."""
    algorithm = FedIHGP(**fields)
    made = run_exactly(problem, algorithm, rounds=1, left=nothing, limit=2**17)
    assert len(made.weights) > 60
    assert made.weights.sum() == pytest.approx(1.0, abs=1e-12)
    expected = made.state.p[0].numpy() @ made.weights
    x, y = (torch.from_numpy(v)[:, None] for v in np.split(problem.start(), [problem.upper_dim]))
    every = [v.expand(problem.clients, *v.shape) for v in (x, y)]
    hessian = problem.lower_hessian(*every)[0].numpy()
    gradient = problem.oracles(torch.float64).upper_grad_y(*every, None).mean(0)[:, 0].numpy()
    ell, unit = problem.constants["lower_smoothness"], np.eye(len(y))

    def truncated(terms):
        left = unit - np.linalg.matrix_power(unit - hessian / ell, terms)
        return np.linalg.solve(hessian, left @ gradient)

    terms = algorithm.terms + (algorithm.series == "summed")
    np.testing.assert_allclose(expected, truncated(terms), rtol=1e-11)
    # which is another vector for one term more, and is not the inverse
    assert np.linalg.norm(expected - truncated(terms + 1)) > 1e-3
    p = problem.inverse_hessian_gradient(x, y)[:, 0].numpy()
    assert np.linalg.norm(expected - p) > 1e-3
