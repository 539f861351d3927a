"""Small sweeps: a spec that is solved in a moment, and points made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosspipe.answer.solve import check
from crosspipe.spec.load import parse_spec
from crosspipe.sweeps.grid import grid_of
from crosspipe.sweeps.models import Sweep, SweepPoint
from crosspipe.sweeps.run import sweep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.sweeps.grid import Grid
    from crosspipe.sweeps.kinds import Tree

STAGE = {
    "forward_ms": 3.1,
    "backward_input_ms": 2.9,
    "backward_weight_ms": 2.3,
    "activation_mb": 100,
    "retained_mb": 40,
    "boundary_mb": 20,
}
SPEC: dict[str, Any] = {
    "name": "two small sites",
    "model": {"stages": [STAGE] * 4},
    "training": {"microbatches": 4},
    "sites": {"east": {"devices": 2, "memory_gb": 0.3}, "west": {"devices": 2, "memory_gb": 0.3}},
    "links": [{"between": ["east", "west"], "bandwidth_gbps": 100, "rtt_ms": 8, "group": "wan"}],
}

READING: dict[str, Any] = {
    "kind": "latency_tolerated",
    "at": {},
    "axis": "latency_ms",
    "value": 0,
    "reached_ms": 1.0,
    "reference_ms": 1.0,
    "tolerance": 0.01,
    "proved": True,
    "sentence": "15 ms cost nothing.",
}


def swept(axes: Mapping[str, Sequence[object]], spec: Any = SPEC, **options: Any) -> Sweep:
    return sweep(spec, axes, **({"time_limit_s": 0, "workers": 1} | options))


def tree(spec: Any = SPEC) -> Tree:
    return parse_spec(spec).model_dump(mode="python", by_alias=True, exclude_defaults=True)


def grid(axes: Mapping[str, Sequence[object]], spec: Any = SPEC) -> Grid:
    return grid_of(parse_spec(spec), axes)


def point(at: dict[str, Any], value_ms: float | None, bound_ms: float | None = None, **more: Any) -> SweepPoint:
    """A point as a sweep would tell it; proved if only a value is given."""
    bound = value_ms if bound_ms is None else bound_ms
    status = "infeasible" if value_ms is None else "optimal" if bound == value_ms else "feasible"
    given: dict[str, Any] = {
        "at": at,
        "reference": None in at.values(),
        "digest": "0" * 64,
        "status": status,
        "value_ms": value_ms,
        "lower_bound_ms": None if value_ms is None else bound,
        "gap": None if value_ms is None or bound is None else (value_ms - bound) / value_ms,
        "value_from": "greedy",
        "bound_from": "by hand",
        "explanation": "no room" if value_ms is None else None,
        "time_limit_s": 1.0,
        "seconds": 0.5,
        "answer": None,
    }
    return SweepPoint.model_validate(given | more)


def assert_settled(found: Sweep, the_grid: Grid) -> None:
    """Value and bound of no point contradict those of a better one, and every schedule is one of its own spec."""
    points = {tuple(known.at.values()): known for known in found.points}
    known_at = {place: points.get(tuple(the_grid.at(place).values())) for place in the_grid.points}
    for place, several in the_grid.better.items():
        worse = known_at[place]
        for better in (known_at[other] for other in several):
            if worse is None or better is None:
                continue
            if worse.value_ms is not None:
                assert better.value_ms is not None
                assert better.value_ms <= worse.value_ms
            if better.status == "infeasible":
                assert worse.status == "infeasible"
            elif better.lower_bound_ms is not None and worse.status != "infeasible":
                assert worse.lower_bound_ms is not None
                assert worse.lower_bound_ms >= better.lower_bound_ms
    for place, known in known_at.items():
        if known is None or known.value_ms is None:
            continue
        assert (known.status == "optimal") == (known.value_ms == known.lower_bound_ms)
        assert known.answer is not None
        assert known.answer.objective.value_ms == known.value_ms
        assert known.answer.objective.lower_bound_ms == known.lower_bound_ms
        assert known.answer.status == known.status
        verdict = check(the_grid.points[place].spec, known.answer.model_dump())
        assert verdict.ok
        assert known.value_ms == (verdict.makespan_ms if found.objective == "makespan" else verdict.span_ms)
