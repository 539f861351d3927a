"""Any spec as one of measured stages on devices, every default set and every assumption listed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.costs.assumption import Assumption
from crosspipe.costs.degrees import Degrees, choose_degrees
from crosspipe.costs.estimate import EstimatedModel
from crosspipe.costs.fit import capacities_mb, fullest
from crosspipe.costs.gradients import expand_gradients
from crosspipe.costs.notices import cost_notices, overfull, small_tensor
from crosspipe.costs.places import devices_of, stage_count, stage_places
from crosspipe.costs.pools import pools_of
from crosspipe.costs.sites import expand_sites
from crosspipe.costs.source import architecture_in, request_of, source_in
from crosspipe.costs.stages import MeasuredStages
from crosspipe.costs.training import batch_of, expand_training
from crosspipe.spec.check import require_valid
from crosspipe.spec.stages import StagesModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.costs.source import Source
    from crosspipe.spec.cluster import Site
    from crosspipe.spec.model import Placement, Spec
    from crosspipe.spec.notice import Notice
    from crosspipe.spec.stages import Stage


@dataclass(frozen=True, slots=True)
class Expansion:
    """A spec with nothing left open.

    Attributes
    ----------
    spec
        The same problem as a spec of listed stages on devices: `training.microbatches`, all degrees, memory, time
        factors and hops are set. Expanding it again gives an equal spec.
    assumptions
        What was decided on the way.
    notices
        Traps that show only beside the catalogue or in the expanded numbers; those of the spec alone are
        `crosspipe.spec`'s.
    """

    spec: Spec
    assumptions: tuple[Assumption, ...]
    notices: tuple[Notice, ...]


def expand(spec: Spec) -> Expansion:
    """Expand a spec.

    Stage times of an estimate are for a whole device (tensor group) of the first pool, in ms rounded to 0.001; its
    memory is per GPU, in MB rounded to 0.1; a message is that of the whole tensor group of one replica.

    Raises
    ------
    SpecError
        If the spec breaks a rule, a name is unknown, an estimate lacks the sequence length, the degrees contradict each
        other or the devices, or the model cannot be cut into that many stages.
    """
    require_valid(spec)
    architecture = architecture_in(spec)
    estimated = architecture is not None
    pools = pools_of(spec.sites, estimated=estimated)
    batch = batch_of(spec.training, estimated=estimated)
    source = source_in(spec, architecture, pools)

    def located(degrees: Degrees) -> dict[str, Site]:
        return expand_sites(spec.sites, pools, degrees, estimated=estimated).sites

    def fit(degrees: Degrees) -> float:
        if isinstance(source, MeasuredStages):
            return 0.0
        sites = located(degrees)
        stages, places = _cut(source, spec.placement, degrees, sites)
        return fullest(stages, places, capacities_mb(sites, degrees.sites), batch.count(degrees.data))

    request = request_of(spec, source, architecture, pools)
    degrees, need = choose_degrees(request, fit)
    sites = expand_sites(spec.sites, pools, degrees, estimated=estimated)
    stages, _ = _cut(source, spec.placement, degrees, sites.sites)
    embedding_mb = source.embedding_mb if isinstance(source, EstimatedModel) else None
    gradients = expand_gradients(spec, stages, degrees, sites.sites, embedding_mb)
    training, training_assumptions = expand_training(spec.training, batch, degrees)
    parallel = spec.parallel.model_copy(
        update={"tensor": degrees.tensor, "pipeline": degrees.pipeline, "data": degrees.data}
    )
    expanded = spec.model_copy(
        update={
            "model": StagesModel(stages=list(gradients.stages)),
            "training": training,
            "parallel": parallel,
            "placement": spec.placement.model_copy(update={"layers_per_stage": None}),
            "sites": sites.sites,
            "gradients": gradients.gradients,
        }
    )
    require_valid(expanded)
    notices = (*cost_notices(expanded, stages, degrees, pools, estimated=estimated), *small_tensor(request, degrees))
    notices += gradients.notices
    if spec.parallel.pipeline == "auto" and need > 1:
        notices += (overfull(need),)
    return Expansion(
        expanded,
        (
            *source.assumptions(degrees),
            *training_assumptions,
            *_degree_assumptions(spec, degrees, need, in_gpus=bool(request.gpus)),
            *sites.assumptions,
            *gradients.assumptions,
        ),
        notices,
    )


def _cut(
    source: Source, placement: Placement, degrees: Degrees, sites: Mapping[str, Site]
) -> tuple[tuple[Stage, ...], tuple[int, ...]]:
    """Cut the model for these devices; return stages and their device numbers, none where stages were given."""
    if isinstance(source, MeasuredStages):
        return source.given, ()
    devices = devices_of(sites, degrees.sites)
    places = stage_places(placement, stage_count(placement, len(devices)), [name for name, _ in devices])
    factors = [Fraction(devices[place][1].time_factor) for place in places]
    return source.stages(degrees, factors), places


def _degree_assumptions(spec: Spec, degrees: Degrees, need: float, *, in_gpus: bool) -> tuple[Assumption, ...]:
    rules = {
        "tensor": "the largest of 8, 4, 2, 1 that divides every pool's GPUs and the attention heads",
        "pipeline": (
            "the fewest devices per replica, the same share of every site, with room for weights and the activations "
            f"that 1F1B holds ({need:.0%} of the fullest device)"
            if need
            else "the devices of one replica, all sites together"
        ),
        "data": "GPUs / (tensor x pipeline)",
    }
    if not in_gpus:
        rules = {
            "tensor": "sites are given in devices, which stand for whole tensor groups",
            "pipeline": "the devices given, all sites together",
            "data": "sites are given in the devices of one replica",
        }
    return tuple(
        Assumption(f"/parallel/{name}", str(getattr(degrees, name)), rule, f"parallel.{name}")
        for name, rule in rules.items()
        if getattr(spec.parallel, name) == "auto"
    )
