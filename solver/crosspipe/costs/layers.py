"""Stages of measured layers: cut evenly by time, the numbers of each stage summed."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import groupby
from math import lcm
from typing import TYPE_CHECKING

from crosspipe.costs.assumption import Assumption
from crosspipe.costs.checked import checked
from crosspipe.costs.split import LARGEST_ITEM_COUNT, even_split, given_split
from crosspipe.errors import Fault, TooLargeError
from crosspipe.spec.numbers import MOST_DIGITS
from crosspipe.spec.stages import Layer, LayersModel, Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


@dataclass(frozen=True, slots=True)
class MeasuredLayers:
    """Layers in order, repeats expanded."""

    layers: tuple[Numbered, ...]
    layers_per_stage: tuple[int, ...] | None = None

    @property
    def largest_stage_count(self) -> int:
        """One stage per layer."""
        return len(self.layers)

    @property
    def item_count(self) -> int:
        """Pieces that are never cut."""
        return len(self.layers)

    def works(self) -> list[int]:
        """Give the time of every item, forward and backward, in a unit in which all are whole."""
        return _whole_numbers([work_ms(item.layer) for item in self.layers])

    @property
    def longest_run(self) -> int:
        """Most items in one stage."""
        return self.item_count

    def recompute_ways(self, first: int, end: int) -> tuple[Recompute, ...]:  # noqa: ARG002  # as measured
        """List what a stage of these items may recompute."""
        return ("none",)

    def runs(self, factors: Sequence[Fraction]) -> tuple[range, ...]:
        """Cut the items into one run per factor, as given or evenly by time on its device."""
        if self.layers_per_stage is None:
            return even_split(self.works(), factors)
        return given_split(self.layers_per_stage)

    def stage(
        self,
        first: int,
        end: int,
        degrees: Degrees,  # noqa: ARG002  # as measured
        recompute: Recompute = "none",  # noqa: ARG002  # as measured
    ) -> Stage:
        """Add up the stage of items first..end-1."""
        return merge(self.layers[first:end])

    def assumptions(self, degrees: Degrees) -> tuple[Assumption, ...]:  # noqa: ARG002  # as measured
        """Tell how the layers became stages."""
        found = []
        if self.layers_per_stage is None:
            found = [
                Assumption(
                    "/model/stages",
                    f"{len(self.layers)} layers cut by time",
                    "the slowest stage (F + B + W on its device) is as fast as can be, then the fastest as slow; of "
                    "equals the earliest cut",
                    "`placement.layers_per_stage`, or give measured `stages`",
                )
            ]
        if any(item.layer.frozen for item in self.layers) and not all(item.layer.frozen for item in self.layers):
            found.append(
                Assumption(
                    "/model/stages",
                    "in a stage of frozen and trainable layers, frozen activations are held until the end of B",
                    "a stage takes and gives its memory as one; this never claims too little",
                    "give measured `stages`",
                )
            )
        kinds = {_is_combined(item.layer) for item in self.layers if not item.layer.frozen}
        if len(kinds) > 1:
            found.append(
                Assumption(
                    "/model/stages",
                    "a stage with a layer of combined backward has a combined backward",
                    "its W cannot run apart from its B",
                    "give `backward_input_ms` and `backward_weight_ms` for every layer",
                )
            )
        return tuple(found)


def measured_layers(model: LayersModel, layers_per_stage: tuple[int, ...] | None = None) -> MeasuredLayers:
    """Expand repeats; `layers_per_stage` is the cut where one is given.

    Raises
    ------
    TooLargeError
        If there are too many layers to cut.
    """
    total = sum(layer.repeat for layer in model.layers)
    if total > LARGEST_ITEM_COUNT:
        rule = f"at most {LARGEST_ITEM_COUNT} layers, repeats counted, are cut into stages"
        raise TooLargeError([Fault("/model/layers", rule, str(total), str(LARGEST_ITEM_COUNT))])
    pieces = [(entry, repeat, layer) for entry, layer in enumerate(model.layers) for repeat in range(layer.repeat)]
    return MeasuredLayers(
        tuple(Numbered(entry, repeat, number, layer) for number, (entry, repeat, layer) in enumerate(pieces)),
        layers_per_stage,
    )


def work_ms(layer: Layer) -> Decimal:
    """Add up F, B and W of a layer, recomputation included."""
    backward = [layer.backward_input_ms, layer.backward_weight_ms, layer.backward_ms]
    return _sum([layer.forward_ms, layer.recompute_ms, *(part for part in backward if part is not None)])


def merge(items: Sequence[Numbered]) -> Stage:
    """Make one stage of some layers in a row: times and memory add up, the message is that of the last layer."""
    layers = [item.layer for item in items]
    last = layers[-1]
    activation = _sum(layer.activation_mb for layer in layers)
    times: dict[str, Decimal | bool] = {"forward_ms": _sum(layer.forward_ms for layer in layers)}
    retained = activation
    if all(layer.frozen for layer in layers):
        times["frozen"] = True
    elif any(_is_combined(layer) for layer in layers):
        parts = ((layer.backward_ms, layer.backward_input_ms, layer.backward_weight_ms) for layer in layers)
        times["backward_ms"] = _sum(part for three in parts for part in three if part is not None)
    else:
        times["backward_input_ms"] = _sum(layer.backward_input_ms or ZERO for layer in layers)
        weights = [layer.backward_weight_ms for layer in layers if layer.backward_weight_ms is not None]
        if weights:
            times["backward_weight_ms"] = _sum(weights)
            retained = _sum(_retained(layer) for layer in layers)
    return checked(
        Stage,
        {
            **times,
            "recompute_ms": _sum(layer.recompute_ms for layer in layers),
            "activation_mb": activation,
            "retained_mb": retained,
            "backward_extra_mb": _sum(layer.backward_extra_mb for layer in layers),
            "static_mb": _sum(layer.static_mb for layer in layers),
            "boundary_mb": last.boundary_mb,
            "gradient_mb": last.boundary_mb if last.gradient_mb is None else last.gradient_mb,
            "layers": describe(items),
            "weights_mb": _sum_of_given(layer.weights_mb for layer in layers),
            "reduced_mb": _sum_of_given(
                layer.weights_mb if layer.reduced_mb is None else layer.reduced_mb for layer in layers
            ),
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


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _is_combined(layer: Layer) -> bool:
    return layer.backward_ms is not None


def _retained(layer: Layer) -> Decimal:
    if layer.frozen or layer.backward_weight_ms is None:
        return ZERO
    return layer.activation_mb if layer.retained_mb is None else layer.retained_mb


def _sum(values: Iterable[Decimal]) -> Decimal:
    with localcontext(prec=MOST_DIGITS):
        return sum(values, ZERO)


def _sum_of_given(values: Iterable[Decimal | None]) -> Decimal | None:
    """Add what is given; None where nothing is."""
    given = [value for value in values if value is not None]
    return _sum(given) if given else None


def _whole_numbers(works: Sequence[Decimal]) -> list[int]:
    """Scale decimals to integers without loss."""
    fractions = [Fraction(work) for work in works]
    unit = lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * unit) for fraction in fractions]
