"""`Assignment`: which items form which stage, the device of each, and what each recomputes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.spec.model import Recompute


@dataclass(frozen=True, slots=True)
class Assignment:
    """A chain of items cut into stages on devices.

    Attributes
    ----------
    ends
        The item that each stage ends before, in pipeline order; the last one is the number of items.
    devices
        Number of each stage's device, in the user's order of the devices of one replica.
    recompute
        What each stage computes again in its backward.
    """

    ends: tuple[int, ...]
    devices: tuple[int, ...]
    recompute: tuple[Recompute, ...]

    @property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """First item, and the item it ends before, of each stage."""
        return tuple(pairwise((0, *self.ends)))

    @property
    def counts(self) -> tuple[int, ...]:
        """Items of each stage."""
        return tuple(end - first for first, end in self.runs)
