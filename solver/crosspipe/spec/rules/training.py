"""Rules of the training step: one way to say how many microbatches there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.faults import Path, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.model import Spec, Training

_AT = ("training", "global_batch")


def microbatches_are_known(training: Training, path: Path) -> Iterator[Fault]:
    """Require a count, directly or through the batch."""
    if training.microbatches is None and training.global_batch is None:
        yield fault(path, "must have `microbatches`, or `global_batch` with `microbatch`")
    if training.global_batch is not None and training.microbatch is None:
        yield fault((*path, "microbatch"), "must be given beside `global_batch`")


def batch_is_whole_microbatches(spec: Spec) -> Iterator[Fault]:
    """Require a batch of whole microbatches in all replicas, as many as are given."""
    training, data = spec.training, spec.parallel.data
    batch, microbatch = training.global_batch, training.microbatch_size
    if batch is None or microbatch is None:
        return
    replicas = data if isinstance(data, int) else 1
    if training.microbatches is not None:
        count = training.microbatches
        if not isinstance(count, int) or not isinstance(data, int):
            yield fault(_AT, "must not stand beside `microbatches`: one of them says how many there are", batch)
        elif count * microbatch * data != batch:
            rule = f"must be left out, or be microbatches {count} x microbatch {microbatch} x data {data}"
            yield fault(_AT, rule, batch, count * microbatch * data)
    elif batch % (microbatch * replicas):
        unit = microbatch * replicas
        what = (
            f"microbatch {microbatch} x data {data} = {unit}" if isinstance(data, int) else f"microbatch = {microbatch}"
        )
        yield fault(_AT, f"must be a multiple of {what}", batch, max(1, round(batch / unit)) * unit)


def context_cuts_sequences(spec: Spec) -> Iterator[Fault]:
    """Require sequences that are cut into equal parts."""
    length, parts = spec.training.sequence_length, spec.parallel.context
    if length is not None and length % parts:
        nearest = min((part for part in range(1, length + 1) if length % part == 0), key=lambda part: abs(part - parts))
        yield fault(("parallel", "context"), f"must divide sequence_length {length}", parts, nearest)
