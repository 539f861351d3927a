"""Rules of the model as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.faults import Path, fault
from crosspipe.spec.stages import HuggingFaceModel, LayersModel, StagesModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.errors import Fault
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Work

_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")


def frozen_comes_first(spec: Spec) -> Iterator[Fault]:
    """Refuse frozen work behind what trains: no gradient passes it."""
    works: Sequence[Work] = ()
    word = "stage"
    if isinstance(spec.model, StagesModel) and isinstance(spec.model.stages, list):
        works = spec.model.stages
    elif isinstance(spec.model, LayersModel):
        word, works = "layer", spec.model.layers
    first = next((number for number, work in enumerate(works) if not work.frozen), len(works))
    behind = next((number for number in range(first, len(works)) if works[number].frozen), None)
    if behind is not None:
        rule = f"must not be true behind {word} {first}, which has a backward: no gradient passes a frozen {word}"
        yield fault(("model", f"{word}s", behind, "frozen"), rule, True, "backward_input_ms alone (B without W)")


def devices_for_all_stages_or_none(spec: Spec) -> Iterator[Fault]:
    """Refuse stages without a device among stages with one: they would have no place."""
    if not isinstance(spec.model, StagesModel) or not isinstance(spec.model.stages, list):
        return
    stages = spec.model.stages
    if all(stage.device is None for stage in stages):
        return
    for number, stage in enumerate(stages):
        if stage.device is None:
            yield fault(("model", "stages", number, "device"), "must be given for all stages or for none")


def experts_are_chosen(model: HuggingFaceModel, path: Path) -> Iterator[Fault]:
    """Require the experts that each token is sent to where there are several, and no more than there are."""
    for name in _EXPERTS:
        experts, chosen = getattr(model, name), model.num_experts_per_tok
        if experts is None or experts <= 1:
            continue
        if chosen is None:
            rule = f"must be given beside `{name}`: the experts that each token is sent to"
            yield fault((*path, "num_experts_per_tok"), rule)
        elif chosen > experts:
            yield fault((*path, "num_experts_per_tok"), f"must be at most {name} = {experts}", chosen, experts)
