"""`Pin`: where an item must sit; and which items no stage on a device may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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
