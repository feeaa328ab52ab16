"""Compiles the Triton variants for a Hopper GPU where there is none: no launch is carried out.

    python -m tests.triton_offline

Prints one line of JSON a kernel: its name, bytes of shared memory, registers and bytes of stack a
thread, whether its matrix products are rounded to tf32, and whether one instruction makes the upper
word of a product (``_triton_philox``).
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from typing import Any

if __name__ == "__main__":  # not where pytest looks for examples: it would end interpreter mode
    os.environ["TRITON_INTERPRET"] = "0"

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction

from driftproof.synthetic.problems import KLDRO, QuadraticMinimax
from driftproof.toolkit.algorithms import ComFedL, FedAvg
from driftproof.toolkit.kernels.registry import kernel_of
from tests.kernel_cases import Case

COMPILED = [
    (FedAvg(batch=2), QuadraticMinimax(clients=3, dim=10, gradient_noise=0.2), 64),
    (FedAvg(participation=0.4), QuadraticMinimax(clients=3, dim=64), 1),
    (FedAvg(participation=0.4), QuadraticMinimax(clients=3, dim=100, gradient_noise=0.2), 64),
    (ComFedL(local_steps=2, batch=50), KLDRO(clients=2, dim=64, samples=5), 4),
    (ComFedL(local_steps=2, batch=3), KLDRO(clients=2, dim=1, samples=5), 1),
]
"""Algorithm, problem, replicates."""


class Hopper:
    """As much of a driver as compiling asks for."""

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)


def resources(cubin: bytes) -> dict[str, int]:
    """Return registers and stack of a kernel, as the disassembler tells them."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        tool = triton.knobs.nvidia.cuobjdump.path
        told = subprocess.run(
            [tool, "--dump-resource-usage", file.name], capture_output=True, text=True, check=True
        ).stdout
    return {
        name: int(re.search(rf"{key}:(\d+)", told).group(1))  # type: ignore[union-attr]
        for name, key in (("registers", "REG"), ("stack", "STACK"))
    }


def main() -> None:
    made: list[dict[str, Any]] = []
    launch = JITFunction.run

    def compiled(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        kernel = launch(self, *args, grid=grid, warmup=True, **kwargs)
        ptx, cubin = kernel.asm["ptx"], kernel.asm["cubin"]
        found = {
            "name": kernel.name,
            "shared": kernel.metadata.shared,
            "tf32": "tf32" in ptx,
            "upper words": "mul.hi" in ptx,
        }
        made.append(found | resources(cubin))
        return kernel

    driver.set_active(Hopper())
    JITFunction.run = compiled
    for dtype in (torch.float64, torch.float32):
        for algorithm, problem, replicates in COMPILED:
            kernel = kernel_of(algorithm, problem)
            assert kernel is not None
            case = Case(kernel, algorithm, problem, replicates, dtype, steps=2)
            oracles = problem.oracles(dtype)
            kernel.variants["triton"].advance(
                case.context(), oracles, algorithm, case.state(), case.steps
            )
            made[-1] |= {"case": f"{algorithm} {problem}", "dtype": str(dtype)}
    for found in made:
        sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
