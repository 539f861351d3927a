"""Bubble rates published for 1F1B, ZB-H1 and ZB-H2 (Zero Bubble, tables 5 and 6), and the exact times behind them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.families.instances import uniform

from crosspipe.families.registry import FAMILIES
from crosspipe.problem.problem import Objective, Problem

ROWS = json.loads(Path("tests/data/golden/golden_zero_bubble.json").read_text())

# p, m, F, B, W, hop latency (microseconds), rates of 1F1B, ZB-H1, ZB-H2.
PUBLISHED = [
    (8, 24, 18522, 18086, 9337, 601, 0.2431, 0.1585, 0.1083),
    (8, 32, 18513, 18086, 9331, 626, 0.1985, 0.1242, 0.0837),
    (8, 64, 18546, 18097, 9321, 762, 0.1240, 0.0674, 0.0444),
    (8, 24, 29718, 29444, 19927, 527, 0.2347, 0.1323, 0.0698),
    (8, 32, 29802, 29428, 19530, 577, 0.1898, 0.1045, 0.0559),
    (8, 64, 29935, 29621, 19388, 535, 0.1091, 0.0554, 0.0294),
    (16, 48, 11347, 11248, 8132, 377, 0.2552, 0.1397, 0.0672),
    (16, 64, 11307, 11254, 8101, 379, 0.2082, 0.1088, 0.0516),
    (16, 128, 11325, 11308, 8109, 378, 0.1251, 0.0576, 0.0266),
    (32, 96, 10419, 10207, 7715, 408, 0.2646, 0.1421, 0.0641),
    (32, 128, 10408, 10204, 7703, 408, 0.2168, 0.1106, 0.0490),
    (32, 256, 10402, 10248, 7698, 460, 0.1352, 0.0594, 0.0257),
]


def span_of(name: str, problem: Problem) -> int:
    """Span of the family's orders as replayed: every operation as early as they allow (the published convention)."""
    (family,) = (family for family in FAMILIES if family.name == name)
    result = family.put_to(problem, Objective.MAKESPAN)
    assert result.span_ns is not None, result.reason
    return result.span_ns


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row[0]}x{row[1]}-{row[2]}")
def test_rates_to_four_digits(row: tuple[Any, ...]) -> None:
    p, m, forward, backward_input, backward_weight, latency, *rates = row
    problem = uniform(
        p, m, forward=forward, backward_input=backward_input, backward_weight=backward_weight, latency=latency
    )
    work = m * (forward + backward_input + backward_weight)
    for name, rate in zip(("1F1B", "ZB-H1", "ZB-H2"), rates, strict=True):
        span = span_of(name, problem)
        assert round((span - work) / span, 4) == rate, name


@pytest.mark.parametrize("row", ROWS["rows"], ids=lambda row: f"{row['model']}-{row['p']}x{row['m']}")
def test_exact_times(row: dict[str, Any]) -> None:
    problem = uniform(
        row["p"],
        row["m"],
        forward=row["forward"],
        backward_input=row["backward_input"],
        backward_weight=row["backward_weight"],
        latency=row["latency"],
    )
    for family in FAMILIES:
        expected = row["expect"].get(family.name)
        if expected is None:
            continue
        assert expected["kind"] == "exact"
        result = family.put_to(problem, Objective.MAKESPAN)
        assert result.span_ns == expected["span"], family.name
        assert result.makespan_ns == expected["makespan"], family.name
