"""Bytes that a layer and the head hold for one microbatch, and that parameters hold all the time, before tensor split.

All activations are in bf16 and without recomputation. What W needs is the input of every matrix and the gradient of its
output; B needs the rest. For a GPT layer that gives 34sbh at F and 32sbh until W, plus 5abs^2 for the stored scores of
a heads where attention is not a flash kernel (Korthikanti et al., arXiv 2205.05198; Zero Bubble, Table 1). For a
gated layer with grouped-query ratio k it gives 12bsd + 4k bsd + 8bsf at F and 12bsd + 4k bsd + 6bsf until W (CrossPipe
paper, analytic layer model).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.costs.architecture import Architecture
    from crosspipe.costs.work import Shape
    from crosspipe.spec.gradients import Sharding

BYTES_REPLICATED = 6
"""Per parameter on every replica: bf16 weight (2) and fp32 gradient (4), which sums up over the microbatches."""

BYTES_SHARDED = 12
"""Per parameter, shared out among the replicas: fp32 master weight and two Adam moments (ZeRO-1)."""


@dataclass(frozen=True, slots=True)
class Held:
    """Activation bytes taken at F, and the part of them kept from the end of B to the end of W."""

    activation: int
    retained: int

    def __add__(self, other: Held) -> Held:
        """Add part by part."""
        return Held(self.activation + other.activation, self.retained + other.retained)


NOTHING_HELD = Held(0, 0)
"""The embedding keeps token numbers only."""


def layer_held(model: Architecture, shape: Shape) -> Held:
    """Count the activations of one transformer layer."""
    d, a, kv, f = model.hidden, model.query_width, model.kv_width, model.ffn
    dropout_masks = 0 if model.gated else 2 * d
    activation = shape.tokens * (8 * d + 4 * a + 4 * kv + (8 if model.gated else 4) * f + dropout_masks)
    retained = shape.tokens * (8 * d + 4 * a + 4 * kv + (6 if model.gated else 4) * f)
    scores = 0 if model.flash else 5 * model.heads * shape.tokens * shape.sequence
    return Held(activation + scores, retained)


def head_held(model: Architecture, shape: Shape) -> Held:
    """Count the activations of the final norm, the output projection and the loss.

    `4bsd + 4bsV` at F (inputs of norm and projection, fp32 logits; Korthikanti et al., section 4.3); W needs the input
    and the bf16 gradient of the logits, `2bsd + 2bsV`.
    """
    activation = 4 * shape.tokens * (model.hidden + model.vocabulary)
    return Held(activation, activation // 2)


WEIGHT_BYTES = 2
"""Per parameter, of the weights that are gathered and of the gradients that are summed: bf16."""


def static_bytes(parameters: int, data: int, sharding: Sharding | None = None) -> Fraction:
    """Bytes of weights, gradients and optimizer state of `parameters` on one of `data` replicas: `6N + 12N/data`.

    With `none` nothing is shared out, `18N`; with `full` the weights are too, `4N + 14N/data`.

    The figure of Megatron-Core's distributed optimizer with bf16 weights and fp32 gradients. The CrossPipe paper counts
    `2N + 16N/data`: the same for one replica, less for several, since it shards gradients too; a pipeline cannot, as
    they sum up over the microbatches of a step.
    """
    replicated, shared = BYTES_REPLICATED, BYTES_SHARDED
    if sharding == "none":
        replicated, shared = replicated + shared, 0
    elif sharding == "full":
        replicated, shared = replicated - WEIGHT_BYTES, shared + WEIGHT_BYTES
    return parameters * (replicated + Fraction(shared, data))


def boundary_bytes(model: Architecture, shape: Shape) -> int:
    """Bytes of the message between two stages, for the whole tensor group of one replica: `2bsd`."""
    return 2 * shape.tokens * model.hidden
