"""What fused steps are made with; the kernels themselves are in ``synthetic/kernels``.

numba keeps machine code until the file of its function changes, and would keep it when a function
changes that was compiled into it from another file. So it lies in a folder that is named by what
the kernels share: beside this file, or among the user's caches where the package cannot be written
to.
"""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from driftproof.toolkit.discover import KINDS, package_folder

HERE = Path(__file__).parent
SHARED = ("philox.py", "streams.py", "stream_values.py")


def shared_files() -> list[Path]:
    """Return the files whose functions are compiled into kernels of other files."""
    leaves_folder = package_folder(KINDS["kernel"].package)
    beside_leaves = [*leaves_folder.glob("_*.py")]
    return sorted([*HERE.glob("*.py"), *beside_leaves, *(HERE.parent / name for name in SHARED)])


def name_of(files: Iterable[Path]) -> str:
    """Return the name of the folder of machine code that was made with these files."""
    digest = hashlib.blake2b(digest_size=8)
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def places() -> Iterator[Path]:
    """Yield where machine code may lie, the best first."""
    yield HERE / "__pycache__"
    caches = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    with suppress(RuntimeError):  # a user without a home
        yield (Path(caches) if caches else Path.home() / ".cache") / "driftproof"


def writable(name: str) -> str:
    """Return the first folder of a name that can be written to.

    If there is none, one is made that goes with this process: then kernels are compiled each time.
    """
    for place in places():
        with suppress(OSError):
            (place / name).mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=place / name):
                return str(place / name)
    made, maker = tempfile.mkdtemp(prefix="driftproof-"), os.getpid()

    def remove() -> None:
        if os.getpid() == maker:  # a worker that was forked ends earlier
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove)
    return made


def _keep_machine_code() -> None:
    """Set the folder in which numba keeps machine code, unless a user has."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    os.environ["NUMBA_CACHE_DIR"] = folder = writable(name_of(shared_files()))
    if "numba" in sys.modules:  # it has read the environment
        config = sys.modules["numba"].config
        config.CACHE_DIR = config.CACHE_DIR or folder


_keep_machine_code()
