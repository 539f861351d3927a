"""A sweep that is interrupted and goes on, as a person does it."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING

from tests.processes import PATIENCE_S, until
from tests.unit.cli.running import HARD, command, environment, run

from crosspipe.sweeps.models import Sweep

if TYPE_CHECKING:
    from pathlib import Path


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(tmp_path: Path) -> None:
    spec, out = tmp_path / "spec.yaml", tmp_path / "points.jsonl"
    spec.write_text(HARD)
    arguments = ("sweep", spec, "--memory-gb", "36,40", "--latency-ms", "0,7,15", "--out", out, "-t", 0.3)
    pipe = subprocess.PIPE
    with subprocess.Popen(command(*arguments), stdout=pipe, stderr=pipe, text=True, env=environment()) as process:
        until(lambda: out.exists() and out.read_bytes().count(b"\n") >= 1)
        process.send_signal(signal.SIGINT)
        table, complaints = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    kept = out.read_bytes()
    done = kept.count(b"\n")
    assert 1 <= done < 6
    assert f", kept in {out}; the same command goes on from there" in complaints
    assert f"at {done} point" in table

    out.write_bytes(kept + b'{"crosspipe_sweep":1,"objective":"make')  # as if it had been killed while it wrote
    finished = run(*arguments, "--format", "json")
    assert finished.returncode == 0
    assert finished.stderr == ""
    found = Sweep.model_validate_json(finished.stdout)
    assert found.complete
    assert len(found.points) == 6
    lines = out.read_bytes()
    assert lines.startswith(kept), "what was done is not solved again"
    assert len([json.loads(line) for line in lines.splitlines()]) == 6
