"""Where compiled kernels are kept, and whether they are there; asked without loading the compiler."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = ("kernel.py", "dive_kernel.py")

PREBUILT = "CROSSPIPE_KERNELS"
"""Environment variable that names a folder of kernels compiled beforehand; it may be read-only."""


def choose_cache_folder() -> Path:
    """Settle where the compiler keeps its results, before it is loaded.

    A folder named in `NUMBA_CACHE_DIR` comes first, then the package's own, then (where that cannot be written) the
    temporary folder, into which prebuilt kernels are copied once.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return Path(named)
    beside = HERE / "__pycache__"
    if os.access(beside if beside.exists() else HERE, os.W_OK):
        return beside
    folder = Path(tempfile.gettempdir()) / f"crosspipe-kernels-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    prebuilt = os.environ.get(PREBUILT)
    if prebuilt and not folder.exists():
        shutil.copytree(prebuilt, folder, dirs_exist_ok=True)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    return folder


def stamp_path() -> Path:
    """Name the proof of a finished compilation after the sources, the compiler and the processor."""
    digest = hashlib.sha256()
    for package in ("numba", "llvmlite", "numpy"):
        digest.update(version(package).encode())
    digest.update(f"{platform.python_version()} {platform.machine()} {_processor()}".encode())
    for name in SOURCES:
        digest.update((HERE / name).read_bytes())
    return choose_cache_folder() / f"crosspipe-{digest.hexdigest()[:16]}.stamp"


def is_warm() -> bool:
    """Whether all kernels have been compiled for this processor."""
    return stamp_path().exists()


def _processor() -> str:
    """Name the processor: kernels compiled for one may not run on another."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line
    return platform.processor()
