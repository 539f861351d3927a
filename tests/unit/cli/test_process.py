"""The command line as a process of its own: streams, signals, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.processes import PATIENCE_S, children_of, running, until
from tests.solving import assert_sound
from tests.unit.cli.running import HARD, SMALL, command, environment, run

from crosspipe.answer.models import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def test_the_module_is_the_command_line() -> None:
    done = run("solve", "-", "-t", 0, "--format", "json", stdin=SMALL)
    assert done.returncode == 0
    assert_sound(SMALL, Answer.model_validate_json(done.stdout))
    assert done.stderr == ""
    assert "Usage: crosspipe solve" in run("solve", "--help").stdout


def test_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    assert run("solve", tmp_path / "nowhere").returncode == 2
    assert run("solve", "-", "-t", 0, stdin=SMALL.replace("0.3", "0.05")).returncode == 3


def test_starting_needs_neither_solver_nor_web() -> None:
    """Help and checks come at once: the solver's library is loaded by its own process alone."""
    code = "import sys, crosspipe.cli.main; print(*[n for n in ('ortools', 'fastapi', 'uvicorn') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.strip() == ""


@pytest.fixture
def working(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A solve whose solving process is at work."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(HARD)
    pipe = subprocess.PIPE
    arguments = command("solve", spec, "-t", 300, "--format", "json")
    with subprocess.Popen(arguments, stdout=pipe, stderr=pipe, text=True, env=environment()) as process:
        until(lambda: children_of(process.pid))
        time.sleep(0.5)
        yield process
        process.kill()


def test_ctrl_c_gives_the_best_so_far(working: subprocess.Popen[str]) -> None:
    (child,) = children_of(working.pid)
    working.send_signal(signal.SIGINT)
    out, complaints = working.communicate(timeout=PATIENCE_S)
    assert working.returncode == 130
    assert complaints == ""
    answer = Answer.model_validate_json(out)
    assert (answer.status, answer.stop_reason) == ("feasible", "stopped")
    assert_sound(HARD, answer)
    assert not running(child)


def test_ctrl_c_of_the_terminal_does_not_reach_the_child(working: subprocess.Popen[str]) -> None:
    """A terminal signals its whole foreground group; the solving process is in a session of its own."""
    (child,) = children_of(working.pid)
    assert os.getsid(child) != os.getsid(working.pid)
    assert os.getpgid(child) != os.getpgid(working.pid)


def test_ctrl_c_twice_ends_at_once(working: subprocess.Popen[str]) -> None:
    (child,) = children_of(working.pid)
    os.kill(child, signal.SIGSTOP)  # so that the first one cannot be obeyed before the second comes
    working.send_signal(signal.SIGINT)
    working.send_signal(signal.SIGINT)
    out, complaints = working.communicate(timeout=PATIENCE_S)
    assert working.returncode == 130
    assert "Traceback" not in complaints
    assert out == "" or json.loads(out)["stop_reason"] == "stopped"
    assert not running(child)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_child_outlives_no_end_of_its_parent(working: subprocess.Popen[str], number: signal.Signals) -> None:
    (child,) = children_of(working.pid)
    working.send_signal(number)
    working.communicate(timeout=PATIENCE_S)
    assert working.returncode == -number
    until(lambda: not running(child))


def test_a_reader_that_has_enough_is_no_error() -> None:
    """As in `crosspipe solve --detail full --format json | head -c 1`."""
    process = subprocess.Popen(
        command("solve", "-", "-t", 0, "--format", "json", "--detail", "full"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(HARD.encode())
    process.stdin.close()
    process.stdout.read(1)
    process.stdout.close()
    with process:
        complaints = process.stderr.read()
    assert b"Traceback" not in complaints
    assert b"error [" not in complaints
