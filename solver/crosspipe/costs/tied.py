"""Weights that stages of measured layers share, as the tied stages of `gradients`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.costs.assumption import Assumption

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.costs.layer_weights import Tied


def tied_fields(tied: Tied) -> tuple[dict[str, object], list[Assumption]]:
    """Fill in `tied` and `tied_mb` of the gradients."""
    why = "their layers have one `tied` name: each stage holds a copy, and their gradients are summed once per step"
    if tied.joined:
        why += "; groups of unlike size are summed at the largest, those with stages in common as one"
    chosen: dict[str, object] = {"tied": [list(group) for group in tied.groups], "tied_mb": tied.size_mb}
    value = f"{_stages(tied)}: {tied.size_mb} MB"
    return chosen, [Assumption("/gradients/tied", value, why, "gradients.tied, or `tied` of the layers")]


def tied_untimed(tied: Tied | None) -> Iterator[Assumption]:
    """Tell that sums of tied weights take no time where no `gradients` are given."""
    if tied is not None:
        value = f"none: {_stages(tied)} sum the gradients of their tied weights in no time"
        yield Assumption("/extra_operations", value, "no `gradients` are given", "gradients")


def _stages(tied: Tied) -> str:
    return "; ".join(f"stages {', '.join(map(str, group))}" for group in tied.groups)
