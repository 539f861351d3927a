"""The service as a process of its own, as people run it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from tests.service.serving import PATIENCE_S, until

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]
PATHS = os.pathsep.join(str(REPOSITORY / room) for room in ("solver", "service"))


class Process:
    """A process whose output is collected line by line."""

    def __init__(self, *command: str, **environment: str) -> None:
        variables = {name: value for name, value in os.environ.items() if not name.startswith("CROSSPIPE_")}
        variables |= {"PYTHONPATH": PATHS, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"} | environment
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            command, env=variables, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            self.lines.extend(line.rstrip("\n") for line in output)

    def found(self, pattern: str) -> str | None:
        """Find a part of the output so far."""
        matches = (re.search(pattern, line) for line in list(self.lines))
        return next((match[1] for match in matches if match), None)

    def wait_for(self, pattern: str) -> str:
        """Wait for a part of the output."""
        until(lambda: self.found(pattern) is not None or self.process.poll() is not None)
        found = self.found(pattern)
        assert found is not None, self.lines
        return found

    def end(self) -> int:
        """Wait for the end and return the exit code."""
        code = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return code

    def children(self) -> list[int]:
        """List the processes it started that still run (Linux)."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        return [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]


@contextmanager
def started(*command: str, **environment: str) -> Iterator[Process]:
    """Start Python with these arguments, and leave nothing of it behind."""
    process = Process(sys.executable, *command, **environment)
    try:
        yield process
    finally:
        # Asked first, so that it ends what it started itself.
        process.process.terminate()
        try:
            process.end()
        except subprocess.TimeoutExpired:
            process.process.kill()
            raise


@contextmanager
def service(**environment: str) -> Iterator[tuple[Process, httpx.Client]]:
    """Start the service on a free port."""
    with started("-m", "crosspipe_service", "--port", "0", **environment) as process:
        address = process.wait_for(r"running on (http://\S+)")
        with httpx.Client(base_url=address, timeout=PATIENCE_S, trust_env=False) as client:
            yield process, client
