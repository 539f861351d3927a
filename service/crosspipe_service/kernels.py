"""The search kernels, compiled beside a starting service where this installation has none yet."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crosspipe.lattice.cache import is_warm

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 5.0


@contextmanager
def kernels_in_the_making() -> Iterator[None]:
    """Compile the kernels in a process of their own; solves do without them until they are there."""
    if is_warm():
        yield
        return
    compiling = subprocess.Popen([sys.executable, "-P", "-m", "crosspipe.lattice.warm"])
    try:
        yield
    finally:
        compiling.terminate()
        try:
            compiling.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            compiling.kill()
            compiling.wait()
