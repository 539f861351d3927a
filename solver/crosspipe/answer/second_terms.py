"""The second terms of an answer: how full memory gets, and how long activations are held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.answer.models import InFlightTime, PeakShare, SecondTerms
from crosspipe.answer.units import to_mb, to_ms, to_ms_or_none

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.search.second_terms import SecondTerms as SecondTermsFound


def second_terms(problem: Problem, found: SecondTermsFound) -> SecondTerms:
    """Tell the share of memory and the time in flight, and what is proved of them."""
    flight = InFlightTime(
        value_ms=to_ms(found.in_flight_ns),
        lower_bound_ms=to_ms_or_none(found.in_flight_lower_ns),
        proved=found.in_flight_proved,
        least_in_orders=found.least_in_orders,
    )
    return SecondTerms(peak_share=_peak_share(problem, found), in_flight_time=flight, notes=list(found.notes))


def _peak_share(problem: Problem, found: SecondTermsFound) -> PeakShare | None:
    full = found.full
    if full is None:
        return None
    pool = problem.pools[full.pool]
    return PeakShare(
        share=float(full.share),
        lower_bound=None if found.share_lower is None else float(found.share_lower),
        proved=found.share_proved,
        device=problem.devices[pool.device].name,
        replica=problem.devices[pool.device].replica,
        peak_memory_mb=to_mb(full.amount),
        memory_mb=to_mb(pool.capacity or 0),
    )
