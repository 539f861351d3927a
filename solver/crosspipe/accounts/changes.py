"""The problem with one thing made free: latency between sites, transfers between sites, memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from crosspipe.problem.free import crosses_sites, free_links

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.problem.links import Hop
    from crosspipe.problem.problem import Problem

What = Literal["latency", "bandwidth", "memory"]


def changes(problem: Problem) -> Iterator[tuple[What, Problem]]:
    """Make each change that the problem leaves open: every schedule of it is one of the changed problem."""
    if crosses_sites(problem):
        free = free_links(problem)
        if (free.precedences.lag_ns != problem.precedences.lag_ns).any():
            hops = tuple(_without_latency(*pair) for pair in zip(problem.hops, free.hops, strict=True))
            yield "latency", replace(problem, precedences=free.precedences, hops=hops)
        if (free.operations.duration_ns != problem.operations.duration_ns).any():
            hops = tuple(_without_transfer(*pair) for pair in zip(problem.hops, free.hops, strict=True))
            yield "bandwidth", replace(problem, operations=free.operations, lanes=free.lanes, hops=hops)
    if any(pool.unit == "bytes" and pool.capacity is not None for pool in problem.pools):
        pools = tuple(replace(pool, capacity=None) if pool.unit == "bytes" else pool for pool in problem.pools)
        yield "memory", replace(problem, pools=pools)


def _without_latency(hop: Hop, free: Hop) -> Hop:
    if hop == free:
        return hop
    return replace(hop, legs=tuple(replace(leg, latency_ns=0) for leg in hop.legs))


def _without_transfer(hop: Hop, free: Hop) -> Hop:
    if hop == free:
        return hop
    return replace(hop, legs=tuple(replace(leg, transfer_ns=0) for leg in hop.legs))


__all__ = ["What", "changes"]
