"""The rules of specs asked of rows of layers; a fault tells the row it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.costs.profiles.profile import ProfileError
from crosspipe.errors import Fault, SpecError
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def require_sound(model: Mapping[str, object], places: Sequence[str]) -> None:
    """Ask the rules of specs about the layers; a fault tells the row it comes from."""
    spec = {"model": model, "training": {"microbatches": 1}, "sites": _sites(model)}
    try:
        parse_spec(spec)
    except SpecError as error:
        raise ProfileError([_of_row(fault, places) for fault in error.faults]) from error


def _sites(model: Mapping[str, object]) -> dict[str, object]:
    """Make up the sites that layers are pinned to, so that any name will do here."""
    rows = model["layers"]
    names: dict[str, object] = {"site": {"devices": 1}}
    for row in rows if isinstance(rows, list) else []:
        device = row.get("device")
        site = row.get("site") or (device.rpartition("/")[0] if isinstance(device, str) else None)
        if isinstance(site, str) and site:
            names[site] = {"devices": 10**6}
    return names


def _of_row(fault: Fault, places: Sequence[str]) -> Fault:
    parts = fault.pointer.split("/")
    if parts[:3] != ["", "model", "layers"] or len(parts) < 4 or not parts[3].isdigit():
        return fault
    place = " ".join([places[int(parts[3])], *parts[4:]])
    return Fault(place, fault.rule, fault.value, fault.nearest)
