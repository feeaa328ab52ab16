"""What fused steps are made with; the kernels themselves are in ``synthetic/kernels``.

numba keeps machine code until the file of its function changes, and would keep it when a function
changes that was compiled into it from another file. So it lies in a folder that is named by what
the kernels share.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from toolkit.discover import KINDS, package_folder

HERE = Path(__file__).parent
SHARED = ("philox.py", "streams.py", "stream_values.py")


def shared_files() -> list[Path]:
    """Return the files whose functions are compiled into kernels of other files."""
    leaves_folder = package_folder(KINDS["kernel"].package)
    beside_leaves = [*leaves_folder.glob("_*.py")]
    return sorted([*HERE.glob("*.py"), *beside_leaves, *(HERE.parent / name for name in SHARED)])


def folder_of(files: Iterable[Path]) -> str:
    """Return where machine code lies that was made with these files."""
    digest = hashlib.blake2b(digest_size=8)
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return str(HERE / "__pycache__" / digest.hexdigest())


def _keep_machine_code() -> None:
    """Set numba's folder, unless a user has."""
    folder = folder_of(shared_files())
    os.environ.setdefault("NUMBA_CACHE_DIR", folder)
    if "numba" in sys.modules:  # it has read the environment
        config = sys.modules["numba"].config
        config.CACHE_DIR = config.CACHE_DIR or folder


_keep_machine_code()
