"""FedAvg for compositions (Case II), a period of I = 10 steps, without noise as FedDRO states it.

A client's step evaluates g_k and ∇g_k at two points and ∇f_k at its embedding, and moves x; every
tenth step models and embeddings are averaged.
"""

from driftproof.gpu_bench.workload import Workload, case
from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.toolkit.algorithms.compositional_fedavg import CompositionalFedAvg


@case(
    name="compositional-fedavg-case-2",
    kernel="compositional-fedavg-stretches",
    points=[{"clients": 64, "replicates": 64}],
)
def compositional_fedavg(
    *, clients: int = 64, dim: int = 4, replicates: int = 64, local_steps: int = 10
) -> Workload:
    """Return the workload at one size."""
    problem = AveragedComposition(
        clients=clients, dim=dim, inner_dim=dim, inner_curvature=0.4, inner_heterogeneity=0.4
    )
    algorithm = CompositionalFedAvg(local_steps=local_steps, step_size=0.01)
    return Workload(problem, algorithm, replicates, fields=("x",))
