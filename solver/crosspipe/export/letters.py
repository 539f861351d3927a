"""The one table of letters: what CrossPipe (and Zero Bubble) and torch call the same work."""

from __future__ import annotations

from types import MappingProxyType

from crosspipe.problem.operations import Kind

TORCH_LETTERS = MappingProxyType({Kind.F: "F", Kind.B: "I", Kind.W: "W", Kind.BW: "B"})
"""Torch's letter for each kind of compute: torch's `B` is the full backward, its `I` the input-gradient half."""

MEANING = MappingProxyType(
    {
        "F": "forward",
        "I": "backward for the input gradient (CrossPipe and Zero Bubble: B)",
        "W": "backward for the weight gradient (CrossPipe and Zero Bubble: W)",
        "B": "full backward (CrossPipe and Zero Bubble: BW)",
    }
)
"""What each of torch's letters means, in words."""
