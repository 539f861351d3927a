"""Large pipelines, of like stages and of unlike ones, with the times of the Zero Bubble paper's 28.3B profile."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from bench.pipelines import Work, pipeline_spec
from bench.quantities import BYTES_PER_MB, NS_PER_US
from bench.row import Goal, Reference, Row

if TYPE_CHECKING:
    from collections.abc import Callable

WORK = Work(10_419 * NS_PER_US, 10_207 * NS_PER_US, 7_715 * NS_PER_US, 2 * BYTES_PER_MB, BYTES_PER_MB)
LATENCY_NS = 408 * NS_PER_US

SEED = 24
"""Seed of the kind whose stages differ at random."""

MEMORY = (Fraction(1), Fraction(3, 2), Fraction(2))
UNLIKE_MEMORY = (Fraction(1), Fraction(3, 2))
UNLIKE_SIZES = ((16, 64), (32, 256), (64, 1024))
LARGE_MB = 4096.0


@dataclass(frozen=True, slots=True)
class Size:
    """Devices and microbatches of like stages, with what is asked of them."""

    devices: int
    microbatches: int
    limit_s: float
    goal: Goal


SIZES = (
    Size(16, 512, 20.0, Goal(first_s=1.0, gap=0.0015, gap_s=20.0)),
    Size(32, 256, 20.0, Goal(first_s=1.0, gap=0.0015, gap_s=20.0)),
    Size(64, 1024, 60.0, Goal(first_s=5.0, gap=0.005, gap_s=60.0, peak_mb=LARGE_MB)),
)


def rows() -> list[Row]:
    """Build the rows: like stages by size and memory, then unlike ones by size, kind and memory."""
    like = [
        _row(size.devices, size.microbatches, "uniform", memory, size.limit_s, size.goal)
        for size in SIZES
        for memory in MEMORY
    ]
    unlike = [
        _row(devices, microbatches, kind, memory, 60.0 if devices == 64 else 20.0, _goal(devices, kind, memory))
        for devices, microbatches in UNLIKE_SIZES
        for kind in UNLIKE
        for memory in UNLIKE_MEMORY
    ]
    return like + unlike


def stages_of(kind: str, devices: int) -> list[Work]:
    """Give the stages of a kind."""
    change = UNLIKE.get(kind)
    return [WORK] * devices if change is None else change(devices)


def scaled(work: Work, factor: Fraction) -> Work:
    """Give a stage that takes `factor` as long, in whole microseconds."""

    def times(duration_ns: int) -> int:
        return round(duration_ns // NS_PER_US * factor) * NS_PER_US

    return replace(
        work,
        forward_ns=times(work.forward_ns),
        backward_ns=times(work.backward_ns),
        weight_ns=times(work.weight_ns),
    )


def _tenth(devices: int) -> list[Work]:
    return [scaled(WORK, Fraction(6, 5)) if stage % 10 == 9 else WORK for stage in range(devices)]


def _issue(devices: int) -> list[Work]:
    stages = _tenth(devices)
    stages[0] = scaled(WORK, Fraction(13, 10))
    stages[-1] = scaled(WORK, Fraction(8, 5))
    return stages


def _rand(devices: int) -> list[Work]:
    chance = random.Random(SEED)  # noqa: S311 - an instance, not a secret
    return [scaled(WORK, Fraction(chance.randrange(850, 1151), 1000)) for _ in range(devices)]


def _mid(devices: int) -> list[Work]:
    stages = [WORK] * devices
    stages[devices // 2] = scaled(WORK, Fraction(3, 2))
    return stages


def _first(devices: int) -> list[Work]:
    return [scaled(WORK, Fraction(13, 10)), *[WORK] * (devices - 1)]


def _wvar(devices: int) -> list[Work]:
    heavy = replace(WORK, weight_ns=2 * WORK.weight_ns)
    light = replace(WORK, backward_ns=scaled(WORK, Fraction(6, 5)).backward_ns)
    return [heavy if stage % 2 else light for stage in range(devices)]


KNOWN_US: dict[str, tuple[int | None, int]] = {
    "64x1024 uniform 1x": (29_937_393, 29_937_393),
    "64x1024 uniform 1.5x": (29_703_285, 29_703_285),
    "64x1024 issue 1x": (47_131_011, 47_131_011),
    "64x1024 issue 1.5x": (47_131_011, 47_131_011),
    "64x1024 tenth 1x": (None, 35_474_429),
    "64x1024 tenth 1.5x": (35_474_429, 35_474_429),
    "64x1024 mid 1x": (43_876_704, 43_876_704),
    "64x1024 mid 1.5x": (43_876_704, 43_876_704),
    "64x1024 first 1x": (38_225_767, 38_225_767),
    "64x1024 first 1.5x": (None, 37_792_327),
    "64x1024 wvar 1x": (None, 37_668_449),
    "64x1024 wvar 1.5x": (None, 37_603_445),
    "32x256 first 1x": (9_676_871, 9_676_871),
    "32x256 first 1.5x": (None, 9_460_151),
    "32x256 wvar 1x": (None, 9_592_049),
    "16x64 first 1x": (2_476_471, 2_476_471),
    "16x64 first 1.5x": (2_388_586, 2_368_111),
    "16x64 wvar 1x": (2_490_368, 2_476_601),
}
"""Best value and bound known before, where there are any."""

UNLIKE: dict[str, Callable[[int], list[Work]]] = {
    "issue": _issue,
    "tenth": _tenth,
    "rand": _rand,
    "mid": _mid,
    "first": _first,
    "wvar": _wvar,
}
"""Kinds of unlike stages: every tenth 20 % slower, with a slow first (+30 %) and last (+60 %) or without; each up to
15 % off at random; a middle one +50 %; the first +30 %; odd ones with twice the W and even ones with B +20 %."""


def _goal(devices: int, kind: str, memory: Fraction) -> Goal:
    limit_s = 60.0 if devices == 64 else 20.0
    if kind == "issue":
        return Goal(gap=0.001, gap_s=limit_s)
    if kind == "rand":
        return Goal(gap=0.01 if devices == 16 and memory == 1 else 0.007, gap_s=limit_s)
    return Goal()


def _reference(name: str) -> Reference:
    value_us, bound_us = KNOWN_US.get(name, (None, None))
    return Reference(
        status="optimal" if value_us is not None and value_us == bound_us else None,
        value_ns=None if value_us is None else value_us * NS_PER_US,
        bound_ns=None if bound_us is None else bound_us * NS_PER_US,
    )


def _row(devices: int, microbatches: int, kind: str, memory: Fraction, limit_s: float, goal: Goal) -> Row:
    name = f"{devices}x{microbatches} {kind} {float(memory):g}x"
    return Row(
        suite="scale",
        name=name,
        spec=pipeline_spec(
            name,
            stages_of(kind, devices),
            devices=devices,
            microbatches=microbatches,
            memory_bytes=int(memory * devices * WORK.activation_bytes),
            latency_ns=LATENCY_NS,
        ),
        objective="makespan",
        limit_s=limit_s,
        quick=name in ("16x512 uniform 1x", "32x256 issue 1x"),
        reference=_reference(name),
        goal=goal,
    )
