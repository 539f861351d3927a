"""The even cut of layers of which some have a place: on the devices in the user's order, or one that pins ask for."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby, islice, product
from typing import TYPE_CHECKING

from crosspipe.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.costs.layers import MeasuredLayers
    from crosspipe.costs.pins import Pin
    from crosspipe.spec.cluster import Pool
    from crosspipe.spec.model import Placement


MOST_ORDERS = 500
"""Orders of devices that are tried for a first cut; the search of assignments looks at all."""


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
    """Yield orders of the devices that follow the pins along the chain, at most 500.

    Neighbouring pins to one site are a segment, which gets the devices pinned by name there, or else one of the site.
    The other devices of each site go together between any two segments, first behind or before one of their own.
    """
    segments = [(site, list(run)) for site, run in groupby((pin for pin in pins if pin), key=lambda pin: pin.site)]
    numbers = {name: number for number, name in enumerate(names)}
    asked = [list(dict.fromkeys(numbers[pin.device] for pin in run if pin.device)) for _, run in segments]
    taken = {number for own in asked for number in own}
    free: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        if number not in taken:
            free.setdefault(name.rpartition("/")[0], []).append(number)
    for (site, _), own in zip(segments, asked, strict=True):
        if not own and free.get(site):
            own.append(free[site].pop(0))
    blocks = [
        ([number for number, (other, _) in enumerate(segments) if other == site], block)
        for site, block in free.items()
        if block
    ]
    gaps = (_gaps(own, len(segments)) for own, _ in blocks)
    for chosen in islice(product(*gaps), MOST_ORDERS):
        flat: list[int] = []
        for place in range(len(segments) + 1):
            here = [pair for gap, pair in zip(chosen, blocks, strict=True) if gap == place]
            here.sort(key=lambda pair: place - 1 not in pair[0])  # what belongs to the segment before
            flat += [number for _, block in here for number in block]
            flat += asked[place] if place < len(segments) else []
        yield tuple(dict.fromkeys(flat))


def _gaps(own: Sequence[int], segments: int) -> list[int]:
    """Order the gaps between segments: behind those of the site itself, before them, then the others from the end."""
    behind, before = [number + 1 for number in own], list(own)
    return list(dict.fromkeys([*behind, *before, *range(segments, -1, -1)]))
