"""The even cut of layers of which some have a place: on the devices in the user's order, or one that pins ask for."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING

from crosspipe.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.costs.layers import MeasuredLayers
    from crosspipe.costs.pins import Pin
    from crosspipe.spec.cluster import Pool
    from crosspipe.spec.model import Placement


def pinned_cut(
    source: MeasuredLayers, placement: Placement, devices: Sequence[tuple[str, Pool]], places: Sequence[int]
) -> tuple[tuple[int, ...], tuple[range, ...]]:
    """Cut layers evenly by time for stages on these places.

    Where the order of the devices is free and the user's leaves no cut, those that follow the pins along the chain are
    tried.

    Returns
    -------
    tuple
        The device number of each stage, and its items.

    Raises
    ------
    SpecError
        If no order tried has a cut that puts every layer where it is pinned.
    """
    names = [name for name, _ in devices]
    free = placement.map is None and placement.device_order != "given"
    refused: SpecError | None = None
    for order in (range(len(names)), *(orders(source.pins(), names) if free else ())):
        mine = tuple(order[place] for place in places)
        try:
            return mine, source.runs([Fraction(devices[n][1].time_factor) for n in mine], [names[n] for n in mine])
        except SpecError as error:
            refused = refused or error
    raise refused or SpecError([])


def orders(pins: Sequence[Pin | None], names: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Yield orders of the devices that follow the pins along the chain.

    Neighbouring pins to one site are a segment. The devices of a site are shared out evenly over its segments, behind
    or before those that are pinned by name; those of sites without a pin go together between any two segments.
    """
    segments = [(site, list(run)) for site, run in groupby((pin for pin in pins if pin), key=lambda pin: pin.site)]
    numbers = {name: number for number, name in enumerate(names)}
    asked = [list(dict.fromkeys(numbers[pin.device] for pin in run if pin.device)) for _, run in segments]
    taken = {number for own in asked for number in own}
    rest: list[list[int]] = [[] for _ in segments]
    for site in dict.fromkeys(site for site, _ in segments):
        mine = [number for number, (other, _) in enumerate(segments) if other == site]
        mine.sort(key=lambda number: bool(asked[number]))  # first those that no device has been named for
        free = [n for n, name in enumerate(names) if name.rpartition("/")[0] == site and n not in taken]
        for turn, number in enumerate(mine):
            rest[number] = free[_share(len(free), len(mine), turn)]
    used = {*taken, *(number for own in rest for number in own)}
    others = [number for number in range(len(names)) if number not in used]
    behind = [[*own, *more] for own, more in zip(asked, rest, strict=True)]
    before = [[*more, *own] for own, more in zip(asked, rest, strict=True)]
    for shared in (behind, before, [*behind[:-1], *before[-1:]]):
        for gap in range(len(shared), -1, -1) if others else (0,):
            flat = [*shared[:gap], others, *shared[gap:]]
            yield tuple(dict.fromkeys(number for own in flat for number in own))


def _share(things: int, parts: int, part: int) -> slice:
    """Give one of so many parts of a list, as even as can be, the earlier ones the larger."""
    each, more = divmod(things, parts)
    start = part * each + min(part, more)
    return slice(start, start + each + (part < more))
