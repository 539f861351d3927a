"""Where stages come from: an estimate, measured layers or measured stages; and what each asks of the pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.costs.catalogue import model_named
from crosspipe.costs.degrees import Request
from crosspipe.costs.estimate import MODEL_FLOPS_UTILISATION, EstimatedModel
from crosspipe.costs.hugging_face import architecture_of
from crosspipe.costs.layers import MeasuredLayers, measured_layers
from crosspipe.costs.places import stage_count
from crosspipe.costs.precision import FORMATS
from crosspipe.costs.split import LARGEST_ITEM_COUNT
from crosspipe.costs.stages import MeasuredStages, measured_stages
from crosspipe.costs.work import Shape
from crosspipe.errors import Fault, SpecError, TooLargeError
from crosspipe.spec.places import sites_of_copies
from crosspipe.spec.stages import HuggingFaceModel, LayersModel, StagesModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.costs.architecture import Architecture
    from crosspipe.costs.pools import PlacedPool
    from crosspipe.spec.model import Placement, Spec

Source = EstimatedModel | MeasuredLayers | MeasuredStages


def architecture_in(spec: Spec) -> Architecture | None:
    """Find the architecture that a spec names or describes, None where its numbers are measured.

    Raises
    ------
    SpecError
        If the name is unknown or the configuration is none that is estimated.
    """
    if isinstance(spec.model, str):
        return model_named(spec.model)
    return architecture_of(spec.model) if isinstance(spec.model, HuggingFaceModel) else None


def source_in(spec: Spec, architecture: Architecture | None, pools: Sequence[PlacedPool]) -> Source:
    """Find where the stages of a spec come from.

    Raises
    ------
    TooLargeError
        If there are too many layers to cut.
    """
    if isinstance(spec.model, StagesModel):
        return measured_stages(spec.model)
    given = spec.placement.layers_per_stage
    counts = tuple(given) if isinstance(given, list) else None
    sharding = None if spec.gradients is None else spec.gradients.sharding
    if isinstance(spec.model, LayersModel):
        return measured_layers(spec.model, counts, sharding, spec.training.precision)
    peak, sequence = pools[0].peak, spec.training.sequence_length
    if architecture is None or peak is None or sequence is None:
        raise SpecError([Fault("/model", "an estimate needs a model, an accelerator and a sequence length")])
    if architecture.layers >= LARGEST_ITEM_COUNT:
        rule = f"fewer than {LARGEST_ITEM_COUNT} layers are cut into stages"
        value = str(architecture.layers)
        raise TooLargeError([Fault("/model/num_hidden_layers", rule, value, str(LARGEST_ITEM_COUNT - 1))])
    training = spec.training
    shape = Shape(training.microbatch_size or 1, sequence, FORMATS[training.precision].value)
    return EstimatedModel(
        architecture,
        shape,
        peak,
        sharding,
        counts,
        precision=training.precision,
        utilisation=training.utilisation or MODEL_FLOPS_UTILISATION,
        split=training.split_backward,
        recompute="none" if training.recompute == "auto" else training.recompute,
    )


@dataclass(frozen=True, slots=True)
class Cuttable:
    """Pipelines that layers can be cut for: at most one stage per layer (and one for the head)."""

    placement: Placement
    most: int

    @property
    def rule(self) -> str:
        """The rule in words."""
        if isinstance(self.placement.layers_per_stage, list):
            return f"layers_per_stage is for {len(self.placement.layers_per_stage)} stages"
        if self.placement.map is not None:
            return f"a map has at most one stage per layer, {self.most} here"
        return f"pipeline x stages_per_device is at most {self.most}, one stage per layer"

    def __call__(self, pipeline: int) -> bool:
        """Tell whether that many devices can be filled."""
        counts = self.placement.layers_per_stage
        stages = stage_count(self.placement, pipeline)
        return stages == len(counts) if isinstance(counts, list) else stages <= self.most


@dataclass(frozen=True, slots=True)
class Exactly:
    """Pipelines that given stages fit: any, or the one their number and placement ask for."""

    stages: int
    pipeline: int | None

    @property
    def rule(self) -> str:
        """The rule in words."""
        if self.pipeline is None:
            return f"{self.stages} stages are given"
        return f"{self.stages} stages are given, which by their placement sit on {self.pipeline} devices"

    def __call__(self, pipeline: int) -> bool:
        """Tell whether the stages fit that many devices."""
        return self.pipeline in (None, pipeline)


def request_of(spec: Spec, source: Source, architecture: Architecture | None, pools: Sequence[PlacedPool]) -> Request:
    """Put together what is asked of the degrees of parallelism.

    Raises
    ------
    SpecError
        If the map has more stages than the model has layers, or `expert` does not share out the model's experts.
    """
    parallel = spec.parallel
    _require_experts(parallel.expert, architecture)
    sites = sites_of_copies(parallel, spec.sites)
    gpus = tuple((f"{p.pointer}/gpus", p.pool.gpus) for p in pools if p.pool.gpus is not None)
    allowed: Cuttable | Exactly
    if isinstance(source, MeasuredStages):
        open_pipeline = bool(gpus) and parallel.pipeline == "auto"
        allowed = Exactly(len(source.given), _asked_pipeline(spec.placement, source) if open_pipeline else None)
    else:
        allowed = Cuttable(spec.placement, source.largest_stage_count)
        layers = len(source.layers) if isinstance(source, MeasuredLayers) else source.largest_stage_count
        _require_all_layers(spec.placement, layers)
        if spec.placement.map is not None and not allowed(1):
            value = f"{len(spec.placement.map)} stages"
            raise SpecError([Fault("/placement/map", allowed.rule, value, str(allowed.most))])
    return Request(
        tensor=None if parallel.tensor == "auto" else parallel.tensor,
        pipeline=None if parallel.pipeline == "auto" else parallel.pipeline,
        data=None if parallel.data == "auto" else parallel.data,
        gpus=gpus,
        devices=sum(p.pool.devices or 0 for p in pools) // sites,
        heads=None if architecture is None else architecture.heads,
        sequences=spec.training.global_batch,
        microbatch=spec.training.microbatch_size or 1,
        pipelines_allowed=allowed,
        pipeline_rule=allowed.rule,
        sites=sites,
        context=parallel.context,
        expert=parallel.expert,
    )


def _require_experts(expert: int | None, architecture: Architecture | None) -> None:
    """Require experts that can be shared out evenly over the GPUs that are to hold them.

    Raises
    ------
    SpecError
        If they cannot, or a named or described model has none.
    """
    if expert is None or architecture is None:
        return
    if architecture.experts is None:
        raise SpecError([Fault("/parallel/expert", f"left out: {architecture.name} has no experts", str(expert))])
    routed = architecture.experts.routed
    if routed % expert:
        nearest = min((k for k in range(1, routed + 1) if routed % k == 0), key=lambda k: abs(k - expert))
        rule = f"expert divides the {routed} routed experts of a layer"
        raise SpecError([Fault("/parallel/expert", rule, str(expert), str(nearest))])


def _require_all_layers(placement: Placement, layers: int) -> None:
    """Require that a given cut takes every layer.

    Raises
    ------
    SpecError
        If it takes fewer or more than there are; both totals are told.
    """
    counts = placement.layers_per_stage
    if isinstance(counts, list) and sum(counts) != layers:
        rule = f"adds up to {layers}, every layer once; the head of a named model counts as one"
        nearest = [*counts[:-1], counts[-1] + layers - sum(counts)]
        fits = str(nearest) if nearest[-1] > 0 else None
        raise SpecError([Fault("/placement/layers_per_stage", rule, f"{counts} adds up to {sum(counts)}", fits)])


def _asked_pipeline(placement: Placement, source: MeasuredStages) -> int:
    """Count the devices that given stages ask for: those they name, or one per `stages_per_device` stages."""
    names = placement.map or [stage.device for stage in source.given if stage.device is not None]
    each = 1 if placement.stages_per_device == "auto" else placement.stages_per_device
    return len(set(names)) if names else max(1, len(source.given) // each)
