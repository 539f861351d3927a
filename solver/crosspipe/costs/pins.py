"""`Pin`: where an item must sit; and which items no stage on a device may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.errors import Fault, SpecError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.spec.stages import Layer


@dataclass(frozen=True, slots=True)
class Pin:
    """The site, or the device, that the stage of an item must sit on.

    Attributes
    ----------
    site
        Name of the site, that of the device where one is given.
    device
        Name of the device such as `east/0`, None where any of the site will do.
    """

    site: str
    device: str | None = None

    def allows(self, device: str) -> bool:
        """Tell whether a stage on this device may hold the item."""
        return device == self.device if self.device is not None else device.rpartition("/")[0] == self.site

    @property
    def place(self) -> str:
        """The place in words."""
        return self.device or self.site


def reach(pins: Sequence[Pin | None], device: str) -> tuple[int, ...]:
    """Give, for every item, the end of the longest run that begins there and may sit on a device.

    That is the item itself where not even it may sit there.
    """
    ends = [len(pins)] * (len(pins) + 1)
    for item in reversed(range(len(pins))):
        pin = pins[item]
        ends[item] = ends[item + 1] if pin is None or pin.allows(device) else item
    return tuple(ends[:-1])


def keeps(pins: Sequence[Pin | None], runs: Sequence[tuple[int, int]], devices: Sequence[str]) -> bool:
    """Tell whether stages of these items on these devices put every item where it is pinned."""
    return all(
        pin is None or pin.allows(device)
        for (first, end), device in zip(runs, devices, strict=True)
        for pin in pins[first:end]
    )


def pin_of(layers: Sequence[Layer]) -> Pin | None:
    """Give the place of the layers of an item, which agree."""
    device = next((layer.device for layer in layers if layer.device is not None), None)
    site = next((layer.site for layer in layers if layer.site is not None), None)
    if device is not None:
        return Pin(device.rpartition("/")[0], device)
    return None if site is None else Pin(site)


def require_places(runs: Sequence[range], devices: Sequence[str], pins: Sequence[Pin | None]) -> None:
    """Require that a given cut puts every item where it is pinned.

    Raises
    ------
    SpecError
        If it does not.
    """
    faults = [
        Fault(
            f"/placement/layers_per_stage/{stage}",
            f"stage {stage} on {device} holds no layer that is pinned elsewhere; item {item} is pinned to {pin.place}",
            str(len(run)),
        )
        for stage, (run, device) in enumerate(zip(runs, devices, strict=False))
        for item in run
        if (pin := pins[item]) is not None and not pin.allows(device)
    ]
    if faults:
        raise SpecError(faults)
