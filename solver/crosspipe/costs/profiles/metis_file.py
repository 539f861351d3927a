"""One file of a Metis profile, every number checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from crosspipe.costs.profiles.profile import refused
from crosspipe.costs.profiles.rows import json_tree
from crosspipe.costs.split import LARGEST_ITEM_COUNT

LARGEST: Final = Decimal(10) ** 12


@dataclass(frozen=True, slots=True)
class Measured:
    """What one file holds.

    Attributes
    ----------
    layers_ms
        F and B of each layer.
    memory_mb
        Memory of each layer on one accelerator.
    weights_bytes
        Parameters of each layer; empty where the file has none.
    step_ms, optimizer_ms
        Measured F and B of the whole model, and the optimizer's step; None where the file has none.
    filled
        Whether the memory of a middle layer was told once too seldom.
    """

    layers_ms: tuple[Decimal, ...]
    memory_mb: tuple[Decimal, ...]
    weights_bytes: tuple[Decimal, ...]
    step_ms: Decimal | None
    optimizer_ms: Decimal | None
    filled: bool


def read_metis(text: str, file: str) -> Measured:
    """Read one file.

    Raises
    ------
    ProfileError
        If it is malformed.
    """
    tree = json_tree(text, file)
    times = _section(tree, "execution_time", file)
    memory = _section(tree, "execution_memory", file)
    layers = _numbers(times, "layer_compute_total_ms", f"{file} execution_time")
    if min(layers) <= 0:
        raise refused(f"{file} execution_time/layer_compute_total_ms", "must be above 0", min(layers))
    sizes, filled = _numbers(memory, "layer_memory_total_mb", f"{file} execution_memory"), False
    if len(sizes) == len(layers) - 1 and len(set(sizes[1:-1])) == 1:
        sizes, filled = (*sizes[:-1], sizes[1], sizes[-1]), True
    if len(sizes) != len(layers):
        rule = f"must be as long as layer_compute_total_ms, {len(layers)}"
        raise refused(f"{file} execution_memory/layer_memory_total_mb", rule, sizes)
    weights: tuple[Decimal, ...] = ()
    model = tree.get("model")
    parameters = model.get("parameters") if isinstance(model, Mapping) else None
    if isinstance(parameters, Mapping) and "parameters_per_layer_bytes" in parameters:
        weights = _numbers(parameters, "parameters_per_layer_bytes", f"{file} model/parameters")
        if len(weights) != len(layers):
            rule = f"must be as long as layer_compute_total_ms, {len(layers)}"
            raise refused(f"{file} model/parameters/parameters_per_layer_bytes", rule, weights)
    step = _number(times, "forward_backward_time_ms", f"{file} execution_time")
    optimizer = _number(times, "optimizer_time_ms", f"{file} execution_time")
    return Measured(layers, sizes, weights, step, optimizer, filled)


def _section(tree: Mapping[str, object], name: str, file: str) -> Mapping[str, object]:
    found = tree.get(name)
    if not isinstance(found, Mapping):
        raise refused(file, f"must have `{name}`, as Metis' profiles do")
    return found


def _numbers(section: Mapping[str, object], name: str, place: str) -> tuple[Decimal, ...]:
    found = section.get(name)
    if not isinstance(found, list) or len(found) < 3:  # embedding, a layer, head
        raise refused(place, f"must have `{name}`, a list of three or more", found)
    if len(found) > LARGEST_ITEM_COUNT:
        raise refused(f"{place}/{name}", f"must have at most {LARGEST_ITEM_COUNT} entries", len(found))
    return tuple(_plain(value, f"{place}/{name}/{number}") for number, value in enumerate(found))


def _number(section: Mapping[str, object], name: str, place: str) -> Decimal | None:
    found = section.get(name)
    return None if found is None else _plain(found, f"{place}/{name}")


def _plain(value: object, place: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 <= value <= LARGEST:
        raise refused(place, f"must be a number from 0 to {LARGEST:.0e}", value)
    return Decimal(value)
