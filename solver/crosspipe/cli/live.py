"""The live line of a solve on a terminal: best, bound, gap."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status

from crosspipe.answer.summary import ms, percent
from crosspipe.answer.units import to_ms_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crosspipe.search.progress import Progress


@contextmanager
def live_line() -> Iterator[Callable[[Progress], None] | None]:
    """Show progress on stderr while a solve runs; nothing if stderr is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Status("reading the spec", console=console) as status:

        def show(progress: Progress) -> None:
            value, bound = to_ms_or_none(progress.value_ns), to_ms_or_none(progress.bound_ns)
            state = f"best {ms(value)}   bound {ms(bound)}   gap {percent(progress.gap)}"
            status.update(f"{progress.seconds:5.1f} s   {state}   ({progress.source})")

        yield show
