"""A problem as JSON and back, exactly: how it reaches a solving process."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from crosspipe.problem.links import Hop, Lane, Leg, Window, WorstPhase
from crosspipe.problem.operations import Holdings, Kind, Operations, Precedences, RecomputeChoice
from crosspipe.problem.problem import Device, Pool, Problem, StageInfo


def problem_to_json(problem: Problem) -> dict[str, Any]:
    """Write a problem as plain JSON data."""
    return {field.name: _plain(getattr(problem, field.name)) for field in fields(problem)}


def problem_from_json(data: dict[str, Any]) -> Problem:
    """Read what `problem_to_json` wrote."""
    return Problem(
        digest=data["digest"],
        traversal=data["traversal"],
        stages=tuple(StageInfo(**row) for row in data["stages"]),
        multipliers=tuple(data["multipliers"]),
        replicas=data["replicas"],
        merged_replicas=data["merged_replicas"],
        devices=tuple(Device(**row | {"stages": tuple(row["stages"])}) for row in data["devices"]),
        lanes=tuple(Lane(**row | {"windows": tuple(Window(**w) for w in row["windows"])}) for row in data["lanes"]),
        operations=Operations(**_arrays(data["operations"])),
        precedences=Precedences(**_arrays(data["precedences"])),
        pools=tuple(Pool(**row) for row in data["pools"]),
        holdings=Holdings(**_arrays(data["holdings"])),
        hops=tuple(Hop(**row | {"kind": Kind(row["kind"]), "legs": _legs(row["legs"])}) for row in data["hops"]),
        chains=tuple(_array(row) for row in data["chains"]),
        chains_required=data["chains_required"],
        choices=tuple(
            RecomputeChoice(stage=row["stage"], **_arrays({k: v for k, v in row.items() if k != "stage"}))
            for row in data["choices"]
        ),
        extras=tuple((name, number) for name, number in data["extras"]),
        between_sites=tuple(data["between_sites"]),
        due_ns=None if data["due_ns"] is None else _array(data["due_ns"]),
        tokens_per_step=data["tokens_per_step"],
        robust=data["robust"],
        worst_phases=tuple(WorstPhase(**row) for row in data["worst_phases"]),
        recomputed=frozenset(data["recomputed"]),
    )


def _plain(value: object) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value


def _legs(rows: list[dict[str, Any]]) -> tuple[Leg, ...]:
    return tuple(Leg(row["link"], tuple(row["lanes"]), row["transfer_ns"], row["latency_ns"]) for row in rows)


def _array(values: list[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def _arrays(columns: dict[str, list[int]]) -> dict[str, np.ndarray[Any, np.dtype[np.int64]]]:
    return {name: _array(values) for name, values in columns.items()}


__all__ = ["problem_from_json", "problem_to_json"]
