"""Instances on which other open schedulers have been run, one stage per device and in a wave, for both objectives.

Unidirectional specs are held against schedulers that place one stage per device, wave specs against those that place
two half stages in a V. The makespan there is the end of the last operation, the span the largest of any device.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from bench.data import read_json
from bench.pipelines import Work, pipeline_spec
from bench.quantities import NS_PER_US
from bench.row import Goal, Reference, Row
from bench.suites.profiles import SHAPES

if TYPE_CHECKING:
    from collections.abc import Mapping

Objective = Literal["makespan", "span"]

COLUMNS = {"unidirectional": ("1f1b", "heur", "cp_ud"), "wave": ("zbv", "cp_wave", "vhalf", "vmin")}
OBJECTIVES: tuple[Objective, ...] = ("makespan", "span")

UNIT_BYTES = 10**6
"""Memory unit of the grid: an activation is two, of which W frees one."""

SEQUENCE = 1024
PROOF_LIMIT_S = 60.0
LIMIT_S = 20.0

QUICK = {(4, 8, 100, 1), (8, 16, 500, 1)}


def rows() -> list[Row]:
    """Build the rows of the grid, then of the profiles."""
    table = read_json("bench/peers.json")
    instances = [*table["grid"], *table["profiles"]]
    return [
        _row(given, traversal, objective) for given in instances for traversal in COLUMNS for objective in OBJECTIVES
    ]


def name_of(given: Mapping[str, Any]) -> str:
    """Name an instance by its size, costs (of F, B and W where these are unlike, and of a hop) and memory."""
    costs = (given["F"], given["B"], given["W"])
    work = "" if len(set(costs)) == 1 else f" {'-'.join(map(str, costs))}"
    return f"p{given['p']} m{given['m']}{work} c{given['hop']} {given['memory']}x"


def spec_of(given: Mapping[str, Any], traversal: str = "unidirectional") -> dict[str, Any]:
    """Write an instance as a spec; its unit of time is 1 us."""
    activation, retained = _memory(given)
    work = Work(
        given["F"] * NS_PER_US,
        given["B"] * NS_PER_US,
        given["W"] * NS_PER_US,
        activation,
        retained,
    )
    chunks = 2 if traversal == "wave" else 1
    return pipeline_spec(
        f"{name_of(given)} {traversal}",
        [work.part(chunks)] * (given["p"] * chunks),
        devices=given["p"],
        microbatches=given["m"],
        memory_bytes=int(Fraction(given["memory"]) * given["p"] * activation),
        latency_ns=given["hop"] * NS_PER_US,
        traversal=traversal,
    )


def _memory(given: Mapping[str, Any]) -> tuple[int, int]:
    """Memory of a microbatch on a stage, and its part kept from B to W."""
    if given.get("set") != "iclr":
        return 2 * UNIT_BYTES, UNIT_BYTES
    hidden, heads, _ = SHAPES["1.5B" if given["F"] < 25_000 else "6.2B"]
    return (34 * hidden + 5 * heads * SEQUENCE) * 1000, 32 * hidden * 1000


def _row(given: Mapping[str, Any], traversal: str, objective: Objective) -> Row:
    proved = traversal == "unidirectional" and objective == "makespan"
    figure = OBJECTIVES.index(objective)
    known = {name: given["peers"][name] for name in COLUMNS[traversal] if name in given["peers"]}
    return Row(
        suite="peers",
        name=f"{name_of(given)} {traversal} {objective}",
        spec=spec_of(given, traversal),
        objective=objective,
        limit_s=PROOF_LIMIT_S if proved else LIMIT_S,
        quick=(given["p"], given["m"], given["hop"], given["memory"]) in QUICK and (proved or given["p"] == 4),
        reference=Reference(
            peers={name: int(values[figure] * NS_PER_US) for name, values in known.items()},
            # Figures on real costs are known in whole microseconds; chunks of half a stage end at halves of one.
            rounding_ns=NS_PER_US // 2 if given.get("set") == "iclr" else 0,
        ),
        goal=Goal(proof_s=PROOF_LIMIT_S) if proved else Goal(),
    )
