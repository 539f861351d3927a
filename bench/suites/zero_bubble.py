"""The Zero Bubble paper's profiles: makespan at three memory limits, and span against its ZB-1p and ZB-2p."""

from __future__ import annotations

from fractions import Fraction

from bench.pipelines import pipeline_spec
from bench.row import Goal, Reference, Row
from bench.suites.profiles import Profile, profiles

MEMORY = (Fraction(1), Fraction(3, 2), Fraction(2))
"""Memory limits as multiples of what 1F1B holds on the first device."""

PUBLISHED = {Fraction(1): "ZB-1p", Fraction(2): "ZB-2p"}

SPAN_LIMIT_S = 20.0
SPAN_GAP = 0.03

QUICK = {"1.5B 8x24", "14.6B 16x48"}


def rows() -> list[Row]:
    """Build the rows: every profile at every limit for the makespan, then those with published rates for the span."""
    makespan = [_makespan(profile, memory) for profile in profiles() for memory in MEMORY]
    span = [_span(profile, memory) for profile in profiles() for memory in PUBLISHED]
    return makespan + span


def _name(profile: Profile, memory: Fraction) -> str:
    return f"{profile.name} {float(memory):g}x"


def _spec(profile: Profile, memory: Fraction) -> dict[str, object]:
    capacity = memory * profile.devices * profile.work.activation_bytes
    return pipeline_spec(
        _name(profile, memory),
        [profile.work] * profile.devices,
        devices=profile.devices,
        microbatches=profile.microbatches,
        memory_bytes=int(capacity),
        latency_ns=profile.latency_ns,
    )


def _makespan(profile: Profile, memory: Fraction) -> Row:
    limit_s = 5.0 if profile.devices <= 16 else 30.0
    return Row(
        suite="zero_bubble",
        name=f"{_name(profile, memory)} makespan",
        spec=_spec(profile, memory),
        objective="makespan",
        limit_s=limit_s,
        quick=profile.name in QUICK and memory == 1,
        goal=Goal(proof_s=limit_s),
    )


def _span(profile: Profile, memory: Fraction) -> Row:
    schedule = PUBLISHED[memory]
    return Row(
        suite="zero_bubble",
        name=f"{_name(profile, memory)} span",
        spec=_spec(profile, memory),
        objective="span",
        limit_s=SPAN_LIMIT_S,
        quick=profile.name == "1.5B 8x24",
        reference=Reference(peers={schedule: profile.slowest_span_ns(schedule)}),
        goal=Goal(gap=SPAN_GAP, gap_s=SPAN_LIMIT_S),
    )
