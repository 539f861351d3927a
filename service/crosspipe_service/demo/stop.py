"""How the demo ends: asked to by a signal, or because something failed."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


class StoppedError(Exception):
    """A signal asked the demo to end."""


class FailedError(Exception):
    """The demo cannot go on; the message is for the person who started it."""


def raise_on_signals() -> None:
    """Let SIGINT and SIGTERM raise `StoppedError`."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise StoppedError
