"""Any spec as one of measured stages on devices, every default set and every assumption listed."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from crosspipe.costs.degrees import Degrees, choose_degrees
from crosspipe.costs.expansion import Expansion
from crosspipe.costs.fit import capacities_mb, fullest
from crosspipe.costs.pools import pools_of
from crosspipe.costs.preparation import Preparation, even_cut, recompute_of, stages_of
from crosspipe.costs.regions import resolve_regions
from crosspipe.costs.sites import expand_sites
from crosspipe.costs.source import architecture_in, request_of, source_in
from crosspipe.costs.stages import MeasuredStages
from crosspipe.costs.training import batch_of
from crosspipe.costs.variants import variants_of
from crosspipe.errors import SpecError
from crosspipe.spec.check import require_valid

if TYPE_CHECKING:
    from crosspipe.costs.assignment import Assignment
    from crosspipe.spec.model import Spec


def expand(spec: Spec, assignment: Assignment | None = None) -> Expansion:
    """Expand a spec, its stages cut and placed as the assignment says, or by the even cut without one.

    Stage times of an estimate are for a whole device (tensor group) of the first pool, in ms rounded to 0.001; its
    memory is per GPU, in MB rounded to 0.1; a message is that of the whole tensor group of one replica.

    Raises
    ------
    SpecError
        If the spec breaks a rule, a name is unknown, an estimate lacks the sequence length, the degrees contradict each
        other or the devices, or the model cannot be cut into that many stages.
    """
    return prepare(spec).expand(assignment)


def prepare(spec: Spec) -> Preparation:
    """Settle all of a spec but its stages; stages per device and microbatch that are `auto` become the first way.

    Raises
    ------
    SpecError
        As `expand`.
    """
    require_valid(spec)
    spec = variants_of(spec)[0]
    links, regions = resolve_regions(spec.links)
    spec = spec.model_copy(update={"links": links})
    architecture = architecture_in(spec)
    estimated = architecture is not None
    pools = pools_of(spec.sites, estimated=estimated, precision=spec.training.precision)
    batch = batch_of(spec.training, estimated=estimated)
    source = source_in(spec, architecture, pools)

    def fit(degrees: Degrees) -> float:
        if isinstance(source, MeasuredStages):
            return 0.0
        sites = expand_sites(spec.sites, pools, degrees, estimated=estimated).sites
        try:
            cut = even_cut(source, spec.placement, degrees, sites, recompute_of(spec))
        except SpecError:
            return inf  # pinned layers leave no cut; the error is raised again if no other degrees have one
        stages = stages_of(source, cut, degrees)
        return fullest(stages, cut.devices, capacities_mb(sites, degrees.sites), batch.count(degrees.data))

    request = request_of(spec, source, architecture, pools)
    degrees, need = choose_degrees(request, fit)
    sites = expand_sites(spec.sites, pools, degrees, estimated=estimated)
    return Preparation(spec, source, tuple(pools), batch, request, degrees, need, sites, regions)


__all__ = ["Expansion", "expand", "prepare"]
