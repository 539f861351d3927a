"""A spec whose sites, degrees and costs are known, and whose stages can be cut and placed in many ways."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.costs.assignment import Assignment
from crosspipe.costs.assumption import Assumption
from crosspipe.costs.estimate import EstimatedModel
from crosspipe.costs.expansion import Expansion
from crosspipe.costs.gradients import expand_gradients
from crosspipe.costs.layers import MeasuredLayers
from crosspipe.costs.notices import cost_notices, overfull, small_tensor
from crosspipe.costs.pinned import pinned_cut
from crosspipe.costs.places import devices_of, stage_count, stage_places
from crosspipe.costs.stages import MeasuredStages
from crosspipe.costs.training import expand_training
from crosspipe.spec.check import require_valid
from crosspipe.spec.stages import StagesModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.costs.degrees import Degrees, Request
    from crosspipe.costs.pools import PlacedPool
    from crosspipe.costs.sites import SiteExpansion
    from crosspipe.costs.source import Source
    from crosspipe.costs.training import Batch
    from crosspipe.spec.cluster import Pool, Site
    from crosspipe.spec.model import Placement, Recompute, Spec
    from crosspipe.spec.stages import Stage


@dataclass(frozen=True, slots=True)
class Preparation:
    """All of a spec but its stages.

    Attributes
    ----------
    spec, source, pools, batch
        The spec, where its stages come from, its pools, and how the step is cut.
    request, degrees, need
        What was asked of the degrees, what they are, and how full the fullest device is with the even cut.
    sites
        The sites in devices per replica.
    regions
        What was taken from the table of cloud regions.
    """

    spec: Spec
    source: Source
    pools: tuple[PlacedPool, ...]
    batch: Batch
    request: Request
    degrees: Degrees
    need: float
    sites: SiteExpansion
    regions: tuple[Assumption, ...] = ()

    @property
    def devices(self) -> tuple[tuple[str, Pool], ...]:
        """The devices of one replica with their pools, in the user's order."""
        return devices_of(self.sites.sites, self.degrees.sites)

    def even(self) -> Assignment:
        """Cut as the spec says, or evenly by time, on the devices in the user's order."""
        return even_cut(self.source, self.spec.placement, self.degrees, self.sites.sites, recompute_of(self.spec))

    def stages(self, assignment: Assignment) -> tuple[Stage, ...]:
        """List the stages of an assignment."""
        return stages_of(self.source, assignment, self.degrees)

    def expand(self, assignment: Assignment | None = None) -> Expansion:
        """Fill everything in; without an assignment the stages are those of `even`."""
        spec, degrees = self.spec, self.degrees
        estimated = isinstance(self.source, EstimatedModel)
        placed = self.even() if assignment is None else assignment
        embedding_mb = self.source.embedding_mb if isinstance(self.source, EstimatedModel) else None
        tied = self.source.tied(placed.runs) if isinstance(self.source, MeasuredLayers) else None
        gradients = expand_gradients(spec, self.stages(placed), degrees, self.sites.sites, embedding_mb, tied)
        training, training_assumptions = expand_training(spec.training, self.batch, degrees)
        parallel = spec.parallel.model_copy(
            update={"tensor": degrees.tensor, "pipeline": degrees.pipeline, "data": degrees.data}
        )
        expanded = spec.model_copy(
            update={
                "model": StagesModel(stages=list(gradients.stages)),
                "training": training,
                "parallel": parallel,
                "placement": self._placement(assignment),
                "sites": self.sites.sites,
                "gradients": gradients.gradients,
            }
        )
        require_valid(expanded)
        notices = (
            *cost_notices(expanded, gradients.stages, degrees, self.pools, estimated=estimated),
            *small_tensor(self.request, degrees),
            *gradients.notices,
        )
        if spec.parallel.pipeline == "auto" and self.need > 1:
            notices += (overfull(self.need),)
        return Expansion(
            expanded,
            (
                *self.source.assumptions(degrees),
                *self._cut_assumptions(assignment),
                *training_assumptions,
                *self._degree_assumptions(),
                *self.sites.assumptions,
                *self.regions,
                *gradients.assumptions,
            ),
            notices,
            placed,
        )

    def _placement(self, assignment: Assignment | None) -> Placement:
        """Leave nothing of the placement open but for the traversal of stages that are placed by one."""
        given = self.spec.placement
        chosen: dict[str, object] = {"layers_per_stage": "auto", "device_order": "auto", "leave_unused": False}
        if assignment is None and self._pinned:
            assignment = self.even()
        if assignment is None:
            if given.stages_per_device == "auto":
                chosen["stages_per_device"] = stage_count(given, self.degrees.pipeline) // self.degrees.pipeline
            return given.model_copy(update=chosen)
        names = [name for name, _ in self.devices]
        chosen |= {"traversal": "auto", "stages_per_device": 1, "map": [names[place] for place in assignment.devices]}
        return given.model_copy(update=chosen)

    @property
    def _pinned(self) -> bool:
        """Whether layers have places that no other traversal may take from them."""
        return isinstance(self.source, MeasuredLayers) and any(self.source.pins())

    def _cut_assumptions(self, assignment: Assignment | None) -> tuple[Assumption, ...]:
        """Tell that an expansion shows one cut of many where a solve decides it."""
        placement = self.spec.placement
        one_way = placement.stages_per_device == 1 and placement.map is None
        open_cut = placement.layers_per_stage == "auto" and self.source.longest_run > 1 and one_way
        if assignment is not None or not open_cut:
            return ()
        why = "shown is the cut by time in the order of the sites; a solve decides cut and device order"
        return (Assumption("/placement/layers_per_stage", "even, here", why, "placement.layers_per_stage"),)

    def _degree_assumptions(self) -> tuple[Assumption, ...]:
        need, degrees = self.need, self.degrees
        rules = {
            "tensor": "the largest of 8, 4, 2, 1 that divides every pool's GPUs and the attention heads",
            "pipeline": (
                "the fewest devices per replica, the same share of every site, with room for weights and the "
                f"activations that 1F1B holds ({need:.0%} of the fullest device)"
                if need
                else "the devices of one replica, all sites together"
            ),
            "data": "GPUs / (tensor x pipeline)",
        }
        if not self.request.gpus:
            rules = {
                "tensor": "sites are given in devices, which stand for whole tensor groups",
                "pipeline": "the devices given, all sites together",
                "data": "sites are given in the devices of one replica",
            }
        return tuple(
            Assumption(f"/parallel/{name}", str(getattr(degrees, name)), rule, f"parallel.{name}")
            for name, rule in rules.items()
            if getattr(self.spec.parallel, name) == "auto"
        )


def recompute_of(spec: Spec) -> Recompute:
    """Tell what every stage recomputes unless the assignment says otherwise."""
    return "none" if spec.training.recompute == "auto" else spec.training.recompute


def even_cut(
    source: Source, placement: Placement, degrees: Degrees, sites: Mapping[str, Site], recompute: Recompute
) -> Assignment:
    """Cut the model for these devices in the user's order, as given or evenly by time."""
    if isinstance(source, MeasuredStages):
        nothing: list[Recompute] = ["none" for _ in source.given]
        stages = len(source.given)
        # One stage to a device: as written. Else a traversal or the stages themselves say where they sit.
        order = tuple(range(stages)) if stages == len(devices_of(sites, degrees.sites)) else ()
        return Assignment(tuple(range(1, stages + 1)), order, tuple(nothing))
    devices = devices_of(sites, degrees.sites)
    places = stage_places(placement, stage_count(placement, len(devices)), [name for name, _ in devices])
    if isinstance(source, MeasuredLayers):
        places, runs = pinned_cut(source, placement, devices, places)
    else:
        runs = source.runs([Fraction(devices[place][1].time_factor) for place in places])
    ends = tuple(run.stop for run in runs)
    ways = [source.recompute_ways(run.start, run.stop) for run in runs]
    return Assignment(ends, places, tuple(recompute if recompute in way else way[0] for way in ways))


def stages_of(source: Source, assignment: Assignment, degrees: Degrees) -> tuple[Stage, ...]:
    """List the stages of an assignment."""
    chosen: Sequence[Recompute] = assignment.recompute
    return tuple(
        source.stage(first, end, degrees, way) for (first, end), way in zip(assignment.runs, chosen, strict=True)
    )


__all__ = ["Preparation", "even_cut", "recompute_of", "stages_of"]
