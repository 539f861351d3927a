"""The messages of an answer: what each hop costs, and how often they pass between sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.answer.models import HopCost, LegCost, WorstPhaseRow
from crosspipe.answer.units import to_ms
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.links import Hop
    from crosspipe.problem.problem import Problem


def hop_costs(problem: Problem) -> list[HopCost]:
    """List what a message costs over each boundary, there and back."""
    return [
        HopCost(
            boundary=hop.boundary,
            kind="activation" if hop.kind is Kind.ACTIVATION else "gradient",
            link=hop.link,
            transfer_ms=to_ms(hop.transfer_ns),
            latency_ms=to_ms(hop.latency_ns),
            legs=_legs(hop),
        )
        for hop in problem.hops
        if not hop.missing
    ]


def worst_phases(problem: Problem) -> list[WorstPhaseRow]:
    """List the lanes with clock-anchored windows."""
    return [
        WorstPhaseRow(
            lane=worst.lane,
            period_ms=to_ms(worst.period_ns),
            phase_ms=to_ms(worst.phase_ns),
            transfer_ms=to_ms(worst.transfer_ns),
            reserved_ms=to_ms(worst.reserved_ns),
        )
        for worst in problem.worst_phases
    ]


def crossings(problem: Problem) -> int:
    """Count the messages of a microbatch between two sites; on several links on its way a message counts once."""
    sites = [device.site for device in problem.devices]
    return sum(sites[hop.sender] != sites[hop.receiver] for hop in problem.hops)


def _legs(hop: Hop) -> list[LegCost] | None:
    if len(hop.legs) < 2:  # with one link the hop says it all
        return None
    return [
        LegCost(link=leg.link, transfer_ms=to_ms(leg.transfer_ns), latency_ms=to_ms(leg.latency_ns)) for leg in hop.legs
    ]
