"""Rules between links: what they join exists, no two describe the same way, and groups agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.faults import closest, fault
from crosspipe.spec.places import places_of
from crosspipe.spec.rules.windows import given_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.cluster import Link
    from crosspipe.spec.faults import Path
    from crosspipe.spec.model import Spec


def named_ends(link: Link) -> list[tuple[Path, str]]:
    """List the places a link names, each with its field."""
    if link.between is not None:
        return [(("between", number), end) for number, end in enumerate(link.between)]
    return [((field,), end) for field, end in (("from", link.from_), ("to", link.to)) if end is not None]


def directed_pairs(link: Link) -> list[tuple[str, str]]:
    """List the directions that a link describes."""
    if link.between is not None:
        return [link.between, (link.between[1], link.between[0])]
    return [(link.from_, link.to)] if link.from_ is not None and link.to is not None else []


def no_link_to_nowhere(spec: Spec) -> Iterator[Fault]:
    """Require that both ends are sites or devices of the spec."""
    places = places_of(spec)
    for number, link in enumerate(spec.links):
        for field, end in named_ends(link):
            if end in spec.sites or places.has_device(end):
                continue
            near = places.nearest_device(end) if "/" in end else closest(end, spec.sites)
            rule = f"must be a site ({_some(list(spec.sites))}) or a device such as `{next(iter(spec.sites))}/0`"
            yield fault(("links", number, *field), rule, end, near)


def one_link_for_each_way(spec: Spec) -> Iterator[Fault]:
    """Refuse a second link of the same direction between the same places."""
    seen: dict[tuple[str, str], int] = {}
    for number, link in enumerate(spec.links):
        for pair in directed_pairs(link):
            if seen.setdefault(pair, number) != number:
                rule = f"must not describe {pair[0]} to {pair[1]} again: link {seen[pair]} does"
                yield fault(("links", number), rule)
                break


def group_names_are_new(spec: Spec) -> Iterator[Fault]:
    """Refuse a group called like the own channel of a link without one (after its ends)."""
    own = {"-".join(link.between): at for at, link in enumerate(spec.links) if link.between and link.group is None}
    for number, link in enumerate(spec.links):
        if link.group in own:
            rule = (
                f"must differ from the name of link {own[link.group]}'s own channel, or that link must name the group"
            )
            yield fault(("links", number, "group"), rule, link.group)


def groups_agree(spec: Spec) -> Iterator[Fault]:
    """Require that links of one channel have its properties in common."""
    first: dict[str, int] = {}
    for number, link in enumerate(spec.links):
        if link.group is None:
            continue
        other = spec.links[first.setdefault(link.group, number)]
        for field in ("duplex", "per_replica"):
            value = getattr(other, field)
            if getattr(link, field) != value:
                rule = f"must be that of link {first[link.group]} of the same group"
                near = str(value).lower()
                yield fault(("links", number, field), rule, getattr(link, field), near)


def windows_of_a_group_agree(spec: Spec) -> Iterator[Fault]:
    """Require one clock per channel, and one full rate that slower windows lower."""
    groups: dict[str, list[int]] = {}
    for number, link in enumerate(spec.links):
        if link.group is not None:
            groups.setdefault(link.group, []).append(number)
    for members in groups.values():
        windowed = [number for number in members if given_windows(spec.links[number])]
        yield from _same(spec, windowed, "anchor", lambda link: link.anchor)
        if any(spec.links[number].anchor == "clock" for number in windowed):
            yield from _same(spec, windowed, "period_ms", lambda link: link.period_ms)
        if any(spec.links[number].slow_ms is not None for number in members):
            rated = [number for number in members if spec.links[number].bandwidth_gbps is not None]
            yield from _same(spec, rated, "bandwidth_gbps", lambda link: link.bandwidth_gbps)


def _same(spec: Spec, members: list[int], field: str, read: Callable[[Link], object]) -> Iterator[Fault]:
    for number in members[1:]:
        value, first = read(spec.links[number]), read(spec.links[members[0]])
        if value != first:
            rule = f"must be that of link {members[0]}, which shares this channel and its windows"
            yield fault(("links", number, field), rule, value, first)


def _some(names: list[str]) -> str:
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
