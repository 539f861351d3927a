"""Problems compiled from specs written as mappings, in whole ms and MB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosspipe.costs.expand import expand
from crosspipe.problem.compile import compile_spec
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.problem.problem import Problem


def problems_of(spec: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Parse, expand and compile."""
    return compile_spec(expand(parse_spec(spec)).spec, "a test")


def problem_of(spec: Mapping[str, Any]) -> Problem:
    """Compile a spec that leaves one placement."""
    (problem,) = problems_of(spec)
    return problem


def pipeline(
    stages: list[dict[str, Any]],
    microbatches: int | dict[str, Any],
    *,
    places: list[int] | None = None,
    memory_mb: list[float | None] | float | None = None,
    latency_ms: float = 0,
    links: list[dict[str, Any]] | None = None,
    **more: Any,
) -> Problem:
    """One site per device (`d0`, `d1`, ...), every pair joined with the same latency unless `links` are given."""
    places = list(range(len(stages))) if places is None else places
    count = max(places) + 1
    memory = memory_mb if isinstance(memory_mb, list) else [memory_mb] * count
    joined = [
        {"between": [f"d{a}", f"d{b}"], "one_way_latency_ms": latency_ms}
        for a in range(count)
        for b in range(a + 1, count)
    ]
    return problem_of(
        {
            "model": {"stages": stages},
            "training": {"microbatches": microbatches},
            "parallel": {"tensor": 1, "pipeline": count, "data": 1},
            "sites": {
                f"d{d}": {"devices": 1, "memory_gb": None if mb is None else mb / 1000} for d, mb in enumerate(memory)
            },
            "links": joined if links is None else links,
            "placement": {"map": [f"d{d}/0" for d in places]},
            **more,
        }
    )


def split(forward: float, backward: float, weight: float, **more: Any) -> dict[str, Any]:
    """One stage with a split backward."""
    return {"forward_ms": forward, "backward_input_ms": backward, "backward_weight_ms": weight, **more}
