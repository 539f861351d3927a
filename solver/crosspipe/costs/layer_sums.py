"""One stage of some measured layers in a row: times and memory add up, the message is that of the last layer."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING

from crosspipe.costs.checked import checked
from crosspipe.costs.layer_weights import Bytes, add, once
from crosspipe.spec.stages import Layer, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.costs.degrees import Degrees
    from crosspipe.spec.model import Recompute

LARGEST_NAME = 200
"""Longest text in a stage's `layers`."""

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Numbered:
    """One layer with the number of its entry in the list, and its own number within the entry's repeats."""

    entry: int
    repeat: int
    number: int
    layer: Layer


def work_ms(layer: Layer) -> Decimal:
    """Add up F, B and W of a layer, recomputation included."""
    backward = [layer.backward_input_ms, layer.backward_weight_ms, layer.backward_ms]
    return add([layer.forward_ms, layer.recompute_ms, *(part for part in backward if part is not None)])


def recomputing(layer: Layer, way: Recompute) -> Layer:
    """Put the values of a way of recomputation in place of the layer's own, if it has any."""
    option = {"none": None, "selective": layer.selective, "full": layer.full}[way]
    if option is None:
        return layer
    update: dict[str, object] = {
        "activation_mb": option.activation_mb,
        "recompute_ms": option.recompute_ms,
        "backward_extra_mb": option.backward_extra_mb,
    }
    if layer.retained_mb is not None:
        update["retained_mb"] = min(layer.retained_mb, option.activation_mb)
    return layer.model_copy(update=update)


def merge(items: Sequence[Numbered], degrees: Degrees, rule: Bytes, way: Recompute = "none") -> Stage:
    """Make one stage of some layers in a row."""
    layers = [recomputing(item.layer, way) for item in items]
    last = layers[-1]
    activation = add(layer.activation_mb for layer in layers)
    times: dict[str, Decimal | bool] = {"forward_ms": add(layer.forward_ms for layer in layers)}
    retained = activation
    if all(layer.frozen for layer in layers):
        times["frozen"] = True
    elif any(is_combined(layer) for layer in layers):
        parts = ((layer.backward_ms, layer.backward_input_ms, layer.backward_weight_ms) for layer in layers)
        times["backward_ms"] = add(part for three in parts for part in three if part is not None)
    else:
        times["backward_input_ms"] = add(layer.backward_input_ms or ZERO for layer in layers)
        weights = [layer.backward_weight_ms for layer in layers if layer.backward_weight_ms is not None]
        if weights:
            times["backward_weight_ms"] = add(weights)
            retained = add(_retained(layer) for layer in layers)
    return checked(
        Stage,
        {
            **times,
            "recompute_ms": add(layer.recompute_ms for layer in layers),
            "activation_mb": activation,
            "retained_mb": retained,
            "backward_extra_mb": add(layer.backward_extra_mb for layer in layers),
            "static_mb": once(layers, lambda layer: rule.static_mb(layer, degrees)),
            "boundary_mb": last.boundary_mb,
            "gradient_mb": last.boundary_mb if last.gradient_mb is None else last.gradient_mb,
            "layers": describe(items),
            "weights_mb": once(layers, rule.weights_mb),
            "reduced_mb": once(layers, rule.reduced_mb),
        },
        "/model/layers",
    )


def describe(items: Sequence[Numbered]) -> str:
    """Name the layers of a stage: `0-9`, or with the user's names `vision 3-5, decoder 0-7`."""
    parts = []
    for _, group in groupby(items, key=lambda item: item.entry):
        run = list(group)
        layer = run[0].layer
        if layer.name is not None and layer.repeat == 1:
            parts.append(layer.name)
        elif layer.name is not None:
            parts.append(f"{layer.name} {_span(run[0].repeat, run[-1].repeat)}")
        else:
            parts.append(_span(run[0].number, run[-1].number))
    plain = _span(items[0].number, items[-1].number)
    if all(item.layer.name is None for item in items):
        return plain
    text = ", ".join(parts)
    return text if len(text) <= LARGEST_NAME else plain


def is_combined(layer: Layer) -> bool:
    """Tell whether B and W of a layer are one operation."""
    return layer.backward_ms is not None


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _retained(layer: Layer) -> Decimal:
    if layer.frozen or layer.backward_weight_ms is None:
        return ZERO
    return layer.activation_mb if layer.retained_mb is None else layer.retained_mb
