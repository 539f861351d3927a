"""The service as a process of its own, and requests to it."""

from __future__ import annotations

import contextlib
import http.client
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe_service.demo.stop import FailedError, StoppedError

if TYPE_CHECKING:
    from collections.abc import Iterator

START_S = 60.0
POLL_S = 0.1
END_S = 15.0
SHOWN_OF_ERROR = 2000


@dataclass(frozen=True, slots=True)
class ServiceProcess:
    """A running service."""

    process: subprocess.Popen[bytes]
    host: str
    port: int

    @property
    def address(self) -> str:
        """Address to open."""
        return f"http://{self.host}:{self.port}"

    def solve(self, spec: bytes, time_limit_s: int) -> bytes:
        """Post a spec and return the answer.

        Raises
        ------
        FailedError
            If the service refuses it.
        """
        connection = http.client.HTTPConnection(self.host, self.port, timeout=time_limit_s + START_S)
        with contextlib.closing(connection):
            path = f"/v1/schedules?time_limit_s={time_limit_s}"
            connection.request("POST", path, spec, {"Content-Type": "application/yaml"})
            response = connection.getresponse()
            body = response.read()
        if response.status != 200:
            text = body[:SHOWN_OF_ERROR].decode(errors="replace")
            raise FailedError(f"the service answered {response.status}: {text}")
        return body

    def wait(self) -> None:
        """Wait for the process, which is meant to run until a signal ends the wait.

        Raises
        ------
        FailedError
            If it ends by itself.
        """
        raise FailedError(f"the service ended by itself with exit code {self.process.wait()}")


@contextmanager
def service_process(host: str, port: int) -> Iterator[ServiceProcess]:
    """Start the service, and end this one process whatever happens.

    Raises
    ------
    FailedError
        If it does not start.
    """
    environment = {"CROSSPIPE_LOG_LEVEL": "warning"} | os.environ
    command = [sys.executable, "-m", "crosspipe_service", "--host", host, "--port", str(port)]
    process = subprocess.Popen(command, env=environment)  # noqa: S603  our own interpreter and module
    try:
        _wait_until_healthy(process, host, port)
        yield ServiceProcess(process, host, port)
    finally:
        _end(process)


def _wait_until_healthy(process: subprocess.Popen[bytes], host: str, port: int) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise FailedError(f"the service ended at its start with exit code {process.returncode}")
        if _healthy(host, port):
            return
        time.sleep(POLL_S)
    raise FailedError(f"the service did not answer within {START_S:g} s")


def _healthy(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=START_S)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except ConnectionRefusedError:
            return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(END_S)
    except (StoppedError, subprocess.TimeoutExpired):
        # Asked once more, or too slow: no more waiting.
        process.kill()
        process.wait()
