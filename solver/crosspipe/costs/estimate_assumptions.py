"""What an estimate rests on, and how to have it otherwise."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.costs.assumption import Assumption
from crosspipe.costs.memory import bytes_per_parameter
from crosspipe.costs.precision import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.costs.architecture import Architecture
    from crosspipe.costs.degrees import Degrees
    from crosspipe.costs.estimate import EstimatedModel

MEASURED = "give measured `layers` or `stages`"

_ADAM = "Adam state shared by the replicas (ZeRO-1, Megatron-Core's distributed optimizer)"

_SHARED = {
    None: _ADAM,
    "zero1": _ADAM,
    "none": "Adam state of its own on every replica",
    "full": "weights and Adam state shared by the replicas; gradients are not, as they sum up over the microbatches",
}

_KEPT = {
    "bf16": "bf16 weights, fp32 gradients",
    "fp16": "fp16 weights, fp32 gradients",
    "fp8": "bf16 weights, fp32 gradients",
    "fp32": "fp32 weights and gradients",
}


def assumptions_of(estimate: EstimatedModel, degrees: Degrees) -> tuple[Assumption, ...]:
    """Tell what an estimate rests on."""
    return tuple(
        Assumption(pointer, value, why, override)
        for pointer, value, why, override in (
            *_model(estimate),
            *_times(estimate, degrees),
            *_activations(estimate, degrees),
            *_static(estimate, degrees),
            *_experts(estimate, degrees),
            *_gradients(estimate),
        )
    )


Told = tuple[str, str, str, str]
"""Pointer, value, reason and override of an assumption."""


def _model(estimate: EstimatedModel) -> Iterator[Told]:
    model = estimate.model
    billions = float(Fraction(model.parameters, 10**9))
    tied = " (tied: both ends hold a copy)" if model.tied else ""
    by_time = "cut so that the slowest stage is as fast as can be"
    cut = by_time if estimate.layers_per_stage is None else "cut as `placement.layers_per_stage` says"
    what = f"{model.name}: {model.layers} layers, {billions:.1f} B parameters{tied}"
    why = f"{model.source}; {cut}, embedding with the first layer and the head as an item of its own"
    yield "/model/stages", what, why, MEASURED
    if model.prediction_layers:
        yield (
            "/model/stages",
            f"{model.prediction_layers} of multi-token prediction, an item of its own before the head",
            "a projection, a transformer layer and a pass through the output projection; its stage holds copies of "
            "embedding and output projection (DeepSeek-V3, arXiv 2412.19437, section 2.2)",
            f"give the config without `num_nextn_predict_layers`; or {MEASURED}",
        )


def _times(estimate: EstimatedModel, degrees: Degrees) -> Iterator[Told]:
    peak, used = estimate.peak, estimate.utilisation
    shares = (used.forward, used.backward_input, used.backward_weight)
    share = str(shares[0]) if len(set(shares)) == 1 else "F {}, B {}, W {}".format(*shares)
    name = "bf16" if estimate.precision == "fp16" else estimate.precision
    published = (
        "model FLOP/s utilisation of published dense runs"
        if used == type(used)()
        else "model FLOP/s utilisation as given"
    )
    if estimate.precision == "fp8":
        published += " in bf16; less of an fp8 peak is usual, 0.2 by the GPU hours of DeepSeek-V3 (arXiv 2412.19437)"
    attention = "" if peak.attention_tflops is None else f", attention and head at {peak.attention_tflops}"
    yield (
        "/model/stages",
        f"{share} of {peak.tflops} TFLOP/s x {degrees.device}{attention}",
        f"{published}; dense {name} peak ({peak.source}); times rounded to 0.001 ms",
        f"`training.utilisation`, or `tflops` on every pool; or {MEASURED}",
    )
    scores = (
        "flash attention, causal half only" if estimate.model.flash else "attention scores stored, no causal saving"
    )
    context = " and context-parallel" if degrees.context > 1 else ""
    yield (
        "/model/stages",
        f"F = matrices + attention, B = matrices + 2 x attention, W = matrices; {scores}",
        "Zero Bubble (arXiv 2401.10241) Table 1; the embedding look-up takes no time, and tensor-parallel"
        f"{context} messages are counted in the utilisation",
        MEASURED,
    )


def _activations(estimate: EstimatedModel, degrees: Degrees) -> Iterator[Told]:
    name = "fp32" if estimate.precision == "fp32" else "fp16" if estimate.precision == "fp16" else "bf16"
    context = " x context" if degrees.context > 1 else ""
    yield (
        "/model/stages",
        f"activations in {name}, sharded by tensor{context} x sequence parallelism; all kept unless recomputed",
        "CrossPipe paper's layer model, Zero Bubble Table 1, Korthikanti et al. (arXiv 2205.05198); "
        "`retained_mb` is what W needs; sizes rounded to 0.1 MB, per GPU",
        f"`training.recompute`; or {MEASURED}",
    )
    value = FORMATS[estimate.precision].value
    yield (
        "/model/stages",
        f"messages of {value} x microbatch x sequence_length x hidden size bytes",
        f"{name}, whole tensor group of one replica",
        MEASURED,
    )


def _static(estimate: EstimatedModel, degrees: Degrees) -> Iterator[Told]:
    replicated, shared = bytes_per_parameter(estimate.sharding, estimate.precision)
    context = f" x context {degrees.context}" if degrees.context > 1 else ""
    sharing = f" + {shared} / data {degrees.data}{context}" if shared else ""
    yield (
        "/model/stages",
        f"static memory of ({replicated}{sharing}) / tensor {degrees.tensor} bytes per parameter",
        f"{_KEPT[estimate.precision]}, {_SHARED[estimate.sharding]}",
        MEASURED,
    )


def _experts(estimate: EstimatedModel, degrees: Degrees) -> Iterator[Told]:
    model: Architecture = estimate.model
    if model.experts is None:
        return
    spread = degrees.expert or degrees.gpus
    yield (
        "/model/stages",
        f"{model.experts.routed} routed experts of a layer over {spread} GPUs, {model.experts.chosen} per token",
        "tokens spread evenly over the experts; their all-to-all messages stay inside a site and are counted in the "
        "utilisation; the optimizer state of an expert is shared by all GPUs that hold a copy of it",
        f"`parallel.expert`; or {MEASURED}",
    )


def _gradients(estimate: EstimatedModel) -> Iterator[Told]:
    if estimate.sharding is None:
        yield (
            "/extra_operations",
            "none: gradient reduction, optimizer step and tied-embedding sums take no time",
            "data-parallel groups stay inside a site",
            "give `gradients`, or list them in `extra_operations`",
        )
        return
    value = FORMATS[estimate.precision].value
    name = {2: "bf16", 4: "fp32"}[value]
    yield (
        "/model/stages",
        f"weights_mb = reduced_mb = {value} bytes per parameter",
        f"weights are gathered and gradients summed in {name}, whole tensor group; the optimizer step takes no time",
        f"`reduced_mb` of the stage; {MEASURED}",
    )
