"""The assignment that an answer states, read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from crosspipe.costs.assignment import Assignment
from crosspipe.costs.layers import MeasuredLayers
from crosspipe.errors import Fault, ScheduleFormatError
from crosspipe.spec.model import Recompute

if TYPE_CHECKING:
    from crosspipe.costs.preparation import Preparation
    from crosspipe.costs.source import Source


def assignment_in(document: object, preparation: Preparation) -> Assignment | None:
    """Read which items each stage of an answer holds, where it sits and what it recomputes; None if it does not say.

    Raises
    ------
    ScheduleFormatError
        If it says what cannot be: stages that leave out items, unknown devices or ways to recompute.
    """
    rows = document.get("assignment") if isinstance(document, Mapping) else None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        return None
    if any(row.get("end_item") is None for row in rows):
        return None
    ends, names = [row["end_item"] for row in rows], [row.get("device") for row in rows]
    places = {name: number for number, (name, _) in enumerate(preparation.devices)}
    source = preparation.source
    if any(type(end) is not int for end in ends) or ends != sorted(set(ends)) or ends[0] < 1:
        raise _fault("end_item", "ascending numbers of items from 1, one for each stage", ends, None)
    if ends[-1] != source.item_count:
        raise _fault(f"{len(rows) - 1}/end_item", "the last stage ends with the last item", ends[-1], source.item_count)
    for number, name in enumerate(names):
        if not isinstance(name, str) or name not in places:
            raise _fault(f"{number}/device", "must be a device of this spec", name, next(iter(places)))
        _require_pins(source, number, (ends[number - 1] if number else 0, ends[number]), name)
    ways: list[Recompute] = []
    for number, row in enumerate(rows):
        given = row.get("recompute", "none")
        known = [way for way in get_args(Recompute) if way == given]
        if not known or known[0] not in source.recompute_ways(ends[number - 1] if number else 0, ends[number]):
            raise _fault(f"{number}/recompute", "must be open to this stage", given, "none")
        ways.append(known[0])
    return Assignment(tuple(ends), tuple(places[str(name)] for name in names), tuple(ways))


def _require_pins(source: Source, stage: int, run: tuple[int, int], device: str) -> None:
    """Require that no layer of a stage is pinned elsewhere.

    Raises
    ------
    ScheduleFormatError
        If one is.
    """
    pins = source.pins()[slice(*run)] if isinstance(source, MeasuredLayers) else ()
    for pin in pins:
        if pin is not None and not pin.allows(device):
            rule = f"must be {pin.place}, where the spec pins a layer of the stage"
            raise _fault(f"{stage}/device", rule, device, pin.device)


def _fault(place: str, rule: str, value: object, nearest: object) -> ScheduleFormatError:
    near = None if nearest is None else str(nearest)
    return ScheduleFormatError([Fault(f"/assignment/{place}", rule, str(value)[:80], near)])
