"""Floating-point operations of a layer and of the head, for one microbatch and the whole tensor group.

F runs every matrix once and attention once; B (input gradient) runs as many matrix products and twice the attention; W
(weight gradient) runs the matrix products alone, so that W <= F < B. For a GPT layer of hidden size h that is
F = sbh(24h + 4s), B = sbh(24h + 8s), W = 24sbh^2 (Zero Bubble, arXiv 2401.10241, Table 1). With grouped-query
attention of ratio k, a gated MLP of width f and causal attention it is F = 2bs^2d + 4bsd^2(1+k) + 6bsdf (CrossPipe
paper, arXiv 2507.00217, analytic layer model; its B counts attention 2.5 times, because a flash kernel recomputes the
scores). Of a layer of experts a token runs the shared experts and the few it is sent to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.costs.architecture import Architecture


@dataclass(frozen=True, slots=True)
class Shape:
    """One microbatch: `microbatch` sequences of `sequence` tokens, an activation of `value_bytes` bytes."""

    microbatch: int
    sequence: int
    value_bytes: int = 2

    @property
    def tokens(self) -> int:
        """Tokens of one microbatch."""
        return self.microbatch * self.sequence


@dataclass(frozen=True, slots=True)
class Flops:
    """Floating-point operations of F, B and W.

    `attention` is the part of F that is no product with a weight; B does it twice. `head` is the part of F, and as much
    of B and of W, in the output projection. Both are left in bf16 where the layers' matrices run in fp8.
    """

    forward: int
    backward_input: int
    backward_weight: int
    attention: int = 0
    head: int = 0

    @property
    def total(self) -> int:
        """All three together."""
        return self.forward + self.backward_input + self.backward_weight

    def __add__(self, other: Flops) -> Flops:
        """Add part by part."""
        return Flops(
            self.forward + other.forward,
            self.backward_input + other.backward_input,
            self.backward_weight + other.backward_weight,
            self.attention + other.attention,
            self.head + other.head,
        )


NO_FLOPS = Flops(0, 0, 0)
"""Work of the embedding: a look-up and a scatter, memory-bound and small against a layer."""


def layer_flops(model: Architecture, shape: Shape, layer: int = 0) -> Flops:
    """Count the work of one transformer layer."""
    matrices = 2 * model.active_parameters(layer) * shape.tokens
    attention = 2 * shape.tokens * shape.sequence * (model.score_width + model.value_width)
    if model.flash:
        attention //= 2
    return Flops(matrices + attention, matrices + 2 * attention, matrices, attention)


def head_flops(model: Architecture, shape: Shape) -> Flops:
    """Count the work of the output projection: one matrix product each in F, B and W."""
    matrix = 2 * model.vocabulary * model.hidden * shape.tokens
    return Flops(matrix, matrix, matrix, head=matrix)


def product_flops(parameters: int, shape: Shape) -> Flops:
    """Count the work of one matrix of so many parameters."""
    matrix = 2 * parameters * shape.tokens
    return Flops(matrix, matrix, matrix)
