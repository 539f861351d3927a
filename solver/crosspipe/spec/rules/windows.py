"""Rules of one link's windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.base import NANOSECOND_MS
from crosspipe.spec.faults import Path, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.cluster import Link

WINDOWS = ("closed_ms", "open_ms", "slow_ms")


def given_windows(link: Link) -> list[str]:
    """List the fields of windows that a link has."""
    return [name for name in WINDOWS if getattr(link, name) is not None]


def closed_or_open(link: Link, path: Path) -> Iterator[Fault]:
    """Refuse both: each says the other."""
    if link.closed_ms is not None and link.open_ms is not None:
        rule = "must not stand beside `closed_ms`: what is not open is closed"
        yield fault((*path, "open_ms"), rule, link.open_ms)


def intervals_run_forward(link: Link, path: Path) -> Iterator[Fault]:
    """Require that intervals end after they start, repeating ones within the period."""
    for name in given_windows(link):
        for number, interval in enumerate(getattr(link, name)):
            start, end = interval[0], interval[1]
            where = (*path, name, number, 1)
            if end is None and link.period_ms is not None:
                rule = "must be given, as the window repeats every `period_ms`"
                yield fault(where, rule, None, link.period_ms)
            elif end is not None and end - start < NANOSECOND_MS:
                yield fault(where, f"must be after the start {start} ms, by a nanosecond or more", end)
            elif end is not None and link.period_ms is not None and end > link.period_ms:
                rule = f"must be at most period_ms = {link.period_ms}"
                yield fault(where, rule, end, link.period_ms)


def repeats_need_windows(link: Link, path: Path) -> Iterator[Fault]:
    """Require windows to repeat, and a period for a clock."""
    if link.period_ms is not None and not given_windows(link):
        yield fault((*path, "period_ms"), "must stand beside `closed_ms`, `open_ms` or `slow_ms`", link.period_ms)
    if link.anchor == "clock" and link.period_ms is None:
        yield fault(
            (*path, "anchor"), "must have windows and `period_ms` beside it to be `clock`", "clock", "iteration"
        )


def windows_need_a_transfer_time(link: Link, path: Path) -> Iterator[Fault]:
    """Refuse windows on a link where messages take no time: they would meet none."""
    if not given_windows(link):
        return
    if _has_ends(link) and not _has_transfer_time(link):
        rule = (
            "must have `bandwidth_gbps`, `transfer_ms` or `transfer_table` beside it: without, messages ignore windows"
        )
        for name in given_windows(link):
            yield fault((*path, name), rule, getattr(link, name))
    elif link.transfer_ms == 0:
        yield fault((*path, "transfer_ms"), "must be above 0 beside windows: without, messages ignore them", 0)


def slow_is_slower(link: Link, path: Path) -> Iterator[Fault]:
    """Require slower rates below the full one."""
    if link.slow_ms is None:
        return
    if link.bandwidth_gbps is None:
        if _has_transfer_time(link) or not _has_ends(link):
            yield fault((*path, "slow_ms"), "must have `bandwidth_gbps` beside it, the full rate", link.slow_ms)
        return
    for number, (_, _, rate) in enumerate(link.slow_ms):
        if rate >= link.bandwidth_gbps:
            rule = f"must be below bandwidth_gbps = {link.bandwidth_gbps}"
            yield fault((*path, "slow_ms", number, 2), rule, rate)


def _has_ends(link: Link) -> bool:
    return link.between is not None or link.from_ is not None or link.to is not None


def _has_transfer_time(link: Link) -> bool:
    return any(time is not None for time in (link.bandwidth_gbps, link.transfer_ms, link.transfer_table, link.regions))
