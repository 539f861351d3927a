"""From a spec to that of an arrangement: its sites and links, what crosses them, and the same work per step."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.costs.expand import expand
from crosspipe.costs.regions import with_regions
from crosspipe.errors import Fault, SpecError
from crosspipe.plans.models import BOTH, DATA, PIPELINE, SITE
from crosspipe.problem.compile import compile_spec
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec
from crosspipe.spec.stages import LayersModel, StagesModel
from crosspipe.sweeps.grid import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.plans.candidates import Candidate
    from crosspipe.spec.model import Spec
    from crosspipe.sweeps.kinds import Tree

ZERO1 = "gradients: {sharding: zero1} was added, so that the sums of gradients take their time"
UNCOUNTED = "the sums of gradients over the links are not counted: the measured model has no `weights_mb`"


@dataclass(frozen=True, slots=True)
class Base:
    """The spec as given, with what every arrangement keeps of it.

    Attributes
    ----------
    tree
        The spec as plain data, with `gradients` where their sizes are known.
    tensor, pipeline, data
        Its degrees, all set.
    counted
        Whether `gradients` are part of it.
    added
        Whether they were not in the spec as given.
    in_gpus
        Whether its sites are given in accelerators, so that the degrees can change with the sites.
    """

    spec: Spec
    tree: Tree
    tensor: int
    pipeline: int
    data: int
    counted: bool
    added: bool
    in_gpus: bool


@dataclass(frozen=True, slots=True)
class Variant:
    """A legal spec of an arrangement, with all degrees set."""

    spec: Spec
    tree: Tree
    tensor: int
    pipeline: int
    data: int
    changes: tuple[str, ...]
    counted: bool


KEPT = ("replica_messages", "context", "expert")
"""Fields of `parallel` that every arrangement has as given."""


def base_of(spec: Spec) -> Base:
    """Settle what every arrangement keeps of a spec.

    Raises
    ------
    SpecError
        If the spec is invalid.
    """
    spec = with_regions(spec)
    parallel = expand(spec).spec.parallel
    tree = tree_of(spec)
    added = spec.gradients is None and _sizes_known(spec)
    if added:
        tree["gradients"] = {}
    tensor, pipeline, data = (int(degree) for degree in (parallel.tensor, parallel.pipeline, parallel.data))
    pools = [pool for site in spec.sites.values() for pool in site.pools or [site]]
    in_gpus = all(pool.gpus is not None for pool in pools)
    return Base(spec, tree, tensor, pipeline, data, added or spec.gradients is not None, added, in_gpus)


def variants(base: Base, candidate: Candidate) -> tuple[list[Variant], SpecError | None]:
    """Make the specs of an arrangement, one for each choice of degrees worth a look; or say why there is none."""
    found: list[Variant] = []
    first: SpecError | None = None
    for parallel in _degrees(base, candidate):
        try:
            variant = _variant(base, candidate, parallel)
        except SpecError as error:
            first = first or error
            continue
        if all((variant.pipeline, variant.data) != (known.pipeline, known.data) for known in found):
            found.append(variant)
    return found, None if found else first


def _sizes_known(spec: Spec) -> bool:
    """Whether the sizes are known that copies of a stage sum: those of a model by name, or `weights_mb`."""
    if isinstance(spec.model, StagesModel):
        stages = spec.model.stages
        return any(stage.weights_mb is not None for stage in (stages if isinstance(stages, list) else [stages]))
    if isinstance(spec.model, LayersModel):
        return any(layer.weights_mb is not None for layer in spec.model.layers)
    return True


def _degrees(base: Base, candidate: Candidate) -> Iterator[Tree]:
    """List the degrees to try: in accelerators the pipeline as given, the replicas as given, and the rule's choice."""
    as_given = candidate.sites == tuple(base.spec.sites) and candidate.kind == _kind(base)
    if as_given or not base.in_gpus:
        data = base.data
        if not as_given and candidate.kind == DATA and base.spec.parallel.across_sites != DATA:
            data *= len(candidate.sites)
        if not as_given and candidate.kind != DATA and base.spec.parallel.across_sites == DATA:
            data = max(1, data // len(base.spec.sites))
        yield {"tensor": base.tensor, "data": data}
        return
    yield {"tensor": base.tensor, "pipeline": base.pipeline}
    yield {"tensor": base.tensor, "data": base.data}
    yield {"tensor": base.tensor}


def _kind(base: Base) -> str:
    return SITE if len(base.spec.sites) == 1 else base.spec.parallel.across_sites


def _variant(base: Base, candidate: Candidate, degrees: Tree) -> Variant:
    """Write the spec of an arrangement.

    Raises
    ------
    SpecError
        If it is none, or cannot do the same work per step.
    """
    tree, changes = deepcopy(base.tree), []
    tree["sites"] = {name: site for name, site in tree["sites"].items() if name in candidate.sites}
    tree["links"] = [link for link in tree.get("links", []) if _inside(link, candidate.sites)]
    crossing = PIPELINE if candidate.kind == SITE else candidate.kind
    kept = {name: value for name, value in tree.get("parallel", {}).items() if name in KEPT}
    tree["parallel"] = kept | degrees | {"across_sites": crossing}
    as_given = candidate.sites == tuple(base.spec.sites) and candidate.kind == _kind(base)
    if not as_given:
        changes += _unplaced(tree)
    spec = parse_spec(tree)
    parallel = expand(spec).spec.parallel
    tensor, pipeline, data = (int(degree) for degree in (parallel.tensor, parallel.pipeline, parallel.data))
    tree["parallel"] |= {"pipeline": pipeline, "data": data}
    changes += _same_work(base, tree, data)
    spec = parse_spec(tree)
    compile_spec(expand(spec).spec, spec_digest(spec))
    if (pipeline, data) != (base.pipeline, base.data):
        changes.append(f"pipeline {pipeline}, data {data} in place of {base.pipeline} and {base.data}")
    # Sums within a site are short, and left out of every arrangement alike; those over the links decide.
    counted = base.counted or data == 1 or crossing == PIPELINE
    if base.added and data > 1:
        changes.append(ZERO1)
    if not counted:
        changes.append(UNCOUNTED)
    return Variant(spec, tree, tensor, pipeline, data, tuple(changes), counted)


def _inside(link: Tree, sites: tuple[str, ...]) -> bool:
    """Whether a link joins places that are all used; one of a group alone joins none and stays."""
    ends = [*link.get("between", ()), *(link[end] for end in ("from", "to") if link.get(end) is not None)]
    return all(end.partition("/")[0] in sites for end in ends)


def _unplaced(tree: Tree) -> list[str]:
    """Take back what places stages on devices one by one, or says how many a device holds where stages are measured."""
    changes = []
    placement = tree.get("placement", {})
    if placement.pop("map", None) is not None:
        changes.append("placement.map was left out: it names devices of the cluster as given")
    if isinstance(placement.get("layers_per_stage"), list):
        del placement["layers_per_stage"]
        changes.append("placement.layers_per_stage was left out: it is for the stages of the cluster as given")
    stages = tree["model"].get("stages") if isinstance(tree["model"], dict) else None
    if stages is None:
        return changes
    named = [stage.pop("device", None) for stage in stages] if isinstance(stages, list) else []
    if any(name is not None for name in named):
        changes.append("the stages' own devices were left out: they name devices of the cluster as given")
    if placement.pop("stages_per_device", None) is not None:
        changes.append("placement.stages_per_device follows from the measured stages and the devices")
    placement.pop("traversal", None)
    return changes


def _same_work(base: Base, tree: Tree, data: int) -> list[str]:
    """Keep the microbatches of all replicas together.

    Raises
    ------
    SpecError
        If they cannot be shared out evenly.
    """
    given = base.spec.training.microbatches
    if given is None or data == base.data:
        return []
    if not isinstance(given, int):
        rule = f"unlike microbatches are those of {base.data} replicas; {data} would do other work per step"
        raise SpecError([Fault("/training/microbatches", rule, f"{data} replicas")])
    each, rest = divmod(given * base.data, data)
    if rest:
        rule = f"{given * base.data} microbatches per step cannot be shared evenly among {data} replicas"
        raise SpecError([Fault("/training/microbatches", rule, str(given))])
    tree["training"]["microbatches"] = each
    return [f"{each} microbatches in each of {data} replicas: the same {given * base.data} per step"]


__all__ = ["BOTH", "Base", "Variant", "base_of", "variants"]
