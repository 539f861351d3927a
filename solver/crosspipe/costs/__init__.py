"""Catalogue names, architectures and measured layers as times and memory of stages on devices."""

from __future__ import annotations

from crosspipe.costs.assumption import Assumption
from crosspipe.costs.expand import Expansion, expand
from crosspipe.costs.text import expanded_text

__all__ = ["Assumption", "Expansion", "expand", "expanded_text"]
