"""`make run`, as a person types it, on the environment that the tests run in."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.service.process import REPOSITORY, Process, started
from tests.service.serving import PATIENCE_S

BIN = Path(sys.executable).parent
MOST_ANSWER_LINES = 25

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="runs make, which is not installed here")


def make_run(*words: str) -> list[str]:
    """Build the command: the environment counts as installed, and it is the one that runs the tests."""
    return ["make", "--silent", "-o", ".venv/service.stamp", "run", f"BIN={BIN}", *words]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@needs_make
def test_once_it_solves_the_example_and_ends() -> None:
    result = subprocess.run(
        make_run("ONCE=1", f"PORT={free_port()}"),
        cwd=REPOSITORY,
        env={name: value for name, value in os.environ.items() if not name.startswith("CROSSPIPE_")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    first, *answer = result.stdout.splitlines()
    assert "examples/two-sites-1.5b-32gb.yaml" in first
    assert 1 <= len(answer) <= MOST_ANSWER_LINES
    assert re.match(r"(FEASIBLE|OPTIMAL) +makespan 1,3\d\d\.\d ms", answer[0])
    assert not result.stderr


def test_it_stays_up_until_it_is_told_to_end() -> None:
    with started("-m", "crosspipe_service.demo", "--time-limit-s", "1", CROSSPIPE_PORT=str(free_port())) as process:
        address = process.wait_for(r"Open (http://\S+)/docs")
        assert httpx.get(f"{address}/docs", timeout=PATIENCE_S, trust_env=False).status_code == 200
        process.process.send_signal(signal.SIGINT)
        assert process.end() == 0
        assert process.lines[-1] == "Stopped."
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{address}/healthz", timeout=PATIENCE_S, trust_env=False)


def test_a_signal_during_the_solve_ends_it_at_once() -> None:
    with started("-m", "crosspipe_service.demo", CROSSPIPE_PORT=str(free_port())) as process:
        process.wait_for("(POST)")
        process.process.send_signal(signal.SIGTERM)
        assert process.end() == 0
        assert process.lines[-1] == "Stopped."
        assert not process.found("(Traceback)")


def test_a_busy_port_leads_to_the_next() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with started("-m", "crosspipe_service.demo", CROSSPIPE_PORT=str(port)) as process:
            address = process.wait_for(r"POST (http://[^/]+)/")
    assert port < int(address.rsplit(":", 1)[1]) <= port + 100


@pytest.mark.parametrize(
    ("port", "words", "said"),
    [
        ("http", [], "CROSSPIPE_PORT must be a port"),
        ("0", [], "CROSSPIPE_PORT must be a port"),
        ("8000", ["--example", "nowhere.yaml"], "nowhere.yaml"),
        ("8000", ["--example", "tests/data/bad/empty_sites.yaml"], "/sites"),
    ],
)
def test_what_fails_is_told_in_a_line(port: str, words: list[str], said: str) -> None:
    with started("-m", "crosspipe_service.demo", *words, CROSSPIPE_PORT=port) as process:
        assert process.end() == 1
    assert process.lines[-1].startswith("error: ")
    assert said in process.lines[-1]


@needs_make
def test_a_machine_without_a_new_enough_python_is_told_so(tmp_path: Path) -> None:
    process = Process("make", "--silent", "run", f"VENV={tmp_path}/venv", "PYTHON=")
    assert process.end() != 0
    assert process.found("(Python 3.11 or newer)")
