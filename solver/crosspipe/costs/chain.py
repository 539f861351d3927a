"""The items a model is cut from: its layers, the first with the embedding, multi-token prediction and the head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.costs.memory import NOTHING_HELD, Held, head_held, layer_held
from crosspipe.costs.work import NO_FLOPS, Flops, Shape, head_flops, layer_flops, product_flops

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
    embedding, head
        Whether it needs the token embedding, and the output projection.
    flops
        Work for one microbatch.
    held
        Activations of one microbatch, bytes before tensor split.
    parameters
        Parameters of its own: those of embedding and output projection come on top, once per stage.
    routed
        The part of `parameters` in routed experts.
    prediction
        Whether it is a layer of multi-token prediction.
    """

    layer: int | None
    embedding: bool
    head: bool
    flops: Flops
    held: Held
    parameters: int
    routed: int = 0
    prediction: bool = False

    @property
    def kind(self) -> str:
        """What it is, in words."""
        if self.layer is None:
            return "head"
        if self.prediction:
            return "multi-token prediction"
        what = "layer with experts" if self.routed else "layer"
        return f"embedding and {what}" if self.embedding else what


def chain_of(model: Architecture, shape: Shape) -> tuple[Item, ...]:
    """List the items of a model in order: `layers` of them, those of multi-token prediction, and the head.

    A layer of multi-token prediction is an item of its own before the head: its projection, a transformer layer, and a
    pass through the output projection. It looks the next token up, too, so that its stage holds a copy of the embedding
    and one of the output projection.
    """
    layers = [_layer(model, shape, number) for number in range(model.layers)]
    further = [_prediction(model, shape, model.layers + number) for number in range(model.prediction_layers)]
    head = Item(None, False, True, head_flops(model, shape), head_held(model, shape), model.final_norm_parameters)
    return (*layers, *further, head)


def _layer(model: Architecture, shape: Shape, number: int) -> Item:
    return Item(
        layer=number,
        embedding=number == 0,
        head=False,
        flops=layer_flops(model, shape, number) + NO_FLOPS,
        held=layer_held(model, shape, number) + NOTHING_HELD,
        parameters=model.layer_parameters_of(number),
        routed=model.routed_parameters(number),
    )


def _prediction(model: Architecture, shape: Shape, number: int) -> Item:
    width = 4 * shape.value_bytes * shape.tokens * model.hidden
    projection = Held(activation=width, retained=3 * width // 4, selective=width // 2, full=0)
    return Item(
        layer=number,
        embedding=True,
        head=True,
        flops=layer_flops(model, shape, number) + product_flops(2 * model.hidden**2, shape) + head_flops(model, shape),
        held=layer_held(model, shape, number) + projection + head_held(model, shape),
        parameters=model.prediction_parameters,
        routed=model.routed_parameters(number),
        prediction=True,
    )


def stage_parameters(model: Architecture, items: Sequence[Item]) -> int:
    """Count the parameters of some items in a row; tied ends in one stage are held once."""
    own = sum(item.parameters for item in items)
    embedding = model.embedding_parameters if any(item.embedding for item in items) else 0
    head = model.head_matrix_parameters if any(item.head for item in items) else 0
    return own + embedding + (0 if model.tied and embedding else head)


def describe(items: Sequence[Item]) -> str:
    """Name the layers of a stage: `embedding, 0-9`, `70-79, head`."""
    numbers = [item.layer for item in items if item.layer is not None and not item.prediction]
    parts = ["embedding"] if items[0].layer == 0 else []
    if numbers:
        parts.append(str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}")
    if any(item.prediction for item in items):
        parts.append("multi-token prediction")
    if items[-1].layer is None:
        parts.append("head")
    return ", ".join(parts)
