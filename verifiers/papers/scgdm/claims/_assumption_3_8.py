"""Assumption 3.8 of Local-SCGDM, as code: what is assumed of the task losses."""

from driftproof.toolkit.cases import Assumption

TASKS = Assumption(
    "Assumption 3.8",
    r"\|\nabla\mathcal{L}_i(x)-\nabla\mathcal{L}_i(y)\|\le L_1\|x-y\|,\;"
    r"\|\nabla^2\mathcal{L}_i(x)-\nabla^2\mathcal{L}_i(y)\|\le L_2\|x-y\|,\;"
    r"\mathbb{E}\|\nabla\mathcal{L}_i(x;\xi)-\nabla\mathcal{L}_i(x)\|^2\le\sigma_1^2,\;"
    r"\mathbb{E}\|\nabla^2\mathcal{L}_i(x;\xi)-\nabla^2\mathcal{L}_i(x)\|^2\le\sigma_2^2,\;"
    r"\|\nabla\mathcal{L}_i(x)\|\le G",
    (
        "task_smoothness",
        "task_hessian_smoothness",
        "task_gradient_noise",
        "task_hessian_noise",
        "task_gradient_bound",
    ),
)
