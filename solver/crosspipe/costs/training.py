"""The training step in microbatches per replica."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.costs.assumption import Assumption
from crosspipe.errors import Fault, SpecError

if TYPE_CHECKING:
    from crosspipe.costs.degrees import Degrees
    from crosspipe.spec.model import Training
    from crosspipe.spec.stages import Microbatches


@dataclass(frozen=True, slots=True)
class Batch:
    """How the step is cut.

    Attributes
    ----------
    counted
        Microbatches per replica where the user counted them, else None.
    sequences
        Sequences of all replicas together where the user gave `global_batch`, else None.
    microbatch
        Sequences per microbatch; None where it is unknown and nothing needs it.
    """

    counted: int | Microbatches | None
    sequences: int | None
    microbatch: int | None

    def given(self, data: int) -> int | Microbatches:
        """Give the microbatches of one replica."""
        if self.counted is not None:
            return self.counted
        return (self.sequences or 0) // ((self.microbatch or 1) * data)

    def count(self, data: int) -> int:
        """Count the microbatches of one replica."""
        given = self.given(data)
        return given if isinstance(given, int) else len(given.multipliers)


def batch_of(training: Training, *, estimated: bool) -> Batch:
    """Read how the step is cut.

    Raises
    ------
    SpecError
        If an estimate lacks the sequence length.
    """
    if estimated and training.sequence_length is None:
        rule = "must be given where times and memory are estimated from the model"
        raise SpecError([Fault("/training/sequence_length", rule, "none", "4096")])
    microbatch = 1 if training.microbatch_size is None and estimated else training.microbatch_size
    return Batch(training.microbatches, training.global_batch, microbatch)


def expand_training(training: Training, batch: Batch, degrees: Degrees) -> tuple[Training, tuple[Assumption, ...]]:
    """Count the microbatches of one replica."""
    assumptions = []
    if batch.microbatch != training.microbatch:
        why = "one sequence per microbatch holds the fewest activations"
        assumptions.append(Assumption("/training/microbatch", str(batch.microbatch), why, "training.microbatch"))
    if batch.counted is None:
        why = f"global_batch {batch.sequences} / (microbatch {batch.microbatch} x data {degrees.data})"
        count = str(batch.count(degrees.data))
        assumptions.append(Assumption("/training/microbatches", count, why, "training.global_batch"))
    expanded = training.model_copy(
        update={
            "microbatches": batch.given(degrees.data),
            "global_batch": None,
            "microbatch": batch.microbatch,
        }
    )
    return expanded, tuple(assumptions)
