"""Measured times that nobody measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.faults import pointer
from crosspipe.spec.notice import Notice
from crosspipe.spec.traps.hops import is_uniform, stage_works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Work


def equal_times(spec: Spec) -> Iterator[Notice]:
    """Tell of stages whose F, B and W take the same time."""
    works = stage_works(spec)
    alike = [number for number, work in enumerate(works) if _is_alike(work)]
    if not alike:
        return
    uniform = is_uniform(spec)
    who = "every stage" if uniform or len(alike) == len(works) else f"{len(alike)} of {len(works)} stages"
    yield Notice(
        "equal_times",
        pointer(("model", "stages") if uniform else ("model", "stages", alike[0])),
        f"F = B = W = {works[alike[0]].forward_ms} ms in {who}: measured W is from half to three quarters of B; "
        "profile the three apart, or give the combined `backward_ms`",
    )


def _is_alike(work: Work) -> bool:
    return work.forward_ms == work.backward_input_ms == work.backward_weight_ms
