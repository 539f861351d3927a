"""The README's example: eight devices on one site and on two, with 32, 40 and 48 GB each."""

from __future__ import annotations

import yaml

from bench.data import EXAMPLES
from bench.quantities import NS_PER_US
from bench.row import Goal, Reference, Row

LIMIT_S = 60.0

BOTH_SITES_US = {32: None, 40: 1_284_600, 48: 1_253_200}
"""Optimum on two sites, rounded to 0.1 ms; of 32 GB only a value and a bound were known before."""

ROUNDING_NS = 50 * NS_PER_US
"""What rounding to 0.1 ms leaves open."""


def rows() -> list[Row]:
    """Build the rows: two sites, then one, by memory."""
    return [_row(sites, memory_gb) for sites in ("two-sites", "one-site") for memory_gb in (32, 40, 48)]


def _row(sites: str, memory_gb: int) -> Row:
    name = f"{sites}-1.5b-{memory_gb}gb"
    return Row(
        suite="readme",
        name=name,
        spec=yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text()),
        objective="makespan",
        limit_s=LIMIT_S,
        quick=memory_gb == 32 or (sites, memory_gb) == ("two-sites", 40),
        reference=_reference(memory_gb) if sites == "two-sites" else Reference(),
        goal=_goal(sites, memory_gb),
    )


def _reference(memory_gb: int) -> Reference:
    rounded_us = BOTH_SITES_US[memory_gb]
    value_us, bound_us = (1_382_700, 1_381_900) if rounded_us is None else (rounded_us, rounded_us)
    return Reference(value_ns=value_us * NS_PER_US, bound_ns=bound_us * NS_PER_US, rounding_ns=ROUNDING_NS)


def _goal(sites: str, memory_gb: int) -> Goal:
    if sites == "one-site":
        return Goal(proof_s=30.0 if memory_gb == 40 else 5.0)
    return Goal(gap=0.001, gap_s=LIMIT_S) if memory_gb == 32 else Goal(proof_s=LIMIT_S)
