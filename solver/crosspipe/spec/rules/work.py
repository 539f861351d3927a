"""Rules of one stage or layer: which backward it has, and what its memory may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.faults import Path, fault
from crosspipe.spec.stages import Stage, UniformStages, Work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.errors import Fault


def one_form_of_backward(work: Work, path: Path) -> Iterator[Fault]:
    """Require B with or without W, or a combined BW, or frozen."""
    given = [
        name for name in ("backward_input_ms", "backward_weight_ms", "backward_ms") if getattr(work, name) is not None
    ]
    if work.frozen:
        for name in given:
            rule = "must be left out where `frozen` is true: only F runs there"
            yield fault((*path, name), rule, getattr(work, name))
        return
    if not given:
        yield fault(
            path,
            "must have `backward_input_ms` (with `backward_weight_ms`, if it trains), `backward_ms` or `frozen: true`",
        )
    if "backward_ms" in given and len(given) > 1:
        rule = f"must not stand beside {given[0]}: the backward is either split or combined"
        yield fault((*path, "backward_ms"), rule, work.backward_ms)
    elif given == ["backward_weight_ms"]:
        yield fault((*path, "backward_weight_ms"), "must have `backward_input_ms` beside it", work.backward_weight_ms)


def frozen_recomputes_nothing(work: Work, path: Path) -> Iterator[Fault]:
    """Refuse what lengthens or enlarges a backward where there is none."""
    if not work.frozen:
        return
    for name in ("recompute_ms", "backward_extra_mb"):
        if getattr(work, name) > 0:
            yield fault((*path, name), "must be 0 where `frozen` is true: there is no backward", getattr(work, name), 0)
    if isinstance(work, Stage | UniformStages) and work.recompute_option is not None:
        yield fault((*path, "recompute_option"), "must be left out where `frozen` is true: there is no backward")


def retained_is_part_of_activation(work: Work, path: Path) -> Iterator[Fault]:
    """Require that W keeps part of what F took, and that there is a W to keep it."""
    kept, taken = work.retained_mb, work.activation_mb
    if kept is None:
        return
    if kept > taken:
        rule = f"must be at most activation_mb = {taken}: it is the part of it that W needs"
        yield fault((*path, "retained_mb"), rule, kept, taken)
    elif work.backward_weight_ms is None and 0 < kept < taken:
        rule = "must be left out without `backward_weight_ms`: with no W, nothing is kept after the backward"
        yield fault((*path, "retained_mb"), rule, kept)
