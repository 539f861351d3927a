"""Stand-ins for `crosspipe.solve`: an answer at once, or one that takes as long as the test wants."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from tests.building import spec_data
from tests.service.serving import PATIENCE_S

from crosspipe.answer.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.answer.models import Answer

TINY = spec_data(2, 2)
"""A spec that is solved at once."""


class Recorder:
    """Solves by construction alone and keeps the options it was called with."""

    def __init__(self) -> None:
        self.options: list[dict[str, Any]] = []

    def __call__(self, spec: Any, *, should_stop: Callable[[], bool], **options: Any) -> Answer:
        self.options.append(options)
        return solve(spec, **(options | {"time_limit_s": 0}), should_stop=should_stop)


class Gate:
    """Works until the test opens it or the service asks it to stop."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.asked_to_stop = threading.Event()

    def __call__(self, spec: Any, *, should_stop: Callable[[], bool], **options: Any) -> Answer:
        for _ in range(int(PATIENCE_S / 0.01)):
            if should_stop():
                self.asked_to_stop.set()
                break
            if self.open.wait(0.01):
                break
        return solve(spec, **(options | {"time_limit_s": 0}))
