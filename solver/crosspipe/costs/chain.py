"""The items a model is cut from: its layers, with the embedding on the first and the head behind the last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.costs.memory import NOTHING_HELD, Held, head_held, layer_held
from crosspipe.costs.work import NO_FLOPS, Flops, Shape, head_flops, layer_flops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.costs.architecture import Architecture


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of the model that is never cut.

    Attributes
    ----------
    layer
        Number of the transformer layer, None for the head.
    embedding
        Whether the token embedding comes with it.
    flops
        Work for one microbatch.
    held
        Activations of one microbatch, bytes before tensor split.
    parameters
        Parameters that live with it.
    """

    layer: int | None
    embedding: bool
    flops: Flops
    held: Held
    parameters: int


def chain_of(model: Architecture, shape: Shape) -> tuple[Item, ...]:
    """List the items of a model in order: `layers` of them and the head, which may be a stage of its own."""
    flops, held = layer_flops(model, shape), layer_held(model, shape)
    first = Item(0, True, flops + NO_FLOPS, held + NOTHING_HELD, model.layer_parameters + model.embedding_parameters)
    layers = [Item(number, False, flops, held, model.layer_parameters) for number in range(1, model.layers)]
    head = Item(None, False, head_flops(model, shape), head_held(model, shape), model.head_parameters)
    return (first, *layers, head)


def describe(items: Sequence[Item]) -> str:
    """Name the layers of a stage: `embedding, 0-9`, `70-79, head`."""
    numbers = [item.layer for item in items if item.layer is not None]
    parts = ["embedding"] if any(item.embedding for item in items) else []
    if numbers:
        parts.append(str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}")
    if items[-1].layer is None:
        parts.append("head")
    return ", ".join(parts)
