"""Bytes that a layer and the head hold for one microbatch, and that parameters hold all the time, before tensor split.

Formulas are for bf16; fp32 doubles all but masks and logits. What W needs is the input of every matrix and the gradient
of its output; B needs the rest. For a GPT layer that gives 34sbh at F and 32sbh until W, plus 5abs^2 for the stored
scores of a heads where attention is not a flash kernel (Korthikanti et al., arXiv 2205.05198; Zero Bubble, Table 1).
For a gated layer with grouped-query ratio k it gives 12bsd + 4k bsd + 8bsf at F and 12bsd + 4k bsd + 6bsf until W
(CrossPipe paper, analytic layer model).

Under the selective policy outputs of norms and activation functions, dropout masks and stored scores are computed
again: 20sbh at F for a GPT layer (sail-sg/zero-bubble-pipeline-parallelism, issue 67), 8bsd + 4k bsd + 4bsf for a gated
one. Under the full policy only the layer's input is kept, 2bsd (Korthikanti et al., section 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.costs.precision import FORMATS

if TYPE_CHECKING:
    from crosspipe.costs.architecture import Architecture
    from crosspipe.costs.work import Shape
    from crosspipe.spec.gradients import Sharding
    from crosspipe.spec.model import Precision


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes of one microbatch.

    Attributes
    ----------
    activation
        Taken at F and kept until B where nothing is recomputed.
    retained
        Kept from the end of B to the end of W.
    selective, full
        Kept from F to B under these policies of recomputation.
    """

    activation: int
    retained: int
    selective: int
    full: int

    def __add__(self, other: Held) -> Held:
        """Add part by part."""
        return Held(
            self.activation + other.activation,
            self.retained + other.retained,
            self.selective + other.selective,
            self.full + other.full,
        )


NOTHING_HELD = Held(0, 0, 0, 0)
"""The embedding keeps token numbers only."""


def layer_held(model: Architecture, shape: Shape, layer: int = 0) -> Held:
    """Count the activations of one transformer layer."""
    d, value = model.hidden, shape.value_bytes
    attention = _attention_values(model)
    feed = _feed_values(model, layer)
    activation = value * (4 * d + attention[0] + feed[0])
    masks = 0 if model.gated else 2 * d
    scores = 0 if model.flash else (2 * value + 1) * model.heads * shape.sequence
    again = value * (2 * d + attention[2] + feed[2])
    return Held(
        activation=shape.tokens * (activation + masks + scores),
        retained=shape.tokens * value * (4 * d + attention[1] + feed[1]),
        selective=shape.tokens * (activation - again),
        full=shape.tokens * value * d,
    )


def _attention_values(model: Architecture) -> tuple[int, int, int]:
    """Values per token of attention kept from F to B, from B to W, and recomputed by the selective policy."""
    if model.latent is not None:
        return model.latent.kept_values(model.heads)
    projected = 2 * (model.query_width + model.kv_width)
    return projected, projected, 0


def _feed_values(model: Architecture, layer: int) -> tuple[int, int, int]:
    """Count the same of the MLP or the experts."""
    if model.experts is not None and model.has_experts(layer):
        return model.experts.kept_values(model.hidden)
    return (4 * model.ffn, 3 * model.ffn, 2 * model.ffn) if model.gated else (2 * model.ffn, 2 * model.ffn, model.ffn)


def head_held(model: Architecture, shape: Shape) -> Held:
    """Count the activations of the final norm, the output projection and the loss; no policy recomputes them.

    `4bsd + 4bsV` at F (inputs of norm and projection, fp32 logits; Korthikanti et al., section 4.3); W needs the input
    and the bf16 gradient of the logits, `2bsd + 2bsV`.
    """
    activation = shape.tokens * (2 * shape.value_bytes * model.hidden + 4 * model.vocabulary)
    retained = shape.tokens * shape.value_bytes * (model.hidden + model.vocabulary)
    return Held(activation, retained, activation, activation)


def static_bytes(
    parameters: int, data: int | Fraction, sharding: Sharding | None = None, precision: Precision = "bf16"
) -> Fraction:
    """Bytes of weights, gradients and optimizer state of `parameters` on one of `data` replicas: `6N + 12N/data`.

    With `none` nothing is shared out, `18N`; with `full` the weights are too, `4N + 14N/data`. In fp32 it is
    `8N + 8N/data`: the weights need no master.

    The figure of Megatron-Core's distributed optimizer with bf16 weights and fp32 gradients. The CrossPipe paper counts
    `2N + 16N/data`: the same for one replica, less for several, since it shards gradients too; a pipeline cannot, as
    they sum up over the microbatches of a step.
    """
    replicated, shared = bytes_per_parameter(sharding, precision)
    return parameters * (replicated + Fraction(shared) / data)


def bytes_per_parameter(sharding: Sharding | None, precision: Precision) -> tuple[int, int]:
    """Bytes per parameter that every replica holds, and those that the replicas share out."""
    kept = FORMATS[precision]
    weight, gradient, optimizer = kept.weight, kept.gradient, kept.optimizer
    if sharding == "none":
        return weight + gradient + optimizer, 0
    if sharding == "full":
        return gradient, weight + optimizer
    return weight + gradient, optimizer


def boundary_bytes(model: Architecture, shape: Shape) -> int:
    """Bytes of the message between two stages, for the whole tensor group of one replica: `2bsd` in bf16."""
    return shape.value_bytes * shape.tokens * model.hidden
