"""Windows so long, beside the work of a step, that a schedule of one step is no way to plan for them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.costs.message_notices import short
from crosspipe.spec.notice import Notice
from crosspipe.spec.stages import Microbatches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.spec.cluster import Link
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Stage

STEPS = 10
"""A stretch of that many steps, each done one operation at a time, is hours of the day rather than a part of a step."""


def window_notices(expanded: Spec, stages: Sequence[Stage]) -> Iterator[Notice]:
    """Tell of links that are closed or slower for far longer than a step takes."""
    step = _serial_step_ms(expanded, stages)
    for number, link in enumerate(expanded.links):
        for field, stretch in (("closed_ms", _longest_closed(link)), ("slow_ms", _longest_slow(link))):
            if stretch > STEPS * step:
                said = field if getattr(link, field) else "open_ms"
                state = "slower" if field == "slow_ms" else "closed"
                message = (
                    f"{state} for {short(stretch)} ms at a stretch, {short(stretch / step)} times all compute of a "
                    f"step on its slowest device ({short(step)} ms): windows are for times within a step. For "
                    "hours of the day solve two specs, one with the link as it is while open, one as it is otherwise"
                )
                yield Notice("window_outlasts_step", f"/links/{number}/{said}", message)


def _serial_step_ms(expanded: Spec, stages: Sequence[Stage]) -> Fraction:
    """Time of all compute of one replica, one operation at a time on the slowest kind of device."""
    microbatches = expanded.training.microbatches
    if isinstance(microbatches, Microbatches):
        count = sum((Fraction(factor) for factor in microbatches.multipliers), Fraction(0))
    else:
        count = Fraction(microbatches or 1)
    pools = [pool for site in expanded.sites.values() for pool in (site.pools or [site])]
    slowest = max(Fraction(pool.time_factor) for pool in pools)
    return count * slowest * sum((_work_ms(stage) for stage in stages), Fraction(0))


def _work_ms(stage: Stage) -> Fraction:
    backward = (stage.backward_ms, stage.backward_input_ms, stage.backward_weight_ms)
    return Fraction(stage.forward_ms) + sum((Fraction(part or 0) for part in backward), Fraction(0))


def _longest_closed(link: Link) -> Fraction:
    """Longest time without an opening that ends; the gaps between `open_ms`, or the longest of `closed_ms`."""
    closed = [Fraction(end) - Fraction(start) for start, end in link.closed_ms or [] if end is not None]
    opened = sorted(link.open_ms or [], key=lambda interval: interval[0])
    gaps = [Fraction(then[0]) - Fraction(now[1]) for now, then in pairwise(opened) if now[1] is not None]
    if opened:
        gaps.append(Fraction(opened[0][0]))
        last = opened[-1][1]
        if link.period_ms is not None and last is not None:
            gaps[-1] += Fraction(link.period_ms) - Fraction(last)
    return max([*closed, *gaps], default=Fraction(0))


def _longest_slow(link: Link) -> Fraction:
    return max(
        (Fraction(end) - Fraction(start) for start, end, _ in link.slow_ms or [] if end is not None),
        default=Fraction(0),
    )
