"""Rules of extra operations: how long they take, what they occupy, what they wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.spec.faults import Path, closest, fault
from crosspipe.spec.places import pipeline_places, stage_count
from crosspipe.spec.rules.channels import directed_pairs
from crosspipe.spec.stages import LayersModel, StagesModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.cluster import Link
    from crosspipe.spec.model import ExtraOperation, Spec


def one_length(extra: ExtraOperation, path: Path) -> Iterator[Fault]:
    """Require a duration, or a size that a lane turns into one."""
    if extra.duration_ms is None and extra.size_mb is None:
        yield fault(path, "must have `duration_ms`, or `size_mb` with `lane`")
    if extra.duration_ms is not None and extra.size_mb is not None:
        yield fault((*path, "size_mb"), "must not stand beside `duration_ms`", extra.size_mb)
    if extra.size_mb is not None and extra.lane is None:
        yield fault((*path, "lane"), "must be given beside `size_mb`: its bandwidth says how long it takes")


def one_resource(extra: ExtraOperation, path: Path) -> Iterator[Fault]:
    """Allow a lane, or a device, or nothing."""
    if extra.lane is not None and extra.device is not None:
        yield fault((*path, "device"), "must not stand beside `lane`: an operation occupies one of them", extra.device)


def names_differ(spec: Spec) -> Iterator[Fault]:
    """Require unlike names: an answer tells extra operations apart by them."""
    seen: set[str] = set()
    for number, extra in enumerate(spec.extra_operations):
        if extra.name in seen:
            yield fault(("extra_operations", number, "name"), "must differ from the names before", extra.name)
        seen.add(extra.name)


def device_exists(spec: Spec) -> Iterator[Fault]:
    """Require a device of the spec."""
    places = pipeline_places(spec)
    for number, extra in enumerate(spec.extra_operations):
        if extra.device is not None and not places.has_device(extra.device):
            rule = "must be a device such as `site/0`"
            yield fault(("extra_operations", number, "device"), rule, extra.device, places.nearest_device(extra.device))


def lane_exists(spec: Spec) -> Iterator[Fault]:
    """Require a lane of the links, with a bandwidth if a size is to become a time."""
    lanes = _lanes(spec)
    channels = {name.removesuffix("/out") for name in lanes if name.endswith("/out")}
    for number, extra in enumerate(spec.extra_operations):
        if extra.lane is None:
            continue
        path = ("extra_operations", number, "lane")
        name = extra.lane if "->" not in extra.lane else "->".join(end.strip() for end in extra.lane.split("->"))
        if name in lanes:
            if extra.size_mb is not None and not _tells_time(lanes[name]):
                yield fault(path, "must have `bandwidth_gbps` to turn `size_mb` into a time", extra.lane)
        elif name in channels:
            rule = "must name one of the two lanes of a full-duplex channel"
            yield fault(path, rule, extra.lane, f"{name}/out")
        else:
            rule = f"must be a lane of the links: {', '.join(list(lanes)[:6]) or 'there are none'}"
            yield fault(path, rule, extra.lane, closest(name, lanes))


def stages_exist(spec: Spec) -> Iterator[Fault]:
    """Require stages of the model."""
    count = stage_count(spec)
    for number, extra in enumerate(spec.extra_operations):
        for field, stages in (("after", extra.after), ("before", extra.before)):
            for place, stage in enumerate(stages):
                if count is not None and stage >= count:
                    rule = f"must be a stage, 0 to {count - 1}"
                    yield fault(("extra_operations", number, field, place), rule, stage, count - 1)


def no_circle(spec: Spec) -> Iterator[Fault]:
    """Refuse to wait for both sides: a stage's backward needs the first F of every stage."""
    for number, extra in enumerate(spec.extra_operations):
        if extra.after and extra.before and not all(may_be_frozen(spec, stage) for stage in extra.after):
            rule = "must be empty beside `after`: a backward needs every stage's F, the operation would wait for itself"
            yield fault(("extra_operations", number, "before"), rule, extra.before)


def waits_for_a_backward(spec: Spec) -> Iterator[Fault]:
    """Refuse to wait for a frozen stage: it has no backward work."""
    for number, extra in enumerate(spec.extra_operations):
        for place, stage in enumerate(extra.after):
            if isinstance(spec.model, StagesModel) and may_be_frozen(spec, stage):
                rule = "must be a stage with a backward: a frozen stage has none to wait for"
                yield fault(("extra_operations", number, "after", place), rule, stage)


def may_be_frozen(spec: Spec, stage: int) -> bool:
    """Whether a stage is frozen, or may be once layers are cut into stages."""
    if isinstance(spec.model, LayersModel):
        return any(layer.frozen for layer in spec.model.layers)
    if not isinstance(spec.model, StagesModel):
        return False
    stages = spec.model.stages
    return stage < len(stages) and stages[stage].frozen if isinstance(stages, list) else stages.frozen


def _lanes(spec: Spec) -> dict[str, list[Link]]:
    """Map every name of a lane to the links that run on it."""
    found: dict[str, list[Link]] = {}
    for link in spec.links:
        names = [*_channel_lanes(link), *("->".join(pair) for pair in directed_pairs(link))]
        for name in names:
            found.setdefault(name, []).append(link)
    return found


def _channel_lanes(link: Link) -> list[str]:
    channel = link.group or ("-".join(link.between) if link.between else None)
    if channel is None:
        return []
    both = [f"{channel}/out", f"{channel}/back"]
    if link.duplex == "half":
        return [channel, *both]
    return both if link.from_ is None else [f"{channel}/{link.lane or 'out'}"]


def _tells_time(links: list[Link]) -> bool:
    """Whether a size becomes a time on the lane: what carries messages decides, if anything does."""
    carrying = [link for link in links if directed_pairs(link)] or links
    return all(link.bandwidth_gbps is not None for link in carrying)
