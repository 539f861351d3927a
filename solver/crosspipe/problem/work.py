"""Work of one stage on one device, in integers, for each microbatch."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind
from crosspipe.problem.rounding import to_bytes, to_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal

    from crosspipe.problem.operations import IntArray
    from crosspipe.spec.stages import RecomputeOption, Stage


@dataclass(frozen=True, slots=True, eq=False)
class StageWork:
    """Durations and memory of a stage, one entry per microbatch.

    Attributes
    ----------
    durations_ns
        By kind of compute operation the stage has.
    until_backward_bytes
        Activation given back at the end of B.
    retained_bytes
        Activation given back at the end of the last operation that holds it.
    extra_bytes
        Taken at the start of the backward, given back with `retained_bytes`.
    """

    durations_ns: dict[Kind, IntArray]
    until_backward_bytes: IntArray
    retained_bytes: IntArray
    extra_bytes: IntArray

    @property
    def backward(self) -> Kind | None:
        """The operation that sends the gradient on, None if frozen."""
        return next((kind for kind in (Kind.B, Kind.BW) if kind in self.durations_ns), None)

    @property
    def last(self) -> Kind:
        """The operation at whose end nothing of the microbatch is held any more."""
        return next(kind for kind in (Kind.W, Kind.BW, Kind.B, Kind.F) if kind in self.durations_ns)


def stage_work(
    stage: Stage,
    time_factor: Decimal,
    multipliers: Sequence[Decimal],
    split: bool,
    option: RecomputeOption | None = None,
) -> StageWork:
    """Compile a stage for the device it sits on; `option` replaces its own values if given.

    A backward duration includes the recomputation, which runs as its first part. Without `split`, B and W are one BW.
    """
    factor = Fraction(time_factor)
    recompute = Fraction(option.recompute_ms if option else stage.recompute_ms)
    times_ms: dict[Kind, Fraction] = {Kind.F: Fraction(stage.forward_ms)}
    if stage.backward_ms is not None:
        times_ms[Kind.BW] = Fraction(stage.backward_ms) + recompute
    elif stage.backward_input_ms is not None and not split and stage.backward_weight_ms is not None:
        times_ms[Kind.BW] = Fraction(stage.backward_input_ms) + Fraction(stage.backward_weight_ms) + recompute
    elif stage.backward_input_ms is not None:
        times_ms[Kind.B] = Fraction(stage.backward_input_ms) + recompute
        if stage.backward_weight_ms is not None:
            times_ms[Kind.W] = Fraction(stage.backward_weight_ms)
    activation = Fraction(option.activation_mb if option else stage.activation_mb)
    retained = activation if stage.retained_mb is None else min(Fraction(stage.retained_mb), activation)
    if Kind.W not in times_ms:
        retained = activation
    extra = Fraction(option.backward_extra_mb if option else stage.backward_extra_mb)
    whole = scaled(lambda m: to_bytes(activation * m), multipliers)
    kept = scaled(lambda m: to_bytes(retained * m), multipliers)
    return StageWork(
        {kind: scaled(lambda m, t=time: to_ns(t * factor * m), multipliers) for kind, time in times_ms.items()},  # type: ignore[misc]
        whole - kept,
        kept,
        scaled(lambda m: to_bytes(extra * m), multipliers),
    )


def scaled(amount: Callable[[Fraction], int], multipliers: Sequence[Decimal]) -> IntArray:
    """Evaluate `amount` at each multiplier, once per distinct one."""
    known = {multiplier: amount(Fraction(multiplier)) for multiplier in set(multipliers)}
    return np.array([known[multiplier] for multiplier in multipliers], dtype=np.int64)
