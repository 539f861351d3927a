"""Times that DeepSpeed prints with `wall_clock_breakdown`: F and B of every microbatch of the whole model on a rank."""

from __future__ import annotations

import re
from decimal import Decimal
from statistics import median
from typing import Final

from crosspipe.costs.profiles.megatron import NOT_IN_LOGS, short_lines
from crosspipe.costs.profiles.profile import Profile, refused

LINE: Final = "time (ms) |"
TIME: Final = re.compile(r"(?P<name>[a-z_]{1,40}): (?P<ms>\d+\.\d+)")
NANOSECOND_MS: Final = Decimal("0.000001")

FORWARD: Final = "fwd_microstep"
BACKWARD: Final = "bwd_microstep"
INNER: Final = "bwd_inner_microstep"
"""The backward without the reduction of gradients that follows it."""


def deepspeed_profile(text: str, file: str, *, stages: int | None) -> Profile:
    """Read a log; the median over the microbatches counts, the first left out, which warms up.

    Raises
    ------
    ProfileError
        If it has no such times, or the number of stages is not given.
    """
    steps = [
        {found["name"]: Decimal(found["ms"]) for found in TIME.finditer(line)}
        for line in short_lines(text)
        if LINE in line and f"{FORWARD}:" in line
    ]
    steps = [step for step in steps if FORWARD in step and (INNER in step or BACKWARD in step)]
    if not steps:
        rule = f"must have lines `{LINE} {FORWARD}: ... | {BACKWARD}: ...`, printed with wall_clock_breakdown"
        raise refused(file, rule)
    if stages is None:
        raise refused(file, "needs --stages: it times the whole model, which is cut into so many like stages")
    counted = steps[1:] or steps
    field = INNER if all(INNER in step for step in counted) else BACKWARD
    counted = [step for step in counted if field in step]
    forward, backward = (median(step[name] for step in counted) for name in (FORWARD, field))
    row = {
        "count": stages,
        "forward_ms": (forward / stages).quantize(NANOSECOND_MS),
        "backward_ms": (backward / stages).quantize(NANOSECOND_MS),
    }
    told = (
        f"{len(steps)} microbatches, {'the first left out' if len(steps) > 1 else 'the only one counted'}: F "
        f"{forward:.2f} ms, backward {backward:.2f} ms ({field})",
    )
    assumed = (
        f"the whole model is cut into {stages} stages alike: embedding and head count as any other part (`--stages`)",
        "the backward is B and W together, recomputation included",
    )
    return Profile({"stages": row}, stages, told, assumed, NOT_IN_LOGS)
