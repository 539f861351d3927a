"""`estimate`: what the layers and stages of a model cost, without any schedule."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from pydantic import Field

from crosspipe.answer.base import AnswerModel
from crosspipe.answer.restore import SpecSource, parsed_spec
from crosspipe.costs.chain import stage_parameters
from crosspipe.costs.estimate import EstimatedModel
from crosspipe.costs.expand import prepare
from crosspipe.costs.layers import MeasuredLayers
from crosspipe.costs.stages import MeasuredStages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.costs.preparation import Preparation
    from crosspipe.spec.stages import Stage


class Costs(AnswerModel):
    """Times, memory and messages for one microbatch; times are those on a device of time factor 1."""

    layers: str | None = Field(description="What it is made of; null where measured stages do not say")
    parameters: int | None = Field(description="Parameters it holds; null where they are not known")
    forward_ms: float = Field(description="Time of F")
    backward_input_ms: float | None = Field(description="Time of B; null where the backward is combined or absent")
    backward_weight_ms: float | None = Field(description="Time of W; null where the backward is combined or absent")
    backward_ms: float | None = Field(description="Time of BW; null where the backward is split or absent")
    recompute_ms: float = Field(description="Time that recomputation adds to the backward")
    activation_mb: float = Field(description="Memory taken at the start of F")
    retained_mb: float = Field(description="The part of it kept from the end of B to the end of W")
    backward_extra_mb: float = Field(description="Memory from the start of the backward to the end of W")
    static_mb: float = Field(description="Memory held all the time: weights, gradients, optimizer state")
    boundary_mb: float = Field(description="Message to what follows")


class ItemCosts(Costs):
    """A piece of the model that is never cut, or some alike in a row; the numbers are those of one."""

    count: int = Field(description="Pieces alike in a row")
    kind: str = Field(description="What it is: a layer, the head, ...; of measured layers their name")


class StageCosts(Costs):
    """A stage of the cut."""

    number: int = Field(description="Place in the pipeline, from 0")
    device: str | None = Field(description="Its device; null where the traversal decides")
    time_factor: float = Field(description="Multiplies its times on that device")


class Assumed(AnswerModel):
    """Something that was assumed because the spec leaves it open."""

    pointer: str = Field(description="Field of the expanded spec that it fills or shapes")
    value: str = Field(description="What was assumed")
    why: str = Field(description="The rule, formula or source")
    override: str = Field(description="What to write to have it otherwise")


class Estimate(AnswerModel):
    """Costs of a model: of every kind of item, of every stage, and what they rest on."""

    items: list[ItemCosts] = Field(description="The pieces of the model in order; empty where stages were measured")
    stages: list[StageCosts] = Field(description="The stages of the cut as the spec says, or of the even cut")
    assumptions: list[Assumed] = Field(description="Everything that was assumed on the way")


def estimate(spec: SpecSource) -> Estimate:
    """Say what the layers and stages of a model cost, and what that rests on; nothing is scheduled.

    Parameters
    ----------
    spec
        The cluster spec.

    Raises
    ------
    SpecError
        As `crosspipe.costs.expand.expand`.
    """
    ready = prepare(parsed_spec(spec))
    expansion = ready.expand()
    return Estimate(
        items=list(_items(ready)),
        stages=list(_stages(ready)),
        assumptions=[
            Assumed(pointer=one.pointer, value=one.value, why=one.why, override=one.override)
            for one in expansion.assumptions
        ],
    )


def _items(ready: Preparation) -> Iterator[ItemCosts]:
    """Group the items that cost the same in a row."""
    source = ready.source
    if isinstance(source, MeasuredStages):
        return
    single = [source.stage(number, number + 1, ready.degrees) for number in range(source.item_count)]
    kinds = [_kind(ready, number) for number in range(source.item_count)]
    alike = groupby(range(len(single)), lambda n: (kinds[n], single[n].model_copy(update={"layers": None})))
    for (kind, stage), numbers in alike:
        run = list(numbers)
        words = source.stage(run[0], run[-1] + 1, ready.degrees).layers
        costs = _costs(stage, words, _parameters(ready, run[0], run[0] + 1))
        yield ItemCosts.model_validate({"count": len(run), "kind": kind} | costs)


def _kind(ready: Preparation, number: int) -> str:
    source = ready.source
    if isinstance(source, EstimatedModel):
        return source.items[number].kind
    return source.layers[number].layer.name or "layer" if isinstance(source, MeasuredLayers) else "stage"


def _stages(ready: Preparation) -> Iterator[StageCosts]:
    cut = ready.even()
    for number, (stage, (first, end)) in enumerate(zip(ready.stages(cut), cut.runs, strict=True)):
        name, pool = ready.devices[cut.devices[number]] if cut.devices else (stage.device, None)
        factor = 1.0 if pool is None else float(pool.time_factor)
        costs = _costs(stage, stage.layers, _parameters(ready, first, end))
        yield StageCosts.model_validate({"number": number, "device": name, "time_factor": factor} | costs)


def _parameters(ready: Preparation, first: int, end: int) -> int | None:
    source = ready.source
    return stage_parameters(source.model, source.items[first:end]) if isinstance(source, EstimatedModel) else None


def _costs(stage: Stage, words: str | None, parameters: int | None) -> dict[str, object]:
    retained = stage.activation_mb if stage.retained_mb is None else stage.retained_mb
    return {
        "layers": words,
        "parameters": parameters,
        "retained_mb": retained,
        **{
            name: getattr(stage, name)
            for name in (
                "forward_ms",
                "backward_input_ms",
                "backward_weight_ms",
                "backward_ms",
                "recompute_ms",
                "activation_mb",
                "backward_extra_mb",
                "static_mb",
                "boundary_mb",
            )
        },
    }
