"""The versions and the machine that a result depends on."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from driftproof.toolkit.errors import DriftproofError, MissingError

PACKAGES = (
    "driftproof",
    "numpy",
    "torch",
    "cvxpy",
    "clarabel",
    "sympy",
    "python-flint",
    "numba",
    "triton",
)


def environment(device: str, workers: int, packages: Sequence[str] = PACKAGES) -> dict[str, Any]:
    """Return python, machine, device, workers, and each package's version or "absent"."""
    versions = {}
    for name in packages:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "absent"
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "device": device,
        "workers": workers,
        **versions,
    }


def check_device(device: str) -> None:
    """Raise unless torch can compute on a device: cpu, cuda or cuda:1, say.

    Raises:
        DriftproofError: it is another kind of device.
        MissingError: it is not there.
    """
    if device == "cpu":
        return
    if device.partition(":")[0] != "cuda":
        raise DriftproofError(f"device {device!r}", "cpu, cuda or cuda:1, say", "pass one of them")
    import torch

    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise MissingError(
            f"device {device!r}: {str(error).splitlines()[0]}",
            "a device that torch can use",
            "leave out --device, or run on a machine with a GPU",
        ) from error


def processor() -> str:
    """Return the processor's model, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
