"""A real server for tests: uvicorn in a thread on a free port of the loopback address, and clients to it."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn

from crosspipe_service.app import create_app
from crosspipe_service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crosspipe_service.state import ServiceState

PATIENCE_S = 30.0
YAML = {"Content-Type": "application/yaml"}
JSON = {"Content-Type": "application/json"}


@contextmanager
def serving(settings: Settings | None = None, **parts: Any) -> Iterator[httpx.Client]:
    """Serve an application (`parts` go to `create_app`) and give a client of it; its state is `client.state`."""
    app = create_app(settings or Settings(), **parts)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=5))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            until(lambda: server.started)
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            with ServiceClient(app.state.crosspipe, address) as client:
                yield client
        finally:
            app.state.crosspipe.close()
            server.should_exit = True
            thread.join()


class ServiceClient(httpx.Client):
    """A client that also sees the state of the service it talks to."""

    def __init__(self, state: ServiceState, address: str) -> None:
        super().__init__(base_url=address, timeout=PATIENCE_S, trust_env=False)
        self.state = state


def until(reached: Callable[[], bool]) -> None:
    """Wait until something is so; fail after half a minute."""
    end = time.monotonic() + PATIENCE_S
    while not reached():
        assert time.monotonic() < end, "not so within the time a test waits"
        time.sleep(0.005)
