"""W4: FedDRO's inner-estimator update, shared at every step, a period of I = 10 steps with noise.

A client's step evaluates g_k twice on one sample, averages the estimates over clients, and moves x;
every tenth step x is averaged too.
"""

from driftproof.gpu_bench.workload import Workload, case
from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.toolkit.algorithms.feddro import FedDRO


@case(
    name="w4",
    kernel="feddro-stretches",
    points=[{"clients": 64, "replicates": 1}, {"clients": 64, "replicates": 64}],
)
def w4(*, clients: int = 64, dim: int = 4, replicates: int = 64, local_steps: int = 10) -> Workload:
    """Return the workload at one size."""
    problem = AveragedComposition(
        clients=clients,
        dim=dim,
        inner_dim=dim,
        inner_curvature=0.4,
        inner_heterogeneity=0.4,
        inner_value_noise=0.1,
        inner_gradient_noise=0.1,
        plain_slope=0.5,
        plain_noise=0.1,
    )
    algorithm = FedDRO(local_steps=local_steps, step_size=0.01)
    return Workload(problem, algorithm, replicates, fields=("x",))
