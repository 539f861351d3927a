"""The live line of a sweep on a terminal: which point, where, best, gap, and the time left."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status

from crosspipe.answer.summary import ms, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crosspipe.sweeps.progress import SweepProgress

BAR = 16
"""Characters of the bar."""


@contextmanager
def sweep_line() -> Iterator[Callable[[SweepProgress], None] | None]:
    """Show progress on stderr while a sweep runs; nothing if stderr is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Status("reading the spec", console=console) as status:
        yield lambda progress: status.update(line_of(progress))


def line_of(progress: SweepProgress) -> str:
    """Write a state in a line."""
    done = progress.number - (not progress.done)
    filled = BAR * done // progress.count
    bar = "━" * filled + "─" * (BAR - filled)
    left = "" if progress.left_s is None else f"   {_duration(progress.left_s)} left"
    state = f"best {ms(progress.value_ms)}   gap {percent(progress.gap)}"
    return f"{bar} point {progress.number} of {progress.count}: {progress.where}   {state}{left}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
