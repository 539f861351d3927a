"""CrossPipe beside other solvers on the same instances in the same run, one thread and one core each, in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bench.data import read_json
from bench.row import OURS, Reference, Row
from bench.suites import bench58, peers, readme

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT_S = 60.0

MILP = ("milp-cbc", "milp-highs")
EVERYWHERE = ("cp-sat-naive", "families")

GRID: dict[str, list[tuple[int, int, int, float]]] = {
    "makespan": [
        (4, 4, 500, 1),
        (4, 8, 0, 1),
        (4, 8, 100, 1),
        (4, 8, 500, 1),
        (4, 8, 2000, 1),
        (4, 12, 500, 1),
        (8, 16, 500, 1),
        (8, 16, 2000, 1.5),
    ],
    "span": [(4, 8, 100, 1), (4, 8, 100, 2), (4, 8, 2000, 1), (8, 16, 500, 2)],
}
"""Instances of the peers' grid: devices, microbatches, hop and memory."""

EXAMPLES = ("two-sites-1.5b-32gb", "two-sites-1.5b-40gb")
SLOW_HOPS = (
    "ud_p8_m16_40-42-30_c0_cap1_1:20,20_3:20,20_5:20,20",
    "wave_p8_m16_20-21-15_c0_cap1_3:40,40",
    "loop_p4_m16_20-21-15_c0_cap1.0_1:20,20_wrap:20,20",
)

QUICK = {"p4 m8 c500 1x unidirectional makespan"}
QUICK_LIMIT_S = 10.0


def rows() -> list[Row]:
    """Build the rows: by instance, then by contender, so that these alternate."""
    return [
        replace(instance, contender=contender)
        for instance in instances()
        for contender in (OURS, *(MILP if _suits_milp(instance.spec) else ()), *EVERYWHERE)
    ]


def instances() -> list[Row]:
    """Give the instances as rows of ours."""
    return [*_grid(), *_picked(readme.rows(), EXAMPLES), *_picked(bench58.rows(), SLOW_HOPS)]


def _grid() -> list[Row]:
    by_case = {
        (given["p"], given["m"], given["hop"], given["memory"]): given
        for given in read_json("bench/peers.json")["grid"]
    }
    wanted = [
        f"{peers.name_of(by_case[case])} unidirectional {objective}" for objective in GRID for case in GRID[objective]
    ]
    return _picked(peers.rows(), wanted)


def _picked(rows: list[Row], names: list[str] | tuple[str, ...]) -> list[Row]:
    by_name = {row.name: row for row in rows}
    return [
        Row(
            suite="versus",
            name=name,
            spec=by_name[name].spec,
            objective=by_name[name].objective,
            limit_s=LIMIT_S,
            quick=name in QUICK,
            threads=1,
            reference=Reference(value_ns=by_name[name].reference.value_ns),
        )
        for name in names
    ]


def _suits_milp(spec: Mapping[str, Any]) -> bool:
    """Whether each device holds one stage, which is what the MILP is made for."""
    placement = spec.get("placement", {})
    return bool(placement.get("traversal", "unidirectional") == "unidirectional")
