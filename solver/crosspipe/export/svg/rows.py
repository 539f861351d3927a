"""Which rows the picture has, from top to bottom: each site's devices, then the lanes that join it to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.problem.operations import NO_RESOURCE

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

HEADER_PX = 22.0
GAP_PX = 3.0
GROUP_GAP_PX = 9.0
LANE_PX = 12.0

MOST_INNER_LANES = 24
"""With more lanes inside sites than this, none of them is drawn."""


@dataclass(frozen=True, slots=True)
class Row:
    """One band of the picture.

    Attributes
    ----------
    kind
        `header`, `device` or `lane`.
    label
        What stands at its left.
    resource
        Device or lane number; `NO_RESOURCE` for a header and for work that occupies nothing.
    top, height
        In px, from the first row's top.
    """

    kind: str
    label: str
    resource: int
    top: float
    height: float

    @property
    def bottom(self) -> float:
        """Where it ends, in px."""
        return self.top + self.height


@dataclass(frozen=True, slots=True)
class Band:
    """A row before it has a place."""

    kind: str
    label: str
    resource: int = NO_RESOURCE


@dataclass(frozen=True, slots=True)
class Home:
    """The replica and the site below which a lane stands, and whether it stays inside that site."""

    replica: int
    site: str
    inside: bool


def device_height(devices: int) -> float:
    """Return the height of a device row in px: fewer devices, taller rows."""
    return (
        24.0 if devices <= 12 else 20.0 if devices <= 24 else 15.0 if devices <= 48 else 10.0 if devices <= 96 else 5.0
    )


def stack(problem: Problem) -> tuple[Row, ...]:
    """Lay all bands out from top to bottom."""
    tall, y, rows = device_height(len(problem.devices)), 0.0, []
    previous = ""
    for band in bands(problem):
        if (
            previous
            and (band.kind == "header" or (band.kind == "lane") != (previous == "lane"))
            and previous != "header"
        ):
            y += GROUP_GAP_PX
        height = HEADER_PX if band.kind == "header" else LANE_PX if band.kind == "lane" else tall
        rows.append(Row(band.kind, band.label, band.resource, y, height))
        y += height + (0 if band.kind == "header" else GAP_PX)
        previous = band.kind
    return tuple(rows)


def bands(problem: Problem) -> list[Band]:
    """List headers, devices and lanes in the order of the picture.

    Within a replica a lane stands below the upper of the two sites it joins; lanes that all replicas share, where there
    are several, stand last. Lanes inside sites are counted instead of drawn where they are many.
    """
    used = [
        resource for resource in range(len(problem.devices), problem.resources) if len(problem.by_resource[resource])
    ]
    home = {resource: _home(problem, resource) for resource in used}
    inner = {resource for resource, place in home.items() if place is not None and place.inside}
    hidden = inner if len(inner) > MOST_INNER_LANES else set()
    found: list[Band] = []
    for replica in range(problem.replicas):
        for site in _sites(problem, replica):
            here = [
                r for r, place in home.items() if place is not None and (place.replica, place.site) == (replica, site)
            ]
            found.append(Band("header", _title(problem, replica, site, len(hidden.intersection(here)))))
            found += [
                Band("device", device.name, number)
                for number, device in enumerate(problem.devices)
                if device.replica == replica and device.site == site
            ]
            found += [Band("lane", _lane_name(problem, r, site), r) for r in here if r not in hidden]
    shared = [Band("lane", _lane_name(problem, r, ""), r) for r in used if home[r] is None]
    if shared:
        found += [Band("header", "shared links"), *shared]
    if any(problem.operations.resource[number] == NO_RESOURCE for _, number in problem.extras):
        found += [Band("lane", "on no device or lane")]
    return found


def _title(problem: Problem, replica: int, site: str, hidden: int) -> str:
    """Name a site, its replica where there are several, and what is not drawn."""
    parts = [site]
    if problem.replicas > 1:
        parts.append(f"replica {replica}")
    if hidden:
        parts.append(f"{hidden} lanes inside the site not drawn")
    return " · ".join(parts)


def _sites(problem: Problem, replica: int) -> list[str]:
    """List the sites of a replica in order of their first device."""
    return list(dict.fromkeys(device.site for device in problem.devices if device.replica == replica))


def _lane_name(problem: Problem, resource: int, site: str) -> str:
    """Name a lane without its replica, which the header tells, and, between devices of one site, without the site."""
    name = problem.lanes[resource - len(problem.devices)].name
    ends = name.split("->")
    if len(ends) == 2 and all(end.startswith(f"{site}/") for end in ends):
        ends = [end.removeprefix(f"{site}/") for end in ends]
    return " → ".join(ends)


def _home(problem: Problem, resource: int) -> Home | None:
    """Find where a lane stands; None for lanes that several replicas share and for those that only extras use."""
    lane = problem.lanes[resource - len(problem.devices)]
    if problem.replicas > 1 and lane.replica is None:
        return None
    replica = lane.replica or 0
    order = _sites(problem, replica)
    first = replica * problem.devices_per_replica
    ends = {
        order.index(problem.devices[first + device].site)
        for hop in problem.hops
        if resource in hop.lanes
        for device in (hop.sender, hop.receiver)
    }
    return Home(replica, order[min(ends)], len(ends) == 1) if ends else None
