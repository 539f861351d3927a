"""Measured layers as a chain of items: those of one group are one item, and some have a place of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from math import lcm
from typing import TYPE_CHECKING

from crosspipe.costs.layer_assumptions import assumptions_of
from crosspipe.costs.layer_sums import Numbered, merge, work_ms
from crosspipe.costs.layer_weights import Bytes, Tied, tied_over
from crosspipe.costs.pins import Pin, pin_of, reach, require_places
from crosspipe.costs.split import LARGEST_ITEM_COUNT, even_split, given_split
from crosspipe.errors import Fault, SpecError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from crosspipe.costs.assumption import Assumption
    from crosspipe.costs.degrees import Degrees
    from crosspipe.spec.gradients import Sharding
    from crosspipe.spec.model import Precision, Recompute
    from crosspipe.spec.stages import LayersModel, Stage

WAYS: tuple[Recompute, ...] = ("selective", "full")
"""Ways of recomputation that a layer may have values for."""


@dataclass(frozen=True, slots=True)
class MeasuredLayers:
    """Layers in order, repeats expanded, and the items they make.

    Attributes
    ----------
    layers
        All layers.
    ends
        The layer that each item ends before; the last one is the number of layers.
    layers_per_stage
        The cut where one is given, in layers.
    rule
        How many bytes a parameter takes.
    """

    layers: tuple[Numbered, ...]
    ends: tuple[int, ...]
    layers_per_stage: tuple[int, ...] | None = None
    rule: Bytes = field(default_factory=Bytes)
    _stages: dict[tuple[int, int, Degrees, Recompute], Stage] = field(default_factory=dict, compare=False, repr=False)

    @property
    def largest_stage_count(self) -> int:
        """One stage per item."""
        return self.item_count

    @property
    def item_count(self) -> int:
        """Pieces that are never cut."""
        return len(self.ends)

    @property
    def longest_run(self) -> int:
        """Most items in one stage."""
        return self.item_count

    def works(self) -> list[int]:
        """Give the time of every item, forward and backward, in a unit in which all are whole."""
        works = _whole_numbers([work_ms(numbered.layer) for numbered in self.layers])
        return [sum(works[first:end]) for first, end in self._spans]

    def pins(self) -> tuple[Pin | None, ...]:
        """Give the place that each item must sit in, None where any will do."""
        return tuple(pin_of([numbered.layer for numbered in self.layers[first:end]]) for first, end in self._spans)

    def recompute_ways(self, first: int, end: int) -> tuple[Recompute, ...]:
        """List what a stage of these items may recompute: a way is open where any of its layers has values for it."""
        layers = [numbered.layer for numbered in self._run(first, end)]
        return ("none", *(way for way in WAYS if any(getattr(layer, way) is not None for layer in layers)))

    def runs(self, factors: Sequence[Fraction], devices: Sequence[str] | None = None) -> tuple[range, ...]:
        """Cut the items into one run per factor, as given or evenly by time on its device.

        Parameters
        ----------
        factors
            Time factor of each stage's device.
        devices
            Name of each stage's device; without, pins are not looked at.

        Raises
        ------
        SpecError
            If a given cut parts a group, or if no cut puts every layer where it is pinned.
        """
        pins = self.pins()
        if devices is None or not any(pins):
            devices, reaches = (), None
        else:
            reaches = [reach(pins, device) for device in devices]
        if self.layers_per_stage is not None:
            runs = given_split(self._counts(self.layers_per_stage))
            require_places(runs, devices, pins)
            return runs
        try:
            return even_split(self.works(), factors, reaches)
        except ValueError as error:
            if reaches is None:
                raise
            rule = f"the pins of layers leave a cut for stages on {', '.join(devices)}, a layer for each, in this order"
            raise SpecError([Fault("/model/layers", rule)]) from error

    def stage(self, first: int, end: int, degrees: Degrees, recompute: Recompute = "none") -> Stage:
        """Add up the stage of items first..end-1."""
        key = (first, end, degrees, recompute)
        if key not in self._stages:
            self._stages[key] = merge(self._run(first, end), degrees, self.rule, recompute)
        return self._stages[key]

    def tied(self, runs: Sequence[tuple[int, int]]) -> Tied | None:
        """Find which of these stages share weights, None if none do."""
        return tied_over([[numbered.layer for numbered in self._run(*run)] for run in runs], self.rule)

    def assumptions(self, degrees: Degrees) -> tuple[Assumption, ...]:  # noqa: ARG002  # as measured
        """Tell how the layers became stages."""
        layers = [numbered.layer for numbered in self.layers]
        return tuple(assumptions_of(layers, self.rule, cut=self.layers_per_stage is None))

    def _run(self, first: int, end: int) -> tuple[Numbered, ...]:
        starts = (0, *self.ends)
        return self.layers[starts[first] : starts[end]]

    @property
    def _spans(self) -> tuple[tuple[int, int], ...]:
        """First layer, and the layer it ends before, of each item."""
        return tuple(pairwise((0, *self.ends)))

    def item_ends(self, ends: Sequence[int]) -> tuple[int, ...] | None:
        """Write the ends of stages, given in layers, in items; None where one lies inside a group."""
        items = {end: number for number, end in enumerate(self.ends, 1)}
        found = [items.get(end) for end in ends]
        known = tuple(end for end in found if end is not None)
        return known if len(known) == len(found) else None

    def _counts(self, layers: Sequence[int]) -> tuple[int, ...]:
        """Count the items of stages given in layers.

        Raises
        ------
        SpecError
            If a stage ends inside a group.
        """
        ends = list(accumulate(layers))
        items = self.item_ends(ends)
        if items is None:
            stage, end = next((stage, end) for stage, end in enumerate(ends) if end not in self.ends)
            rule = f"keeps the layers of group '{self.layers[end].layer.group}' in one stage"
            raise SpecError([Fault(f"/placement/layers_per_stage/{stage}", rule, str(layers[stage]))])
        return tuple(end - first for first, end in pairwise((0, *items)))


def measured_layers(
    model: LayersModel,
    layers_per_stage: tuple[int, ...] | None = None,
    sharding: Sharding | None = None,
    precision: Precision = "bf16",
) -> MeasuredLayers:
    """Expand repeats and find the items; `layers_per_stage` is the cut where one is given.

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
    layers = tuple(Numbered(entry, repeat, number, layer) for number, (entry, repeat, layer) in enumerate(pieces))
    groups = [numbered.layer.group for numbered in layers]
    inside = [left is not None and left == right for left, right in pairwise([*groups, None])]
    ends = tuple(number for number, goes_on in enumerate(inside, 1) if not goes_on)
    return MeasuredLayers(layers, ends, layers_per_stage, Bytes(sharding, precision))


def _whole_numbers(works: Sequence[Decimal]) -> list[int]:
    """Scale decimals to integers without loss."""
    fractions = [Fraction(work) for work in works]
    unit = lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * unit) for fraction in fractions]
