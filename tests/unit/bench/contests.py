"""Contests on small rows of the peers' grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.contest import Contest
from bench.data import read_json
from bench.suites.peers import spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.history import State

MILP_ROWS: list[dict[str, Any]] = [
    row for row in read_json("bench/peers.json")["milp"] if row["p"] <= 4 and row["m"] <= 8
]
"""Rows that another MILP of the same kind has run on."""


def name_of(row: Mapping[str, Any]) -> str:
    return f"{row['p']}x{row['m']} c{row['hop']} {row['memory']}x {row['objective']}"


def contest_of(
    row: Mapping[str, Any], limit_s: float, states: list[State], traversal: str = "unidirectional"
) -> Contest:
    given = {"F": 1000, "B": 1000, "W": 1000, **row}
    return Contest(spec_of(given, traversal), row["objective"], limit_s, 1, states.append)
