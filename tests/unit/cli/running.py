"""The command line, called within this process or as one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

import crosspipe
from crosspipe.cli.main import app

SMALL = """\
# Two sites, four devices.
model:
  stages: {count: 4, forward_ms: 3.1, backward_input_ms: 2.9, backward_weight_ms: 2.3, activation_mb: 100,
           retained_mb: 40, boundary_mb: 20}
training: {microbatches: 3, sequence_length: 512}
sites:
  east: {devices: 2, memory_gb: 0.3}
  west: {devices: 2, memory_gb: 0.3}
links: [{between: [east, west], bandwidth_gbps: 100, one_way_latency_ms: 4}]
"""
TOO_SMALL = SMALL.replace("memory_gb: 0.3", "memory_gb: 0.05")
HARD = """\
model:
  stages: {count: 8, forward_ms: 18.522, backward_input_ms: 18.086, backward_weight_ms: 9.337, activation_mb: 3709,
           retained_mb: 1359, static_mb: 2250, boundary_mb: 28.3}
training: {microbatches: {multipliers: [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2], order: free}}
sites:
  east: {devices: 4, memory_gb: 40, hop_latency_ms: 0.601}
  west: {devices: 4, memory_gb: 40, hop_latency_ms: 0.601}
links: [{between: [east, west], bandwidth_gbps: 100, one_way_latency_ms: 15}]
"""
"""Never proved within the seconds of a test."""


def call(*arguments: object, stdin: str | bytes | None = None) -> Result:
    """Call a command within this process; an error that is not told in plain words fails the test."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Traceback" not in result.output
    return result


def answer_of(result: Result) -> dict[str, Any]:
    """Read what stands alone on stdout."""
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def command(*arguments: object) -> list[str]:
    """The command line as `python -m crosspipe`."""
    return [sys.executable, "-m", "crosspipe", *(str(argument) for argument in arguments)]


def environment() -> dict[str, str]:
    """Let a process of its own find this very package."""
    return os.environ | {"PYTHONPATH": str(Path(crosspipe.__file__).parents[1])}


def run(*arguments: object, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Call a command as a process of its own."""
    done = subprocess.run(
        command(*arguments), input=stdin, capture_output=True, text=True, check=False, cwd=cwd, env=environment()
    )
    assert "Traceback" not in done.stderr
    return done
