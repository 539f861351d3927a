"""Who works when: blocking work runs in threads, a limited number at a time, a limited number waiting."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio import to_thread

from crosspipe_service.errors.exceptions import BusyError, ClientLeftError, ShuttingDownError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.types import Receive

T = TypeVar("T")

RETRY_AFTER = {"Retry-After": "5"}


class Turns:
    """Places for blocking work, and a queue before them.

    Parameters
    ----------
    places
        Pieces of work that run at a time.
    queue
        Pieces that may wait; one more is refused.
    wait_s
        Longest wait.
    """

    def __init__(self, places: int, queue: int, wait_s: float) -> None:
        self.places = places
        self._queue = queue
        self._wait_s = wait_s
        self._free = asyncio.Semaphore(places)
        self._threads = anyio.CapacityLimiter(places)
        self._closing = threading.Event()
        self.running = 0
        self.waiting = 0

    def close(self) -> None:
        """Start no new work and ask what runs to stop; callable from a signal handler."""
        self._closing.set()

    async def run(self, work: Callable[[Callable[[], bool]], T], receive: Receive) -> T:
        """Run blocking work in a thread when its turn comes.

        Parameters
        ----------
        work
            Called with a function that tells whether it should stop: the client has left, or the service ends.
        receive
            The ASGI channel of the request, its body already read: the next message is the client's leaving.

        Raises
        ------
        BusyError, ShuttingDownError, ClientLeftError
            If there is no turn for it.
        """
        stop = threading.Event()
        leaving = asyncio.create_task(_left(receive))
        leaving.add_done_callback(lambda _: stop.set())
        try:
            async with self._turn(leaving):
                return await to_thread.run_sync(
                    partial(work, lambda: stop.is_set() or self._closing.is_set()), limiter=self._threads
                )
        finally:
            leaving.cancel()

    @asynccontextmanager
    async def _turn(self, leaving: asyncio.Task[None]) -> AsyncIterator[None]:
        self._check_open()
        if self._free.locked():
            await self._wait(leaving)
        else:
            await self._free.acquire()
        self.running += 1
        try:
            self._check_open()
            yield
        finally:
            self.running -= 1
            self._free.release()

    async def _wait(self, leaving: asyncio.Task[None]) -> None:
        if self.waiting >= self._queue:
            raise BusyError(f"{self.running} run and {self.waiting} wait, as many as may.", RETRY_AFTER)
        self.waiting += 1
        turn = asyncio.create_task(self._free.acquire())
        kept = False
        try:
            await asyncio.wait({turn, leaving}, timeout=self._wait_s, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                raise ClientLeftError
            if not turn.done():
                raise BusyError(f"No turn came within {self._wait_s:g} s.", RETRY_AFTER)
            kept = True
        finally:
            self.waiting -= 1
            if not turn.done():
                turn.cancel()
            elif not kept:
                self._free.release()

    def _check_open(self) -> None:
        if self._closing.is_set():
            raise ShuttingDownError("The service is about to end.", RETRY_AFTER)


async def _left(receive: Receive) -> None:
    """Return once the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
