"""Methods at work side by side, each in a thread of its own."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.search.shared import Shared

TICK_S = 0.02


class Crew:
    """Threads that end with the process: nobody waits for a method that cannot be interrupted."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._threads: list[threading.Thread] = []
        self._errors: list[BaseException] = []

    def start(self, method: Callable[[], None]) -> None:
        """Set a method to work."""
        thread = threading.Thread(target=self._run, args=(method,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait(self) -> None:
        """Wait until the search has ended or every method has; an error of a method becomes the caller's."""
        while not self._shared.ended() and not self._errors and any(thread.is_alive() for thread in self._threads):
            time.sleep(TICK_S)
        if self._errors:
            raise self._errors[0]

    def _run(self, method: Callable[[], None]) -> None:
        try:
            method()
        except BaseException as error:  # raised again by whoever waits
            self._errors.append(error)
