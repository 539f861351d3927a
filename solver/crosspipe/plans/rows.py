"""An arrangement's answer as a row of the plan: memory, price, tokens."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from crosspipe.plans.models import Arrangement
from crosspipe.plans.price import price_per_step
from crosspipe.spec.numbers import plain_number
from crosspipe.sweeps.settle import slim

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer
    from crosspipe.plans.compare import Solved


def row_of(solved: Solved) -> Arrangement:
    """Write what is known of an arrangement."""
    variant, answer = solved.variant, solved.answer
    shares = [
        (device.peak_memory_mb / device.memory_mb if device.memory_mb else 0.0, device.peak_memory_mb)
        for device in (answer.devices if answer else ())
    ]
    limited = answer is not None and any(device.memory_mb for device in answer.devices)
    return Arrangement(
        name=solved.candidate.name,
        kind=solved.candidate.kind,
        sites=list(solved.candidate.sites),
        devices=None if variant is None else variant.pipeline * variant.data,
        tensor=None if variant is None else variant.tensor,
        pipeline=None if variant is None else variant.pipeline,
        data=None if variant is None else variant.data,
        status="not_compared" if answer is None else answer.status,
        value_ms=solved.value_ms,
        lower_bound_ms=solved.bound_ms,
        gap=None if answer is None else answer.objective.gap,
        tokens_per_second=None if answer is None else answer.tokens_per_second,
        peak_share=max(shares)[0] if shares and limited else None,
        peak_memory_mb=max((peak for _, peak in shares), default=None),
        price_per_step=None if variant is None else price_per_step(variant.spec, solved.value_ms),
        gradients_counted=solved.counted,
        reason=solved.reason,
        changes=[] if variant is None else list(variant.changes),
        spec=None if variant is None else _plain(variant.tree),
        answer=None if answer is None else _without_operations(answer),
    )


def _plain(value: Any) -> Any:
    """Write a spec as JSON data."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return plain_number(value) if isinstance(value, Decimal) else value


def _without_operations(answer: Answer) -> Answer:
    told = slim(answer)
    devices = [device.model_copy(update={"operations": None}) for device in told.devices]
    transfers = [lane.model_copy(update={"operations": None}) for lane in told.transfers]
    return told.model_copy(update={"devices": devices, "transfers": transfers})


__all__ = ["row_of"]
