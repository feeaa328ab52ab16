"""W3: Local-SCGDM's momentum and inner-estimator updates, a period of p = 10 steps with noise.

A client's step draws three signs (one bit a replicate each), evaluates g_k, ∇g_k and ∇f_k, and
moves u, m and x; every tenth step all three are averaged.
"""

from driftproof.gpu_bench.workload import Workload, case
from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM


@case(
    name="w3",
    kernel="local-scgdm-stretches",
    points=[{"clients": 64, "replicates": 1}, {"clients": 64, "replicates": 64}],
)
def w3(*, clients: int = 64, dim: int = 4, replicates: int = 64, local_steps: int = 10) -> Workload:
    """Return the workload at one size."""
    problem = BoundedComposition(
        clients=clients,
        dim=dim,
        inner_dim=dim,
        inner_curvature=0.4,
        heterogeneity=0.6,
        inner_value_noise=0.1,
        inner_gradient_noise=0.1,
        outer_gradient_noise=0.1,
    )
    algorithm = LocalSCGDM(local_steps=local_steps, step_size=0.01)
    return Workload(problem, algorithm, replicates, fields=("x",))
