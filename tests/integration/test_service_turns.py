from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
from tests.service.answers import TINY, Gate, Recorder
from tests.service.serving import YAML, ServiceClient, serving, until

from crosspipe_service.checks.example import EXAMPLE
from crosspipe_service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    import pytest

SOLVE = "/v1/schedules"


@contextmanager
def busy(
    places: int = 1, waiting: int = 0, **limits: float
) -> Iterator[tuple[ServiceClient, Gate, list[Future[httpx.Response]]]]:
    """Fill every place, and let some requests wait before them."""
    gate = Gate()
    settings = Settings.model_validate({"max_concurrent_solves": places} | limits)
    with serving(settings, solve=gate) as client, ThreadPoolExecutor() as threads:
        try:
            sent = [threads.submit(client.post, SOLVE, json=TINY) for _ in range(places)]
            until(lambda: client.state.solves.running == places)
            sent += [threads.submit(client.post, SOLVE, json=TINY) for _ in range(waiting)]
            until(lambda: client.state.solves.waiting == waiting)
            yield client, gate, sent
        finally:
            gate.open.set()


def assert_refused(response: httpx.Response, code: str) -> None:
    assert response.status_code == 503
    assert response.headers["content-type"] == "application/problem+json"
    assert int(response.headers["retry-after"]) > 0
    assert response.json()["code"] == code


def test_health_is_told_during_a_solve() -> None:
    with busy(places=2) as (client, _, _):
        health = client.get("/healthz").json()
    assert health["status"] == "ok"
    assert health["solves"] == {"running": 2, "waiting": 0, "places": 2}


def test_checks_do_not_wait_behind_solves() -> None:
    with busy() as (client, _, _):
        response = client.post("/v1/check", content=EXAMPLE, headers=YAML)
    assert response.status_code == 200


def test_more_than_may_run_wait_and_are_answered() -> None:
    with busy(places=1, waiting=2, max_queued_solves=2) as (client, gate, sent):
        assert client.get("/healthz").json()["solves"] == {"running": 1, "waiting": 2, "places": 1}
        gate.open.set()
        assert [future.result().status_code for future in sent] == [200, 200, 200]
        assert client.state.solves.running == client.state.solves.waiting == 0


def test_more_than_may_wait_are_refused() -> None:
    with busy(places=1, waiting=1, max_queued_solves=1) as (client, gate, sent):
        assert_refused(client.post(SOLVE, json=TINY), "busy")
        gate.open.set()
        assert [future.result().status_code for future in sent] == [200, 200]
        assert client.post(SOLVE, json=TINY).status_code == 200


def test_a_wait_that_is_too_long_is_given_up() -> None:
    with busy(places=1, max_queued_solves=1, max_queue_wait_s=0.2) as (client, gate, sent):
        assert_refused(client.post(SOLVE, json=TINY), "busy")
        assert client.state.solves.waiting == 0
        gate.open.set()
        assert sent[0].result().status_code == 200
        assert client.post(SOLVE, json=TINY).status_code == 200


def test_a_bad_spec_gives_its_place_back() -> None:
    with serving(Settings(max_concurrent_solves=1), solve=Recorder()) as client:
        for _ in range(3):
            assert client.post(SOLVE, json={}).status_code == 422
        assert client.post(SOLVE, json=TINY).status_code == 200


def test_a_client_that_leaves_stops_its_solve() -> None:
    gate = Gate()
    with serving(solve=gate) as client:
        with httpx.Client(base_url=client.base_url, trust_env=False, timeout=0.3) as other:
            try:
                other.post(SOLVE, json=TINY)
            except httpx.ReadTimeout:
                pass
            else:
                raise AssertionError("the solve was to last longer than the client waits")
        until(gate.asked_to_stop.is_set)
        until(lambda: client.state.solves.running == 0)


def test_a_client_that_leaves_the_queue_makes_room() -> None:
    with busy(places=1, max_queued_solves=1) as (client, gate, sent):
        with httpx.Client(base_url=client.base_url, trust_env=False, timeout=0.3) as other:
            try:
                other.post(SOLVE, json=TINY)
            except httpx.ReadTimeout:
                pass
            else:
                raise AssertionError("the wait was to last longer than the client waits")
        until(lambda: client.state.solves.waiting == 0)
        assert not gate.asked_to_stop.is_set()
        gate.open.set()
        assert sent[0].result().status_code == 200


def test_closing_stops_what_runs_and_refuses_what_waits_and_comes() -> None:
    with busy(places=1, waiting=1) as (client, gate, sent):
        client.state.close()
        assert sent[0].result().status_code == 200
        assert gate.asked_to_stop.is_set()
        assert_refused(sent[1].result(), "shutting_down")
        assert_refused(client.post(SOLVE, json=TINY), "shutting_down")
        assert client.get("/healthz").status_code == 200


def test_solves_that_run_together_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crosspipe_service.schedules.service.usable_cores", lambda: 8)
    recorder = Recorder()
    with serving(solve=recorder) as client:
        client.post(SOLVE, json=TINY)
        client.state.solves.running += 2
        client.post(SOLVE, json=TINY)
        client.state.solves.running += 20
        client.post(SOLVE, json=TINY)
        client.state.solves.running -= 22
    assert [options["workers"] for options in recorder.options] == [8, 2, 1]
