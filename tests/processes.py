"""Looking at processes through /proc: whose children they are, whether they still run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_S = 60.0
"""Longest wait for what must come about soon, on a machine that may be very busy."""


def _status(pid: int) -> tuple[str, int] | None:
    """State letter and parent of a process, None if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, int(parent)


def running(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    found = _status(pid)
    return found is not None and found[0] not in "ZX"


def exists(pid: int) -> bool:
    """Whether a process exists, as a zombie perhaps."""
    return _status(pid) is not None


def children_of(pid: int) -> list[int]:
    """Processes whose parent this is, zombies included."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [child for child in pids if (found := _status(child)) is not None and found[1] == pid]


def until(reached: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Wait until something is so; fail if it takes too long."""
    end = time.monotonic() + patience_s
    while not reached():
        assert time.monotonic() < end, "not so within the time a test waits"
        time.sleep(0.02)
