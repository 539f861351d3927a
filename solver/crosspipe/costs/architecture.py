"""`Architecture`: a decoder by its shape, and the parameters it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.costs.experts import Experts
    from crosspipe.costs.latent import LatentAttention


@dataclass(frozen=True, slots=True)
class Architecture:
    """Shape of a decoder, dense or with experts.

    Attributes
    ----------
    name
        What to call it in messages.
    hidden, layers, heads, kv_heads, head_dim, ffn, vocabulary
        Hidden size, transformer layers, attention heads, key/value heads (grouped-query attention), size of a head,
        width of the MLP, size of the vocabulary.
    tied
        Whether the head uses the embedding's weights. Both ends of a pipeline then hold a copy.
    gated
        Whether the MLP has three matrices (gate, up, down) or two (up, down, with biases and LayerNorm, as in GPT).
    flash
        Whether attention scores are never stored and the masked half of them never computed.
    qkv_bias
        Whether the query, key and value projections of a gated model have biases.
    source
        Where the shape was read.
    qk_norm
        Whether queries and keys have a norm per head, as in Qwen3.
    positions
        Learned positions (GPT-2), held with the embedding.
    latent
        Multi-head latent attention in place of `kv_heads` and `head_dim`.
    experts
        Experts in place of the MLP, from layer `experts.first_dense` on.
    prediction_layers
        Layers of multi-token prediction behind the last one (DeepSeek-V3, arXiv 2412.19437, section 2.2).
    """

    name: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocabulary: int
    tied: bool = False
    gated: bool = True
    flash: bool = True
    qkv_bias: bool = False
    source: str = ""
    qk_norm: bool = False
    positions: int = 0
    latent: LatentAttention | None = None
    experts: Experts | None = None
    prediction_layers: int = 0

    @property
    def query_width(self) -> int:
        """Width of all queries of a token (the hidden size in most models)."""
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Width of all keys of a token, and of all values."""
        return self.kv_heads * self.head_dim

    @property
    def score_width(self) -> int:
        """Width over which attention scores are summed, all heads together."""
        return self.query_width if self.latent is None else self.heads * self.latent.key

    @property
    def value_width(self) -> int:
        """Width of what attention gives, all heads together."""
        return self.query_width if self.latent is None else self.heads * self.latent.value

    def has_experts(self, layer: int) -> bool:
        """Tell whether a layer has experts in place of the MLP."""
        return self.experts is not None and layer >= self.experts.first_dense

    @property
    def attention_matrices(self) -> int:
        """Parameters of attention that multiply activations: `2(1+k)d^2` with heads of the usual size."""
        if self.latent is not None:
            return self.latent.matrices(self.hidden, self.heads)
        return 2 * self.hidden * (self.query_width + self.kv_width)

    @property
    def layer_matmul_parameters(self) -> int:
        """Parameters of one dense layer that multiply activations: `2(1+k)d^2 + 3df` with heads of the usual size."""
        return self.attention_matrices + (3 if self.gated else 2) * self.hidden * self.ffn

    def active_parameters(self, layer: int) -> int:
        """Parameters of a layer that multiply each token's activations."""
        if self.experts is None or not self.has_experts(layer):
            return self.layer_matmul_parameters
        return self.attention_matrices + self.experts.active_matrices(self.hidden)

    def routed_parameters(self, layer: int) -> int:
        """Parameters of a layer's routed experts, which expert parallelism shares out; 0 for a dense layer."""
        if self.experts is None or not self.has_experts(layer):
            return 0
        return self.experts.routed_parameters(self.hidden)

    @property
    def layer_parameters(self) -> int:
        """All parameters of one dense layer: matrices, norms and biases."""
        return self.layer_matmul_parameters + self._norms_and_biases

    def layer_parameters_of(self, layer: int) -> int:
        """All parameters of a layer, routed experts included."""
        if self.experts is None or not self.has_experts(layer):
            return self.layer_parameters
        beside = self.attention_matrices + self.experts.matrices(self.hidden) + self._norms_and_biases
        return beside + self.routed_parameters(layer)

    @property
    def _norms_and_biases(self) -> int:
        """Parameters of a layer outside matrices."""
        projections = self.query_width + 2 * self.kv_width
        if not self.gated:
            return 4 * self.hidden + projections + self.hidden + self.ffn + self.hidden
        narrow = 0 if self.latent is None else self.latent.norms
        per_head = 2 * self.head_dim if self.qk_norm else 0
        return 2 * self.hidden + narrow + per_head + (projections if self.qkv_bias else 0)

    @property
    def embedding_parameters(self) -> int:
        """Parameters of the token embedding, and of learned positions."""
        return (self.vocabulary + self.positions) * self.hidden

    @property
    def head_matrix_parameters(self) -> int:
        """Parameters of the output projection, its own or a copy of the embedding."""
        return self.vocabulary * self.hidden

    @property
    def head_parameters(self) -> int:
        """Parameters of the final norm and the output projection."""
        return self.head_matrix_parameters + self.final_norm_parameters

    @property
    def final_norm_parameters(self) -> int:
        """Parameters of the norm before the head."""
        return (1 if self.gated else 2) * self.hidden

    @property
    def prediction_parameters(self) -> int:
        """Parameters of one layer of multi-token prediction: three norms, the `2d x d` projection and a layer.

        It shares the model's embedding and head, of which it needs copies where another stage holds them.
        """
        return 2 * self.hidden**2 + 3 * self.hidden + self.layer_parameters_of(self.layers)

    @property
    def parameters(self) -> int:
        """All parameters, tied ones counted once; multi-token prediction is left out, as in published totals."""
        shared = self.vocabulary * self.hidden if self.tied else 0
        layers = sum(self.layer_parameters_of(layer) for layer in range(self.layers))
        return layers + self.embedding_parameters + self.head_parameters - shared
