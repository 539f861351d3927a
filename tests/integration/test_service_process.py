"""The service as people run it: a real process, real solves, real signals."""

from __future__ import annotations

import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.service.process import service, started
from tests.service.serving import PATIENCE_S, YAML, until

from crosspipe_service.schedules.example import EXAMPLE

if TYPE_CHECKING:
    from concurrent.futures import Future

ALIKE = "{microbatches: 24}"
UNLIKE = f"{{microbatches: {{multipliers: {[1 + k * k % 7 / 5 for k in range(24)]}, order: free}}}}"
HARD = EXAMPLE.replace(ALIKE, UNLIKE)
"""The example with unlike microbatches: nothing proves that within minutes."""

LONG = {"time_limit_s": 25, "detail": "summary"}
"""Long enough never to end by itself in a test."""


def solving(client: httpx.Client, threads: ThreadPoolExecutor) -> Future[httpx.Response]:
    """Begin a long solve and wait until it runs."""
    sent = threads.submit(client.post, "/v1/schedules", content=HARD, headers=YAML, params=LONG)
    until(lambda: client.get("/healthz").json()["solves"]["running"] == 1)
    return sent


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_well(number: signal.Signals) -> None:
    with service() as (process, client):
        assert client.get("/healthz").status_code == 200
        process.process.send_signal(number)
        assert process.end() == 0
    assert not process.found("(Traceback)")


def test_a_signal_during_a_solve_answers_with_the_best_so_far() -> None:
    with service() as (process, client), ThreadPoolExecutor() as threads:
        sent = solving(client, threads)
        began = time.monotonic()
        process.process.send_signal(signal.SIGTERM)
        response = sent.result()
        assert process.end() == 0
        assert time.monotonic() - began < LONG["time_limit_s"]
    assert response.status_code == 200
    assert response.json()["status"] == "feasible"
    assert response.json()["stop_reason"] == "stopped"
    assert not process.found("(Traceback)")


def test_health_is_told_while_a_real_solve_runs() -> None:
    with service() as (process, client), ThreadPoolExecutor() as threads:
        sent = solving(client, threads)
        for _ in range(20):
            assert client.get("/healthz").json()["solves"]["running"] == 1
        assert not sent.done()
        process.process.send_signal(signal.SIGTERM)
        assert sent.result().status_code == 200


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds child processes under /proc, which Linux has")
def test_a_client_that_leaves_leaves_no_solver_behind() -> None:
    body = HARD.encode()
    head = (
        "POST /v1/schedules?time_limit_s=25 HTTP/1.1\r\nHost: x\r\nContent-Type: application/yaml\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with service() as (process, client):
        port = client.base_url.port
        assert port is not None
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(head.encode() + body)
            until(lambda: bool(process.children()))
        until(lambda: client.get("/healthz").json()["solves"]["running"] == 0)
        until(lambda: not process.children())


def test_the_answer_comes_within_its_time_limit() -> None:
    with service() as (_, client):
        began = time.monotonic()
        response = client.post("/v1/schedules", content=HARD, headers=YAML, params={"time_limit_s": 2})
        seconds = time.monotonic() - began
    assert response.status_code == 200
    assert response.json()["stop_reason"] == "time_limit"
    assert seconds <= 3 * (1.1 * 2 + 0.5)


def test_a_bad_setting_is_named() -> None:
    with started("-m", "crosspipe_service", CROSSPIPE_MAX_BODY_BYTES="much") as process:
        assert process.end() == 2
    assert process.found("(CROSSPIPE_MAX_BODY_BYTES)")
    assert not process.found("(Traceback)")


def test_a_busy_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with started("-m", "crosspipe_service", CROSSPIPE_PORT=port) as process:
            assert process.end() != 0
    assert process.found("(address already in use)")
    assert not process.found("(Traceback)")


def test_help_shows_every_setting() -> None:
    with started("-m", "crosspipe_service", "--help") as process:
        assert process.end() == 0
    assert process.found("(CROSSPIPE_MAX_CONCURRENT_SOLVES)")


def test_the_probe_tells_whether_the_service_answers() -> None:
    with service() as (_, client):
        port = str(client.base_url.port)
        with started("-m", "crosspipe_service.health.probe", CROSSPIPE_PORT=port) as probe:
            assert probe.end() == 0
    with started("-m", "crosspipe_service.health.probe", CROSSPIPE_PORT=port) as probe:
        assert probe.end() == 1


def test_crosspipe_serve_is_the_same_service() -> None:
    with started("-m", "crosspipe", "serve", "--port", "0") as process:
        address = process.wait_for(r"running on (http://\S+)")
        assert httpx.get(f"{address}/healthz", timeout=PATIENCE_S, trust_env=False).json()["status"] == "ok"
        process.process.send_signal(signal.SIGINT)
        assert process.end() == 0
