"""What a picture says above the schedule: status, value, bound and gap, taken from the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.answer.summary import best_family, ms, percent
from crosspipe.export.svg import Caption

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer


def headline(answer: Answer, title: str | None) -> Caption:
    """Caption a picture of the answer's schedule."""
    objective = answer.objective
    first = f"{objective.name} {ms(objective.value_ms)}"
    if answer.status == "optimal":
        first += ", proved optimal"
    elif objective.lower_bound_ms is not None:
        first += f", no schedule can beat {ms(objective.lower_bound_ms)} (gap {percent(objective.gap)})"
    lines = [first]
    if (best := best_family(answer)) is not None:
        lines.append(f"best known schedule that fits: {best.name}, {ms(best.value_ms)}")
    return Caption(title or "Pipeline schedule", tuple(lines))
