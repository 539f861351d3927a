"""Rules of limits: they speak of stages that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.faults import fault
from crosspipe.spec.places import stage_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.model import Spec


def caps_for_every_stage(spec: Spec) -> Iterator[Fault]:
    """Require one cap for each stage in a list of them."""
    caps, count = spec.limits.in_flight, stage_count(spec)
    if isinstance(caps, list) and count is not None and len(caps) != count:
        yield fault(("limits", "in_flight"), f"must have {count} entries, one for each stage (null = no cap)", caps)


def deadlines_of_existing_stages(spec: Spec) -> Iterator[Fault]:
    """Require that a deadline is that of a stage."""
    count = stage_count(spec)
    for stage, deadline in spec.limits.stage_deadlines_ms.items():
        if count is not None and stage >= count:
            path = ("limits", "stage_deadlines_ms", stage)
            yield fault(path, f"must be the deadline of a stage, 0 to {count - 1}", deadline, f"stage {count - 1}")
