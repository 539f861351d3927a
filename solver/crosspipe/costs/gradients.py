"""The collectives of a step with every default set: sizes, the network inside a site, tied weights."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from crosspipe.costs.assumption import Assumption
from crosspipe.costs.tied import tied_fields, tied_untimed
from crosspipe.spec.notice import Notice
from crosspipe.spec.places import sites_of_groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crosspipe.costs.degrees import Degrees
    from crosspipe.costs.layer_weights import Tied
    from crosspipe.spec.cluster import Site
    from crosspipe.spec.gradients import Gradients
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Stage

MOST_GATHERED = 3
"""Stages of a device that PyTorch's pipelining runtime keeps gathered (`_add_unshard_reshard`)."""

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class GradientExpansion:
    """Gradients with nothing left open, the stages with what they send, and what was assumed on the way."""

    gradients: Gradients | None
    stages: tuple[Stage, ...]
    assumptions: tuple[Assumption, ...]
    notices: tuple[Notice, ...]


def expand_gradients(
    spec: Spec,
    stages: Sequence[Stage],
    degrees: Degrees,
    sites: Mapping[str, Site],
    embedding_mb: Decimal | None,
    tied: Tied | None = None,
) -> GradientExpansion:
    """Fill in what `gradients` leaves open; `embedding_mb` is the estimated size of a model's embedding.

    A bandwidth or latency that the sites do not agree on stays open: then each site's own hop counts. `tied` are the
    stages that hold copies of measured layers' weights; stages named in `gradients.tied` stand in their place.
    """
    given = spec.gradients
    across = tuple(_across(spec, degrees))
    if given is None:
        unsaid = () if embedding_mb is not None else _nothing_summed(degrees)  # an estimate says so itself
        return GradientExpansion(None, tuple(stages), (*across, *unsaid, *tied_untimed(tied)), ())
    assumptions = list(across)
    filled: dict[str, object] = {}
    for name, field, unit in (("bandwidth_gbps", "hop_bandwidth_gbps", "Gb/s"), ("latency_ms", "hop_latency_ms", "ms")):
        hops = {getattr(site, field) for site in sites.values()}
        if getattr(given, name) is not None:
            continue
        if len(hops) == 1 and None not in hops:
            filled[name] = hops.pop()
        text = f"{filled[name]} {unit}" if name in filled else f"each site's own {field}"
        assumptions.append(Assumption(f"/gradients/{name}", text, f"{field} of the sites", f"gradients.{name}"))
    if tied is not None and not given.tied:
        chosen, told = tied_fields(tied)
        filled |= chosen
        assumptions += told
    if given.tied and given.tied_mb is None and embedding_mb is not None:
        filled["tied_mb"] = embedding_mb
        why = "the embedding in bf16, whole tensor group"
        assumptions.append(Assumption("/gradients/tied_mb", f"{embedding_mb} MB", why, "gradients.tied_mb"))
    if any(stage.weights_mb is None for stage in stages):
        why = "weights_mb is left out; what is summed is `reduced_mb` alone"
        assumptions.append(Assumption("/model/stages", "weights_mb = 0 of some stages", why, "weights_mb of the stage"))
    if given.sharding == "full" and len(stages) > MOST_GATHERED * degrees.pipeline:
        why = (
            f"PyTorch's pipelining runtime keeps at most {MOST_GATHERED} stages of a device gathered; with more they "
            "would be gathered several times a step, which is not modelled"
        )
        text = "the weights of all stages are held gathered for the whole step"
        assumptions.append(Assumption("/gradients/sharding", text, why, "fewer stages per device"))
    expanded = given.model_copy(update=filled)
    return GradientExpansion(
        expanded,
        tuple(_sized(stage) for stage in stages),
        tuple(assumptions),
        tuple(_notices(spec, expanded, degrees, sites)),
    )


def _sized(stage: Stage) -> Stage:
    weights = ZERO if stage.weights_mb is None else stage.weights_mb
    reduced = weights if stage.reduced_mb is None else stage.reduced_mb
    return stage.model_copy(update={"weights_mb": weights, "reduced_mb": reduced})


def _nothing_summed(degrees: Degrees) -> Iterator[Assumption]:
    if degrees.data > 1:
        why = "no `gradients` are given"
        text = f"none: the {degrees.data} copies of a stage sum their gradients in no time"
        yield Assumption("/extra_operations", text, why, "gradients, with weights_mb of the stages")


def _across(spec: Spec, degrees: Degrees) -> Iterator[Assumption]:
    if spec.parallel.across_sites == "data" and len(spec.sites) > 1:
        first = next(iter(spec.sites))
        yield Assumption(
            "/parallel/across_sites",
            f"data: {degrees.copies} of {degrees.data} pipelines run in each site; the one of {first} is modelled",
            "with the largest time factor and the least memory of each rank over the sites: all can keep its schedule",
            "parallel.across_sites",
        )
    if spec.parallel.across_sites == "both" and len(spec.sites) > 1:
        yield Assumption(
            "/parallel/across_sites",
            "both: copies of every stage sit in every site, and all copies' messages go the way of the first's",
            "copies that begin in another site send activations where these send gradients, of the same size",
            "parallel.across_sites",
        )


def _notices(spec: Spec, gradients: Gradients, degrees: Degrees, sites: Mapping[str, Site]) -> Iterator[Notice]:
    inside = degrees.data // sites_of_groups(spec.parallel, spec.sites)
    if degrees.data == 1:
        yield Notice("gradients_without_copies", "/gradients", "data is 1: there are no copies whose gradients to sum")
    unknown = [name for name, site in sites.items() if site.hop_bandwidth_gbps is None]
    if inside > 1 and gradients.bandwidth_gbps is None and unknown:
        message = (
            f"summing over the {inside} copies inside {', '.join(unknown)} takes no time on any wire: give "
            "`gradients.bandwidth_gbps` or the site's `hop_bandwidth_gbps`"
        )
        yield Notice("gradients_take_no_time", "/gradients/bandwidth_gbps", message)
