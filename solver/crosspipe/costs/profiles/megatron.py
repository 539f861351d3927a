"""Timers that Megatron-LM prints with `--timing-log-level 2`: F and B of every step, over all ranks.

Its timers add up the microbatches of a step. With `--timing-log-option minmax` (the default) or `max` it prints the
smallest and largest rank, with `all` every rank. Ranks of one stage stand together: pipeline is its outermost degree.
"""

from __future__ import annotations

import re
from collections import defaultdict
from decimal import Decimal
from statistics import median
from typing import TYPE_CHECKING, Final

from crosspipe.costs.profiles.profile import NO_BOUNDARY, Profile, refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HEADER: Final = "across ranks (ms):"
"""Stands in the line above every block of timers."""

TIMER: Final = re.compile(
    r"(?P<name>[a-z][a-z0-9-]{0,60}) \.*: (?:\((?P<low>\d+\.\d+), (?P<high>\d+\.\d+)\)|(?P<only>\d+\.\d+))"
)
RANKED: Final = re.compile(r"(?P<name>forward-compute|backward-compute):\s*$")
RANK: Final = re.compile(r"rank +(?P<rank>\d{1,6}): (?P<ms>\d+\.\d+)")
NEEDED: Final = ("forward-compute", "backward-compute")

LONGEST_LINE: Final = 2000
NANOSECOND_MS: Final = Decimal("0.000001")

Steps = list[dict[str, dict[int, Decimal]]]
"""Of every block of timers: time of each rank by name; rank 0 stands for all where only the largest is printed."""


def megatron_profile(text: str, file: str, *, stages: int | None, microbatches: int | None) -> Profile:
    """Read a log; the median over its blocks counts, the first left out, which warms up.

    Raises
    ------
    ProfileError
        If it has no such timers, or the number of stages or microbatches is needed and not given.
    """
    steps = [step for step in _steps(text) if all(name in step for name in NEEDED)]
    if not steps:
        rule = "must have the timers forward-compute and backward-compute, printed with --timing-log-level 2"
        raise refused(file, rule)
    if microbatches is None or stages is None:
        option = "--microbatches" if microbatches is None else "--stages"
        raise refused(file, f"needs {option}: its timers tell neither the microbatches of a step nor the stages")
    counted = steps[1:] or steps
    ranks = sorted(counted[0]["forward-compute"])
    if any(sorted(step[name]) != ranks for step in counted for name in NEEDED):
        raise refused(file, "must have the same ranks in every block of timers")
    told = [f"{len(steps)} blocks of timers, {'the first left out' if len(steps) > 1 else 'the only one counted'}"]
    rows = [_row(counted, [rank], microbatches) for rank in ranks]
    if len(ranks) == 1:
        told.append("one time for all ranks: the largest, so that every stage is as slow as the slowest")
        rows *= stages
    elif len(ranks) % stages:
        raise refused(file, f"must have a multiple of {stages} ranks, the number of stages", len(ranks))
    else:
        each = len(ranks) // stages
        rows = [_row(counted, ranks[first : first + each], microbatches) for first in range(0, len(ranks), each)]
        told.append(f"{len(ranks)} ranks, {each} in a row per stage, of which the slowest counts")
    assumed = (
        f"a step has {microbatches} microbatches, over which its timers add up (`--microbatches`)",
        "each pipeline rank is one stage; the chunks of virtual stages are added up",
        "backward-compute is B and W together, recomputation included",
    )
    return Profile({"stages": rows}, stages, tuple(told), assumed, NOT_IN_LOGS)


NOT_IN_LOGS: Final = (
    "backward_weight_ms: B and W are logged together, so that schedules that split the backward are not available",
    "activation_mb, static_mb: memory is not counted until you give them",
    NO_BOUNDARY,
)


def _row(steps: Sequence[Mapping[str, Mapping[int, Decimal]]], ranks: Sequence[int], parts: int) -> dict[str, object]:
    times = [max(median(step[name][rank] for step in steps) for rank in ranks) / parts for name in NEEDED]
    forward, backward = (time.quantize(NANOSECOND_MS) for time in times)
    return {"forward_ms": forward, "backward_ms": backward}


def short_lines(text: str) -> Iterator[str]:
    """List the lines of a log but for those that are too long to be timers."""
    return (line for line in text.splitlines() if len(line) <= LONGEST_LINE)


def _steps(text: str) -> Steps:
    found: Steps = []
    ranked: str | None = None
    for line in short_lines(text):
        if line.rstrip().endswith(HEADER):
            found.append(defaultdict(dict))
            ranked = None
        if not found:
            continue
        name, timer, rank = RANKED.search(line), TIMER.search(line), RANK.search(line)
        if name is not None:
            ranked = name["name"]
        elif timer is not None:
            ranked = None
            found[-1][timer["name"]][0] = Decimal(timer["high"] or timer["only"])
        elif rank is not None and ranked is not None:
            found[-1][ranked][int(rank["rank"])] = Decimal(rank["ms"])
        elif ":" in line:
            ranked = None
    return found
