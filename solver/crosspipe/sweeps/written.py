"""A sweep as JSON, its answers in as much detail as is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer
    from crosspipe.answer.timetable import Detail
    from crosspipe.sweeps.models import Sweep


def written_sweep(sweep: Sweep, detail: Detail = "summary") -> str:
    """Write a sweep as one line of JSON; at detail `summary` without the operations of each point."""
    if detail != "summary":
        return sweep.model_dump_json()
    points = [
        point if point.answer is None else point.model_copy(update={"answer": _without_operations(point.answer)})
        for point in sweep.points
    ]
    return sweep.model_copy(update={"points": points}).model_dump_json()


def _without_operations(answer: Answer) -> Answer:
    devices = [device.model_copy(update={"operations": None}) for device in answer.devices]
    transfers = [lane.model_copy(update={"operations": None}) for lane in answer.transfers]
    return answer.model_copy(update={"devices": devices, "transfers": transfers})
