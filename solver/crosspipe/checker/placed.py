"""`Placed`: one operation with its time, as some producer or document claims it; and whose operation it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class Placed:
    """One row of a schedule under judgement.

    Attributes
    ----------
    kind
        What the operation does.
    stage
        The stage; for a transfer the boundary (its lower stage); ignored for an extra operation.
    microbatch, replica
        From 0; ignored for an extra operation.
    start_ns
        Claimed start.
    end_ns
        Claimed end, or None to take the one that duration and lane imply.
    resource
        Device or lane number (as in the problem) it claims to run on, or None for no claim.
    name
        Name of an extra operation.
    leg
        For a transfer the place of its link on the way of the message; 0 for the first, and for all else.
    """

    kind: Kind
    stage: int
    microbatch: int
    replica: int
    start_ns: int
    end_ns: int | None = None
    resource: int | None = None
    name: str | None = None
    leg: int = 0

    @property
    def label(self) -> str:
        """Name it for people, whether or not the problem has such an operation."""
        if self.kind is Kind.EXTRA:
            return f"extra operation {self.name}"
        where = "over boundary" if self.kind.is_transfer else "of stage"
        what = self.kind.name.lower() if self.kind.is_transfer else self.kind.name
        leg = f", leg {self.leg}" if self.leg else ""
        return f"{what} {where} {self.stage}{leg}, microbatch {self.microbatch}, replica {self.replica}"


Key = tuple[Kind, int, int, int, int, str | None]
"""What names an operation: kind, stage, leg, microbatch, replica, and the name of an extra one."""


def key_of(placed: Placed) -> Key:
    """Tell which operation a row means: rows with equal keys mean the same one."""
    if placed.kind is Kind.EXTRA:
        return (Kind.EXTRA, -1, 0, 0, 0, placed.name)
    return (placed.kind, placed.stage, placed.leg, placed.microbatch, placed.replica, None)


def keys_of(problem: Problem) -> dict[Key, int]:
    """Give the operation number of every key the problem knows."""
    operations = problem.operations
    rows = zip(
        operations.kind.tolist(),
        operations.stage.tolist(),
        operations.leg.tolist(),
        operations.microbatch.tolist(),
        operations.replica.tolist(),
        strict=True,
    )
    keys: dict[Key, int] = {
        (Kind(kind), stage, leg, microbatch, replica, None): number
        for number, (kind, stage, leg, microbatch, replica) in enumerate(rows)
        if kind != Kind.EXTRA
    }
    keys.update({(Kind.EXTRA, -1, 0, 0, 0, name): number for name, number in problem.extras})
    return keys
