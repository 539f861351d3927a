"""Stages of a named model or a configuration: cut evenly by time, their numbers estimated."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from crosspipe.costs.assumption import Assumption
from crosspipe.costs.chain import chain_of, describe
from crosspipe.costs.checked import checked
from crosspipe.costs.memory import WEIGHT_BYTES, boundary_bytes, static_bytes
from crosspipe.costs.quantize import estimated_mb, estimated_ms
from crosspipe.costs.split import even_split, given_split
from crosspipe.spec.stages import Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.costs.architecture import Architecture
    from crosspipe.costs.chain import Item
    from crosspipe.costs.degrees import Degrees
    from crosspipe.costs.pools import Peak
    from crosspipe.costs.work import Shape
    from crosspipe.spec.gradients import Sharding
    from crosspipe.spec.model import Recompute

MODEL_FLOPS_UTILISATION = Decimal("0.40")
"""Share of the dense peak that counts as model work.

Published runs: Llama 3 405B 38 to 43 %, torchtitan 8B 33 to 39 %, Megatron-Core up to 47 %, INTELLECT-1 36 to 41 %.
"""

_STATIC = {None: "6 + 12 / data {}", "zero1": "6 + 12 / data {}", "none": "18", "full": "4 + 14 / data {}"}

_SHARED = {
    None: "Adam state shared by the replicas (ZeRO-1, Megatron-Core's distributed optimizer)",
    "zero1": "Adam state shared by the replicas (ZeRO-1, Megatron-Core's distributed optimizer)",
    "none": "Adam state of its own on every replica",
    "full": "weights and Adam state shared by the replicas; gradients are not, as they sum up over the microbatches",
}


@lru_cache(maxsize=100_000)
def _stage_of(model: EstimatedModel, first: int, end: int, degrees: Degrees, recompute: Recompute) -> Stage:
    return model.estimated(model.items[first:end], degrees, recompute)


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
    """

    model: Architecture
    shape: Shape
    peak: Peak
    sharding: Sharding | None = None
    layers_per_stage: tuple[int, ...] | None = None

    @property
    def embedding_mb(self) -> Decimal:
        """Size of the embedding's gradients, whole tensor group."""
        return estimated_mb(WEIGHT_BYTES * self.model.embedding_parameters)

    @property
    def largest_stage_count(self) -> int:
        """One stage per layer and one for the head."""
        return self.model.layers + 1

    @property
    def item_count(self) -> int:
        """Pieces that are never cut: the layers and the head."""
        return self.model.layers + 1

    @property
    def items(self) -> tuple[Item, ...]:
        """The pieces in order."""
        return chain_of(self.model, self.shape)

    def works(self) -> list[int]:
        """Give the FLOPs of every item, forward and backward."""
        return [item.flops.total for item in self.items]

    def recompute_ways(self, first: int, end: int) -> tuple[Recompute, ...]:  # noqa: ARG002  # alike for all runs
        """List what a stage of these items may recompute."""
        return ("none",)

    def runs(self, factors: Sequence[Fraction]) -> tuple[range, ...]:
        """Cut the items into one run per factor, as given or evenly by time on its device."""
        if self.layers_per_stage is None:
            return even_split(self.works(), factors)
        return given_split(self.layers_per_stage)

    def stage(self, first: int, end: int, degrees: Degrees, recompute: Recompute = "none") -> Stage:
        """Estimate the stage of items first..end-1."""
        return _stage_of(self, first, end, degrees, recompute)

    def estimated(self, items: Sequence[Item], degrees: Degrees, recompute: Recompute) -> Stage:  # noqa: ARG002
        """Estimate the stage of some items in a row."""
        flops_per_ms = Fraction(self.peak.tflops) * 10**9 * degrees.tensor * Fraction(MODEL_FLOPS_UTILISATION)
        boundary = estimated_mb(boundary_bytes(self.model, self.shape))
        parameters = sum(item.parameters for item in items)
        values = {
            "forward_ms": estimated_ms(sum(item.flops.forward for item in items) / flops_per_ms),
            "backward_input_ms": estimated_ms(sum(item.flops.backward_input for item in items) / flops_per_ms),
            "backward_weight_ms": estimated_ms(sum(item.flops.backward_weight for item in items) / flops_per_ms),
            "activation_mb": estimated_mb(Fraction(sum(item.held.activation for item in items), degrees.tensor)),
            "retained_mb": estimated_mb(Fraction(sum(item.held.retained for item in items), degrees.tensor)),
            "static_mb": estimated_mb(static_bytes(parameters, degrees.data, self.sharding) / degrees.tensor),
            "boundary_mb": boundary,
            "gradient_mb": boundary,
            "layers": describe(items),
        }
        if self.sharding is not None:
            values["weights_mb"] = values["reduced_mb"] = estimated_mb(WEIGHT_BYTES * parameters)
        return checked(Stage, values, "/model")

    def assumptions(self, degrees: Degrees) -> tuple[Assumption, ...]:
        """Tell what the estimate rests on."""
        model, peak = self.model, self.peak
        billions = Fraction(model.parameters, 10**9)
        attention = "flash attention, causal half only" if model.flash else "attention scores stored, no causal saving"
        tied = " (tied: both ends hold a copy)" if model.tied else ""
        measured = "give measured `layers` or `stages`"
        by_time = "cut so that the slowest stage is as fast as can be"
        cut = by_time if self.layers_per_stage is None else "cut as `placement.layers_per_stage` says"
        found = [
            Assumption(
                "/model/stages",
                f"{model.name}: {model.layers} layers, {float(billions):.1f} B parameters{tied}",
                f"{model.source}; {cut}, embedding with the first layer and the head as an item of its own",
                measured,
            ),
            Assumption(
                "/model/stages",
                f"{MODEL_FLOPS_UTILISATION} of {peak.tflops} TFLOP/s x tensor {degrees.tensor}",
                f"model FLOP/s utilisation of published dense runs; dense bf16 peak ({peak.source}); "
                "times rounded to 0.001 ms",
                f"`tflops`, or a `time_factor` of {MODEL_FLOPS_UTILISATION} / yours, on every pool; or {measured}",
            ),
            Assumption(
                "/model/stages",
                f"F = matrices + attention, B = matrices + 2 x attention, W = matrices; {attention}",
                "Zero Bubble (arXiv 2401.10241) Table 1; the embedding look-up takes no time, and tensor-parallel "
                "messages are counted in the utilisation",
                measured,
            ),
            Assumption(
                "/model/stages",
                "activations in bf16 without recomputation, sharded by tensor x sequence parallelism",
                "CrossPipe paper's layer model, Zero Bubble Table 1, Korthikanti et al. (arXiv 2205.05198); "
                "`retained_mb` is what W needs; sizes rounded to 0.1 MB, per GPU",
                measured,
            ),
            Assumption(
                "/model/stages",
                f"static memory of ({_STATIC[self.sharding].format(degrees.data)}) / tensor {degrees.tensor} bytes per "
                "parameter",
                f"bf16 weights, fp32 gradients, {_SHARED[self.sharding]}",
                measured,
            ),
            Assumption(
                "/model/stages",
                "messages of 2 x microbatch x sequence_length x hidden size bytes",
                "bf16, whole tensor group of one replica",
                measured,
            ),
        ]
        if self.sharding is None:
            found.append(
                Assumption(
                    "/extra_operations",
                    "none: gradient reduction, optimizer step and tied-embedding sums take no time",
                    "data-parallel groups stay inside a site",
                    "give `gradients`, or list them in `extra_operations`",
                )
            )
        else:
            found.append(
                Assumption(
                    "/model/stages",
                    "weights_mb = reduced_mb = 2 bytes per parameter",
                    "weights are gathered and gradients summed in bf16, whole tensor group; the optimizer step takes "
                    "no time",
                    f"`reduced_mb` of the stage; {measured}",
                )
            )
        return tuple(found)
