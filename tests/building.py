"""Small specs for tests, written as what a person would post."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosspipe.problem.compile import compile_spec
from crosspipe.spec.model import Spec

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

STAGE: dict[str, Any] = {"forward_ms": 1, "backward_input_ms": 1, "backward_weight_ms": 1, "activation_mb": 1}


def spec_data(stages: list[dict[str, Any]] | int = 2, microbatches: Any = 2, **more: Any) -> dict[str, Any]:
    """A spec of stages on one site per device pair: site `a` holds all devices unless `sites` is given."""
    listed = [dict(STAGE) for _ in range(stages)] if isinstance(stages, int) else stages
    data: dict[str, Any] = {
        "model": {"stages": listed},
        "training": {"microbatches": microbatches},
        "sites": {"a": {"devices": len(listed)}},
    }
    return data | more


def problems(stages: list[dict[str, Any]] | int = 2, microbatches: Any = 2, **more: Any) -> tuple[Problem, ...]:
    """Compile such a spec (already in its expanded form)."""
    return compile_spec(Spec.model_validate(spec_data(stages, microbatches, **more)), "test")


def problem(stages: list[dict[str, Any]] | int = 2, microbatches: Any = 2, **more: Any) -> Problem:
    """Compile such a spec, for its first placement."""
    return problems(stages, microbatches, **more)[0]
