from __future__ import annotations

import json
import socket
import time
from typing import TYPE_CHECKING

import pytest
from tests.service.answers import TINY, Recorder
from tests.service.serving import JSON, PATIENCE_S, YAML, ServiceClient, serving

from crosspipe_service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

SOLVE = "/v1/schedules"
PATHS = (SOLVE, "/v1/check")
LIMIT = 4096
BODY = json.dumps(TINY).encode()
WAIT_S = 0.5


@pytest.fixture(scope="module")
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture(scope="module")
def client(recorder: Recorder) -> Iterator[ServiceClient]:
    with serving(Settings(max_body_bytes=LIMIT, body_timeout_s=WAIT_S), solve=recorder) as client:
        yield client


def assert_problem(response: httpx.Response, status: int, code: str) -> None:
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == code
    assert response.json()["status"] == status


def padded(length: int) -> bytes:
    return BODY + b" " * (length - len(BODY))


def chunks(body: bytes, length: int = 100) -> Iterator[bytes]:
    return (body[place : place + length] for place in range(0, len(body), length))


def test_a_body_of_the_limit_is_read(client: ServiceClient) -> None:
    assert client.post(SOLVE, content=padded(LIMIT), headers=JSON).status_code == 200


def test_a_body_of_the_limit_in_chunks_is_read(client: ServiceClient) -> None:
    assert client.post(SOLVE, content=chunks(padded(LIMIT)), headers=JSON).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_a_larger_body_is_refused(client: ServiceClient, recorder: Recorder, path: str) -> None:
    solved = len(recorder.options)
    assert_problem(client.post(path, content=padded(LIMIT + 1), headers=JSON), 413, "body_too_large")
    assert_problem(client.post(path, content=chunks(padded(LIMIT + 1)), headers=JSON), 413, "body_too_large")
    assert len(recorder.options) == solved


def test_a_larger_body_is_refused_before_it_is_parsed(client: ServiceClient) -> None:
    response = client.post(SOLVE, content=b"\xff" * (LIMIT + 1), headers=JSON)
    assert_problem(response, 413, "body_too_large")
    assert str(LIMIT) in response.json()["detail"]


def test_an_announced_large_body_is_refused_before_it_comes(client: ServiceClient) -> None:
    answer = raw(
        client, b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\n\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_body_that_does_not_come_is_given_up(client: ServiceClient) -> None:
    began = time.monotonic()
    answer = raw(
        client, b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    assert answer.startswith(b"HTTP/1.1 408")
    assert time.monotonic() - began >= WAIT_S


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": ""},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Content-Type": "application/jsonl"},
        {"Content-Type": "application/json; charset=utf-16"},
        {"Content-Type": 'application/json; charset="latin-1"'},
        {"Content-Type": "application/json; charset*=UTF-16''x"},
        JSON | {"Content-Encoding": "gzip"},
        JSON | {"Content-Encoding": "br"},
    ],
    ids=str,
)
def test_other_media_types_are_refused(client: ServiceClient, path: str, headers: dict[str, str]) -> None:
    response = client.post(path, content=BODY, headers=headers)
    assert_problem(response, 415, "unsupported_media_type")
    assert "application/yaml" in response.headers["accept-post"]


@pytest.mark.parametrize("body", [b"", b"   \n"])
def test_an_empty_body_is_refused(client: ServiceClient, body: bytes) -> None:
    assert_problem(client.post(SOLVE, content=body, headers=YAML), 422, "invalid_syntax")


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", PATHS)
def test_other_methods_are_refused(client: ServiceClient, method: str, path: str) -> None:
    response = client.request(method, path)
    assert_problem(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "path", ["/v1/schedule", "/v2/schedules", "/v1/errors/none", "/docs/static/none.js", "/%00", "/../etc"]
)
def test_unknown_addresses_are_refused(client: ServiceClient, path: str) -> None:
    assert_problem(client.get(path), 404, "not_found")


def raw(client: ServiceClient, request: bytes) -> bytes:
    """Send bytes as they are, wait for the answer and read its first part."""
    host, port = client.base_url.host, client.base_url.port
    assert isinstance(port, int)
    with socket.create_connection((host, port), timeout=PATIENCE_S) as connection:
        connection.sendall(request % SOLVE.encode())
        return connection.recv(65536)
