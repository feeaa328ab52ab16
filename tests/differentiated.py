"""Functions of a vector of two numbers, whose derivatives balls are asked for."""

import torch
from torch import nn, vmap
from torch.func import grad, jvp

F = nn.functional
A = torch.tensor([[1.0, 0.3], [-0.2, 2.0]], dtype=torch.float64)
B = torch.tensor([0.25, -1.5], dtype=torch.float64)

FUNCTIONS = {
    "softplus": lambda x: F.softplus(A @ x).sum(),
    "logsumexp": lambda x: torch.logsumexp(A @ x, 0),
    "logsumexp of two dimensions": lambda x: torch.logsumexp(torch.outer(x, x), (0, 1)),
    "log_softmax": lambda x: F.log_softmax(A @ x, 0)[0],
    "softmax": lambda x: (F.softmax(A @ x, 0) * B).sum(),
    "logsigmoid": lambda x: F.logsigmoid(x).sum(),
    "sigmoid": lambda x: torch.sigmoid(x).sum(),
    "tanh": lambda x: torch.tanh(x).sum(),
    "logistic loss": lambda x: F.binary_cross_entropy_with_logits(A @ x, (B > 0).double()),
    "cube": lambda x: (x**3).sum(),
    "pow": lambda x: (x.abs() ** 1.5).sum() + x.pow(2).sum(),
    "square": lambda x: torch.square(x).sum(),
    "quotient": lambda x: (1 / (1 + x**2)).sum(),
    "sqrt": lambda x: torch.sqrt(1 + x**2).sum(),
    "rsqrt": lambda x: torch.rsqrt(1 + x * x).sum(),
    "exp": lambda x: torch.exp(x).sum(),
    "log": lambda x: torch.log(1 + x**2).sum(),
    "log1p": lambda x: torch.log1p(x**2).sum(),
    "sin and cos": lambda x: torch.sin(x).sum() + torch.cos(x).sum(),
    "sinh and cosh": lambda x: torch.sinh(x).sum() + torch.cosh(x).sum(),
    "atan": lambda x: torch.atan(x).sum(),
    "erf": lambda x: torch.erf(x).sum(),
    "relu": lambda x: F.relu(x).sum(),
    "leaky relu": lambda x: F.leaky_relu(x).sum(),
    "elu": lambda x: F.elu(x).sum(),
    "gelu": lambda x: F.gelu(x).sum(),
    "abs": lambda x: x.abs().sum(),
    "sign": lambda x: (x.sign() * x).sum(),
    "maximum": lambda x: torch.maximum(x, B).sum(),
    "amax": lambda x: x.amax(),
    "clamp": lambda x: x.clamp(min=0).sum(),
    "where": lambda x: torch.where(x > 0, x, 2 * x).sum(),
    "huber": lambda x: F.huber_loss(A @ x, B),
    "smooth l1": lambda x: F.smooth_l1_loss(A @ x, B),
    "mse": lambda x: F.mse_loss(A @ x, B),
    "masked_fill": lambda x: x.masked_fill(x < 0, 0.5).sum(),
    "norm": torch.linalg.vector_norm,
    "x.norm()": lambda x: x.norm(),
    "a squared norm": lambda x: torch.linalg.norm(x) ** 2,
    "matmul": lambda x: x @ A @ x,
    "mv": lambda x: torch.mv(A, x).sum(),
    "dot": lambda x: x.dot(B),
    "einsum": lambda x: torch.einsum("i,ij,j->", x, A, x),
    "linear": lambda x: F.linear(x, A).sum(),
    "addmm": lambda x: torch.addmm(A, torch.outer(x, x), A).sum(),
    "outer": lambda x: torch.outer(x, x).sum(),
    "kron": lambda x: torch.kron(x, x).sum(),
    "permute": lambda x: (torch.outer(x, x).permute(1, 0) * A).sum(),
    "T": lambda x: (torch.outer(x, x).T * A).sum(),
    "reshape": lambda x: torch.outer(x, x).reshape(-1)[1],
    "sum of a dimension": lambda x: torch.outer(x, x).sum(0)[0],
    "mean": lambda x: x.mean() ** 2,
    "prod": lambda x: x.prod(),
    "cumsum": lambda x: (x.cumsum(0) * B).sum(),
    "entries": lambda x: x[0] * x[1],
    "slices": lambda x: (x[:1] * x[1:]).sum(),
    "picked": lambda x: (x.index_select(0, torch.tensor([1, 1])) * B).sum(),
    "cat": lambda x: (torch.cat([x, x]) * torch.cat([B, 2 * B])).sum(),
    "stack": lambda x: torch.stack([x, 2 * x]).sum(),
    "flip": lambda x: (x.flip(0) * B).sum(),
    "roll": lambda x: (x.roll(1) * B).sum(),
    "diag": lambda x: (torch.diag(x) @ x).sum(),
    "diagonal": lambda x: (torch.outer(x, x).diagonal() * B).sum(),
    "tril": lambda x: torch.outer(x, x).tril().sum(),
}


def derivative(f):
    """Return its gradient at each of many points."""
    return vmap(grad(f))


def second(f):
    """Return ∇²f(x)x at each of many points."""
    return vmap(lambda x: jvp(grad(f), (x,), (x,))[1])


TRANSFORMED = {"values": vmap, "gradients": derivative, "Hessians times x": second}
BEYOND_TORCH = {(name, "Hessians times x") for name in ("huber", "mse", "logsigmoid")}
"""What torch cannot differentiate twice under vmap, or warns of, in doubles either."""
CASES = [
    (name, how) for name in FUNCTIONS for how in TRANSFORMED if (name, how) not in BEYOND_TORCH
]
