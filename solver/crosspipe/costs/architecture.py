"""`Architecture`: a dense decoder by its shape, and the parameters it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Architecture:
    """Shape of a dense decoder.

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

    @property
    def query_width(self) -> int:
        """Width of all queries of a token (the hidden size in most models)."""
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Width of all keys of a token, and of all values."""
        return self.kv_heads * self.head_dim

    @property
    def layer_matmul_parameters(self) -> int:
        """Parameters of one layer that multiply activations: `2(1+k)d^2 + 3df` with heads of the usual size."""
        attention = 2 * self.hidden * (self.query_width + self.kv_width)
        return attention + (3 if self.gated else 2) * self.hidden * self.ffn

    @property
    def layer_parameters(self) -> int:
        """All parameters of one layer: matrices, norms and biases."""
        if self.gated:
            biases = self.query_width + 2 * self.kv_width if self.qkv_bias else 0
            return self.layer_matmul_parameters + 2 * self.hidden + biases
        biases = self.query_width + 2 * self.kv_width + self.hidden + self.ffn + self.hidden
        return self.layer_matmul_parameters + 4 * self.hidden + biases

    @property
    def embedding_parameters(self) -> int:
        """Parameters of the token embedding."""
        return self.vocabulary * self.hidden

    @property
    def head_parameters(self) -> int:
        """Parameters of the final norm and the output projection, its own or a copy of the embedding."""
        return self.vocabulary * self.hidden + (1 if self.gated else 2) * self.hidden

    @property
    def parameters(self) -> int:
        """All parameters, tied ones counted once."""
        shared = self.embedding_parameters if self.tied else 0
        return self.layers * self.layer_parameters + self.embedding_parameters + self.head_parameters - shared
