"""`Experts`: the feed-forward part of a mixture-of-experts layer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Experts:
    """Experts of a layer; every expert is a gated MLP.

    Attributes
    ----------
    routed, chosen
        Experts among which a router chooses, and how many each token is sent to. Tokens are taken to spread evenly.
    ffn
        Width of one routed expert.
    shared_ffn
        Width of the experts that every token runs, together; 0 for none.
    shared_gate
        Whether a gate of one row weighs the shared experts, as in Qwen2-MoE.
    first_dense
        Layers before the first one with experts: they have a dense MLP.
    """

    routed: int
    chosen: int
    ffn: int
    shared_ffn: int = 0
    shared_gate: bool = False
    first_dense: int = 0

    def routed_parameters(self, hidden: int) -> int:
        """Parameters of all routed experts of a layer."""
        return 3 * hidden * self.ffn * self.routed

    def matrices(self, hidden: int) -> int:
        """Parameters beside the routed experts: the router and the shared experts."""
        return hidden * self.routed + 3 * hidden * self.shared_ffn + (hidden if self.shared_gate else 0)

    def active_matrices(self, hidden: int) -> int:
        """Parameters that multiply a token: router, shared experts and the chosen ones."""
        return self.matrices(hidden) + 3 * hidden * self.ffn * self.chosen

    def kept_values(self, hidden: int) -> tuple[int, int, int]:
        """Count values per token, the activation term with `k x moe_ffn` in place of `ffn`.

        A token's copy for each chosen expert is an input of its own, as it travelled there. The router's weight is
        applied before the down projection, as in Megatron-Core, so that no expert's output is kept.

        Returns
        -------
        tuple of int
            Kept from F to B: copies of the token, gate, up, activated gate, product. Kept from B to W: copies of the
            token and of the output's gradient, product, gradients of gate and up. Recomputed by the selective policy:
            activated gate and product.
        """
        width, copies = self.chosen * self.ffn + self.shared_ffn, self.chosen * hidden
        return copies + 4 * width, 2 * copies + 3 * width, 2 * width
