"""Rows in processes of their own: what they tell, what they hold, how they fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from bench import processes
from bench.processes import PeakMemory, measure, tree_bytes
from bench.suites import SUITES

if TYPE_CHECKING:
    from bench.row import Row

ON_LINUX = sys.platform == "linux"


def row_named(suite: str, name: str) -> Row:
    (found,) = (row for row in SUITES[suite]() if row.key == name)
    return found


def test_a_row_of_ours_is_measured() -> None:
    row = row_named("golden", "span_delay-01")
    measured = measure(replace(row, limit_s=5.0))
    assert (measured.status, measured.value_ns, measured.bound_ns) == ("optimal", 22_000_000, 22_000_000)
    assert measured.first_s is not None
    assert measured.proof_s is not None
    assert measured.first_s <= measured.proof_s <= (measured.total_s or 0.0)
    assert measured.peak_mb is not None
    assert measured.peak_mb > 20
    assert measured.history[-1].gap == 0.0


def test_an_infeasible_row_is_refuted() -> None:
    measured = measure(row_named("golden", "infeasible-01"))
    assert measured.status == "infeasible"
    assert measured.value_ns is measured.first_s is None
    assert measured.proof_s == measured.total_s


def test_a_contender_that_refuses_says_why() -> None:
    row = row_named("peers", "p4 m4 c0 1x wave makespan")
    measured = measure(replace(row, contender="milp-cbc", threads=1))
    assert measured.status == "failed"
    assert measured.failure == "UnsuitableError: the MILP needs one stage per device, in order"


def test_one_that_overruns_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "START_UP_S", -14.95)  # 0.05 s are left, less than Python takes to start
    row = row_named("golden", "infeasible-01")
    measured = measure(replace(row, limit_s=10.0))
    assert measured.status == "failed"
    assert measured.failure is not None
    assert "time limit" in measured.failure


def test_one_that_dies_is_told_with_its_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    class Killing(threading.Timer):
        """Ends the process at once, as the system does when memory runs out."""

        def start(self) -> None:
            (own,) = (child for child in _children(os.getpid()))
            os.kill(own, signal.SIGKILL)

    monkeypatch.setattr(processes.threading, "Timer", Killing)
    measured = measure(row_named("golden", "infeasible-01"))
    assert measured.status == "failed"
    assert measured.failure == "died with exit code -9: no last words"


def _children(pid: int) -> list[int]:
    command = ["ps", "--ppid", str(pid), "-o", "pid=,args="]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [int(line.split()[0]) for line in lines if "bench.measured" in line]


@pytest.mark.skipif(not ON_LINUX, reason="memory of a process tree is read from /proc")
def test_memory_counts_children_too() -> None:
    grow = "import time; held = bytearray(60_000_000); time.sleep(60)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {grow!r}])"
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as process:
        memory = PeakMemory(process.pid)
        memory.start()
        try:
            until = time.monotonic() + 20
            while tree_bytes(process.pid) < 60_000_000 and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(0.2)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
        assert memory.stop() > 60


def test_memory_of_nobody_is_nothing() -> None:
    assert tree_bytes(2**22 + 1) == 0
