"""Which stage sits on which device: the explicit map, or the maps that a traversal allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.errors import Fault, SpecError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.ranks import Rank
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Stage


@dataclass(frozen=True, slots=True)
class StageMap:
    """Device index (within a replica) of each stage, and the name of the pattern."""

    traversal: str
    device_of_stage: tuple[int, ...]


def loop_map(stages: int, devices: int) -> tuple[int, ...]:
    """Place stage s on device s mod p (interleaved)."""
    return tuple(stage % devices for stage in range(stages))


def wave_map(stages: int, devices: int) -> tuple[int, ...]:
    """Place stages there and back: 0..p-1, p-1..0, 0..p-1, ... (V, wave)."""
    turns = (divmod(stage, devices) for stage in range(stages))
    return tuple(devices - 1 - place if turn % 2 else place for turn, place in turns)


def stage_maps(spec: Spec, stages: Sequence[Stage], ranks: Sequence[Rank]) -> tuple[StageMap, ...]:
    """List the candidate maps of an expanded spec.

    Raises
    ------
    SpecError
        If no map of that number of stages exists on these devices.
    """
    names = spec.placement.map
    if names is None and all(stage.device is not None for stage in stages):
        names = [stage.device for stage in stages if stage.device is not None]
    if names is not None:
        return (_explicit(names, ranks),)
    return _by_traversal(spec.placement.traversal, len(stages), len(ranks))


def _explicit(names: Sequence[str], ranks: Sequence[Rank]) -> StageMap:
    index = {rank.name: number for number, rank in enumerate(ranks)}
    places = tuple(index[name] for name in names)
    used = len(set(places))
    in_order = sorted(set(places)) == list(range(used))
    if in_order and places == tuple(range(len(places))):
        return StageMap("unidirectional", places)
    if in_order and len(places) % used == 0:
        if places == loop_map(len(places), used):
            return StageMap("loop", places)
        if places == wave_map(len(places), used):
            return StageMap("wave", places)
    return StageMap("map", places)


def _by_traversal(traversal: str, stages: int, devices: int) -> tuple[StageMap, ...]:
    if stages % devices or (traversal == "unidirectional" and stages != devices):
        rule = (
            "a unidirectional traversal needs one stage per device"
            if traversal == "unidirectional"
            else "without `placement.map` the number of stages must be a multiple of the number of devices"
        )
        nearest = devices if traversal == "unidirectional" else max(devices, round(stages / devices) * devices)
        raise SpecError([Fault("/model/stages", rule, f"{stages} stages on {devices} devices", f"{nearest} stages")])
    if stages == devices:
        return (StageMap("unidirectional", tuple(range(stages))),)
    loop = StageMap("loop", loop_map(stages, devices))
    wave = StageMap("wave", wave_map(stages, devices))
    return {"loop": (loop,), "wave": (wave,), "auto": (wave,) if devices == 1 else (loop, wave)}[traversal]
