"""`LatentAttention`: multi-head latent attention, whose keys and values come from one narrow vector per token.

DeepSeek-V2, arXiv 2405.04434, section 2.1: queries may come from a narrow vector of their own; each key is a part
without position, unfolded from the narrow vector, beside a rotated part that all heads share.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Widths of multi-head latent attention.

    Attributes
    ----------
    query_rank
        Width of the narrow vector of the queries, None where queries are one product with the input.
    kv_rank
        Width of the narrow vector of keys and values.
    nope, rope, value
        Width of a head's key without position, of its rotated part, and of its value.
    """

    query_rank: int | None
    kv_rank: int
    nope: int
    rope: int
    value: int

    @property
    def key(self) -> int:
        """Width of a head's whole key, and of its query."""
        return self.nope + self.rope

    def matrices(self, hidden: int, heads: int) -> int:
        """Count the parameters that multiply activations: down and up for queries, down and up for the rest, output."""
        wide = heads * self.key
        queries = hidden * wide if self.query_rank is None else self.query_rank * (hidden + wide)
        narrow = hidden * (self.kv_rank + self.rope)
        return queries + narrow + self.kv_rank * heads * (self.nope + self.value) + heads * self.value * hidden

    @property
    def norms(self) -> int:
        """Parameters of the norms of the narrow vectors."""
        return (self.query_rank or 0) + self.kv_rank

    def kept_values(self, heads: int) -> tuple[int, int, int]:
        """Count values per token between the layer's input norm and its output projection.

        Returns
        -------
        tuple of int
            Kept from F to B: the narrow vectors before and after their norms, queries, keys, values, output of
            attention. Kept from B to W: inputs of the matrices and gradients of their outputs. Recomputed by the
            selective policy: the normed narrow vectors.
        """
        narrow = 2 * (self.query_rank or 0) + 2 * self.kv_rank + self.rope
        activation = narrow + heads * (2 * self.key + 2 * self.value)
        retained = narrow + heads * (self.key + self.nope + 2 * self.value)
        return activation, retained, (self.query_rank or 0) + self.kv_rank
