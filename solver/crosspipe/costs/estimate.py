"""Stages of a named model or a configuration: their times and memory estimated."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm
from typing import TYPE_CHECKING

from crosspipe.costs.chain import chain_of, describe, stage_parameters
from crosspipe.costs.checked import checked
from crosspipe.costs.estimate_assumptions import assumptions_of
from crosspipe.costs.memory import boundary_bytes, static_bytes
from crosspipe.costs.precision import FORMATS
from crosspipe.costs.quantize import estimated_mb, estimated_ms
from crosspipe.costs.recompute import flops_again, recompute_ways, stage_held
from crosspipe.costs.split import even_split, given_split
from crosspipe.costs.work import NO_FLOPS
from crosspipe.spec.model import Utilisation
from crosspipe.spec.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from crosspipe.costs.architecture import Architecture
    from crosspipe.costs.assumption import Assumption
    from crosspipe.costs.chain import Item
    from crosspipe.costs.degrees import Degrees
    from crosspipe.costs.peaks import Peak
    from crosspipe.costs.work import Flops, Shape
    from crosspipe.spec.gradients import Sharding
    from crosspipe.spec.model import Precision, Recompute

MODEL_FLOPS_UTILISATION = Utilisation()
"""Share of the dense peak that counts as model work: 0.4 of F, B and W alike.

Published runs: Llama 3 405B 38 to 43 %, torchtitan 8B 33 to 39 %, Megatron-Core up to 47 %, INTELLECT-1 36 to 41 %.
"""


@lru_cache(maxsize=100_000)
def _stage_of(model: EstimatedModel, first: int, end: int, degrees: Degrees, recompute: Recompute) -> Stage:
    return model.estimated(model.items[first:end], degrees, recompute)


@lru_cache(maxsize=100)
def _items_of(model: Architecture, shape: Shape) -> tuple[Item, ...]:
    return chain_of(model, shape)


@dataclass(frozen=True, slots=True)
class EstimatedModel:
    """A model whose times and memory follow from its shape.

    Attributes
    ----------
    model, shape
        The architecture, and one microbatch.
    peak
        Peak of the accelerator whose times are written; those of another get a time factor.
    sharding
        How the copies share out what they hold, None where no `gradients` are given.
    layers_per_stage
        The cut where one is given, the head counted as a layer.
    precision
        Number format of the training; that of `shape` agrees with it.
    utilisation
        Shares of the peak that F, B and W reach.
    split
        Whether B and W are operations of their own, so that W finds what it needs kept.
    recompute
        What the stages of the even cut recompute, as far as they can.
    """

    model: Architecture
    shape: Shape
    peak: Peak
    sharding: Sharding | None = None
    layers_per_stage: tuple[int, ...] | None = None
    precision: Precision = "bf16"
    utilisation: Utilisation = MODEL_FLOPS_UTILISATION
    split: bool = True
    recompute: Recompute = "none"

    @property
    def embedding_mb(self) -> Decimal:
        """Size of the gradients of the embedding that both ends share, whole tensor group."""
        return estimated_mb(FORMATS[self.precision].value * self.model.head_matrix_parameters)

    @property
    def largest_stage_count(self) -> int:
        """One stage per item."""
        return self.item_count

    @property
    def item_count(self) -> int:
        """Pieces that are never cut: the layers, those of multi-token prediction, and the head."""
        return self.model.layers + self.model.prediction_layers + 1

    @property
    def items(self) -> tuple[Item, ...]:
        """The pieces in order."""
        return _items_of(self.model, self.shape)

    def works(self) -> list[int]:
        """Give the time of every item, forward and backward, in the largest unit in which all are whole."""
        times = [self._time(item) for item in self.items]
        unit = lcm(*(time.denominator for time in times))
        whole = [int(time * unit) for time in times]
        common = gcd(*whole)
        return [time // common for time in whole]

    def _time(self, item: Item) -> Fraction:
        """Give the time of an item in FLOPs at the matrices' peak, recomputation included."""
        used = self.utilisation
        forward, backward_input, backward_weight = self._works(item.flops)
        again, _, _ = self._works(flops_again([item], self.recompute, flash=self.model.flash))
        return (
            forward / Fraction(used.forward)
            + (backward_input + again) / Fraction(used.backward_input)
            + backward_weight / Fraction(used.backward_weight)
        )

    @property
    def longest_run(self) -> int:
        """Most items in one stage."""
        return self.item_count

    def recompute_ways(self, first: int, end: int) -> tuple[Recompute, ...]:
        """List what a stage of these items may recompute."""
        return recompute_ways(self.items[first:end])

    def runs(self, factors: Sequence[Fraction]) -> tuple[range, ...]:
        """Cut the items into one run per factor, as given or evenly by time on its device."""
        if self.layers_per_stage is None:
            return even_split(self.works(), factors)
        return given_split(self.layers_per_stage)

    def stage(self, first: int, end: int, degrees: Degrees, recompute: Recompute = "none") -> Stage:
        """Estimate the stage of items first..end-1."""
        return _stage_of(self, first, end, degrees, recompute)

    def estimated(self, items: Sequence[Item], degrees: Degrees, recompute: Recompute) -> Stage:
        """Estimate the stage of some items in a row.

        Compute and activations of a microbatch are shared out over the tensor x context GPUs of a device; parameters
        over the tensor group alone, those of routed experts over `degrees.expert` GPUs.
        """
        gpus, used = degrees.gpus, self.utilisation
        flops = sum((item.flops for item in items), NO_FLOPS)
        held = stage_held(items, recompute, split=self.split)
        boundary = estimated_mb(boundary_bytes(self.model, self.shape))
        again = flops_again(items, recompute, flash=self.model.flash)
        forward, backward_input, backward_weight = self._works(flops)
        values = {
            "forward_ms": self._ms(forward, used.forward, gpus),
            "backward_input_ms": self._ms(backward_input, used.backward_input, gpus),
            "backward_weight_ms": self._ms(backward_weight, used.backward_weight, gpus),
            "activation_mb": estimated_mb(Fraction(held.activation, gpus)),
            "retained_mb": estimated_mb(Fraction(held.retained, gpus)),
            "static_mb": estimated_mb(self.static(items, degrees)),
            "boundary_mb": boundary,
            "gradient_mb": boundary,
            "layers": describe(items),
        }
        if again.forward:
            whole = flops_again(items, "full", flash=self.model.flash)
            # A part of the forward takes no longer than all of it, however little of that is matrix products.
            ways = [self._ms(self._works(part)[0], used.backward_input, gpus) for part in (again, whole)]
            values["recompute_ms"] = min(ways)
        if held.extra:
            values["backward_extra_mb"] = estimated_mb(Fraction(held.extra, gpus))
        if self.sharding is not None:
            dense, routed = self._parameters(items)
            mine = min(Fraction(1), Fraction(gpus, degrees.expert or gpus))
            sent = FORMATS[self.precision].value * (dense + routed * mine)
            values["weights_mb"] = values["reduced_mb"] = estimated_mb(sent)
        return checked(Stage, values, "/model")

    def static(self, items: Sequence[Item], degrees: Degrees) -> Fraction:
        """Bytes of weights, gradients and optimizer state per GPU.

        `(6 + 12/(data x context)) / tensor` per parameter in bf16, `6/expert + 12/(tensor x context x data)` per
        parameter of routed experts (Megatron-Core: the optimizer is shared by all GPUs that hold a copy).
        """
        dense, routed = self._parameters(items)
        replicas = degrees.data * degrees.context
        spread = degrees.expert or degrees.gpus
        experts = static_bytes(routed, 1, self.sharding, self.precision)
        if routed:
            copies = Fraction(degrees.gpus * degrees.data, spread)
            experts = static_bytes(routed, copies, self.sharding, self.precision)
        return static_bytes(dense, replicas, self.sharding, self.precision) / degrees.tensor + experts / spread

    def assumptions(self, degrees: Degrees) -> tuple[Assumption, ...]:
        """Tell what the estimate rests on."""
        return assumptions_of(self, degrees)

    def _parameters(self, items: Sequence[Item]) -> tuple[int, int]:
        """Count the parameters outside and inside routed experts."""
        routed = sum(item.routed for item in items)
        return stage_parameters(self.model, items) - routed, routed

    def _works(self, flops: Flops) -> tuple[Fraction, Fraction, Fraction]:
        """Give the work of F, B and W, what runs below the matrices' peak counted as so much more."""
        peak = self.peak
        slower = Fraction(0)
        if peak.attention_tflops is not None:
            slower = Fraction(peak.tflops) / Fraction(peak.attention_tflops) - 1
        return (
            flops.forward + slower * (flops.attention + flops.head),
            flops.backward_input + slower * (2 * flops.attention + flops.head),
            flops.backward_weight + slower * flops.head,
        )

    def _ms(self, work: Fraction, share: Decimal, gpus: int) -> Decimal:
        return estimated_ms(work / (Fraction(self.peak.tflops) * 10**9 * gpus * Fraction(share)))
