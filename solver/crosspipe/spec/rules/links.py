"""Rules of one link: what it joins, its latency, how long a message takes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.spec.faults import Path, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.cluster import Link


def one_way_to_name_the_ends(link: Link, path: Path) -> Iterator[Fault]:
    """Require `between`, or `from` and `to`, or a group alone."""
    one_way = [name for name, end in (("from", link.from_), ("to", link.to)) if end is not None]
    if link.between is not None:
        for name in one_way:
            end = link.from_ if name == "from" else link.to
            yield fault((*path, name), "must not stand beside `between`, which describes both directions", end)
    elif len(one_way) == 1:
        missing = "to" if one_way == ["from"] else "from"
        yield fault((*path, missing), f"must be given beside `{one_way[0]}`")
    elif not one_way and link.group is None:
        yield fault(path, "must have `between`, or `from` and `to`, or `group` alone for extra operations")


def ends_differ(link: Link, path: Path) -> Iterator[Fault]:
    """Require two places to join."""
    pair = link.between or (link.from_, link.to)
    if pair[0] is not None and pair[0] == pair[1]:
        where = (*path, "between") if link.between else (*path, "to")
        rule = "must join two places; inside a site use `hop_latency_ms` and `hop_bandwidth_gbps`"
        yield fault(where, rule, pair[0])


def one_latency(link: Link, path: Path) -> Iterator[Fault]:
    """Allow one way or round trip, not both."""
    if link.one_way_latency_ms is not None and link.rtt_ms is not None:
        rule = "must not stand beside `one_way_latency_ms`: it would say the same twice"
        yield fault((*path, "rtt_ms"), rule, link.rtt_ms)


def regions_differ(link: Link, path: Path) -> Iterator[Fault]:
    """Require two regions."""
    if link.regions is not None and link.regions[0].lower() == link.regions[1].lower():
        rule = "must be two regions: what is inside one is not known"
        yield fault((*path, "regions"), rule, link.regions[0])


def one_transfer_time(link: Link, path: Path) -> Iterator[Fault]:
    """Allow a time per message, or a table, each beside a bandwidth or alone."""
    if link.transfer_ms is not None and link.transfer_table is not None:
        rule = "must not stand beside `transfer_ms`: a message takes one time"
        yield fault((*path, "transfer_table"), rule, link.transfer_table)


def group_alone_carries_no_messages(link: Link, path: Path) -> Iterator[Fault]:
    """Refuse times of messages on a channel without ends: its extra operations have their own."""
    if link.group is None or link.between is not None or link.from_ is not None or link.to is not None:
        return
    for name in ("one_way_latency_ms", "rtt_ms", "regions", "transfer_ms", "transfer_table"):
        value = getattr(link, name)
        if value is not None:
            yield fault((*path, name), "must be left out where no ends are named: no message passes there", value)


def lane_needs_group_and_direction(link: Link, path: Path) -> Iterator[Fault]:
    """Allow a choice of lane to links of one direction in a group alone."""
    if link.lane is not None and (link.group is None or link.from_ is None):
        yield fault(
            (*path, "lane"),
            "must have `from`, `to` and `group` beside it: other links use the lanes of their own directions",
            link.lane,
        )


def group_name_is_plain(link: Link, path: Path) -> Iterator[Fault]:
    """Refuse what reads as a lane: they are called `group/out` and `a->b`."""
    if link.group is not None and ("/" in link.group or "->" in link.group):
        near = link.group.replace("->", "-").replace("/", "-")
        yield fault((*path, "group"), "must not contain `/` or `->`", link.group, near)


def table_rises(link: Link, path: Path) -> Iterator[Fault]:
    """Require rising sizes, and no less time for a larger message."""
    for number, (left, right) in enumerate(pairwise(link.transfer_table or []), 1):
        if right[0] <= left[0]:
            rule = f"sizes must rise from point to point: this one must be above {left[0]} MB"
            yield fault((*path, "transfer_table", number, 0), rule, right[0])
        elif right[1] < left[1]:
            rule = f"must be at least {left[1]} ms: a larger message takes no less time"
            yield fault((*path, "transfer_table", number, 1), rule, right[1], left[1])
