"""Runs a row in a process of its own and measures the memory of it and of all processes it starts."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from bench.data import ROOT
from bench.history import State, running_best
from bench.measurement import Measurement, with_times

if TYPE_CHECKING:
    from bench.row import Row

SAMPLE_S = 0.05
"""How often memory is looked at."""

START_UP_S = 60.0
"""Time a row may take beyond half its limit more, for loading, compiling and checking; then it is ended."""

BYTES_PER_MB = 10**6
MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024
"""Unit of `ru_maxrss`."""


def measure(row: Row) -> Measurement:
    """Run a row once."""
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.measured"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            cwd=ROOT,
            start_new_session=True,
            text=True,
        )
        memory = PeakMemory(process.pid)
        overdue = threading.Event()

        def end() -> None:
            overdue.set()
            os.killpg(process.pid, signal.SIGKILL)

        watch = threading.Timer(1.5 * row.limit_s + START_UP_S, end)
        watch.start()
        memory.start()
        try:
            history, last = _converse(process, json.dumps(row.request))
        finally:
            watch.cancel()
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            peak_mb = memory.stop()
        if overdue.is_set():
            return Measurement.failed("ended: it did not keep its time limit", peak_mb, history)
        if last is None:
            words = _last_line(complaints)
            return Measurement.failed(f"died with exit code {process.returncode}: {words}", peak_mb, history)
        if "failure" in last:
            return Measurement.failed(last["failure"], peak_mb, history)
        last["result"].update(history=[], peak_mb=peak_mb)
        told = Measurement.from_json(last["result"])
        return with_times(told.with_history(history))


def _converse(process: subprocess.Popen[str], request: str) -> tuple[list[State], dict[str, Any] | None]:
    """Send the request, then read all messages until there are no more."""
    states: list[State] = []
    last = None
    if process.stdin is None or process.stdout is None:
        raise ValueError("the process has no pipes")
    with suppress(BrokenPipeError), process.stdin as pipe:  # it may die before it reads; its exit code tells
        pipe.write(request)
    for line in process.stdout:
        message = json.loads(line) if line.endswith("\n") else {}
        if "state" in message:
            states.append(State(*message["state"]))
        elif message:
            last = message
    process.stdout.close()
    process.wait()
    return running_best(states), last


def _last_line(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    lines = [line for line in complaints.read().decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "no last words"


class PeakMemory:
    """The most memory that a process and its descendants hold together, by sampling; on Linux only.

    Where the system shows no `/proc`, and for what is shorter than a sample, the largest single process of all rows so
    far stands instead, as the system counts it: then the figure is an upper value.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def start(self) -> None:
        """Begin to sample."""
        self._thread.start()

    def stop(self) -> float:
        """End, and give the peak in MB."""
        self._done.set()
        self._thread.join()
        if not self._peak:
            self._peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * MAXRSS_BYTES
        return self._peak / BYTES_PER_MB

    def _sample(self) -> None:
        while not self._done.wait(SAMPLE_S):
            self._peak = max(self._peak, tree_bytes(self._pid))


def tree_bytes(pid: int) -> int:
    """Resident memory of a process and its descendants; 0 where it cannot be seen."""
    folder = Path("/proc") / str(pid)
    try:
        held = int((folder / "statm").read_text().split()[1]) * resource.getpagesize()
        children = [child for task in (folder / "task").iterdir() for child in (task / "children").read_text().split()]
    except (OSError, IndexError, ValueError):
        return 0  # it has just ended, or there is no /proc
    return held + sum(tree_bytes(int(child)) for child in children)
