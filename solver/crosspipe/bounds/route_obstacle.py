"""Two devices that must exchange messages and that no link and no chain of links joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.bounds.obstacle import Obstacle

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def route_obstacles(problem: Problem) -> tuple[Obstacle, ...]:
    """Name every directed pair of devices without a route; nothing can ever arrive there."""
    boundaries: dict[tuple[int, int], list[int]] = {}
    for hop in problem.hops:
        if hop.missing:
            boundaries.setdefault((hop.sender, hop.receiver), []).append(hop.boundary)
    return tuple(_obstacle(problem, *pair, crossed) for pair, crossed in boundaries.items())


def _obstacle(problem: Problem, sender: int, receiver: int, boundaries: list[int]) -> Obstacle:
    a, b = problem.devices[sender], problem.devices[receiver]
    message = (
        f"no link or chain of links leads from {a.name} to {b.name}, but stages {boundaries[0]} and "
        f"{boundaries[0] + 1} exchange messages there: a link between sites {a.site} and {b.site}, or between the two "
        "devices, would join them"
    )
    facts: dict[str, object] = {"from": a.name, "to": b.name, "sites": [a.site, b.site], "boundaries": boundaries}
    return Obstacle("link", f"{a.name} to {b.name}", None, None, "", None, message, facts)
