"""Colours: told apart by lightness as well as by hue, so that colour-blind readers and grey printers see them too.

Blue, orange and green are those of Okabe and Ito (2008), moved in lightness until F is dark, B middle and W light.
"""

from __future__ import annotations

from types import MappingProxyType

from crosspipe.problem.operations import Kind

INK = "#1b2733"
LABEL_INK = "#0b1219"
SOFT_INK = "#5b6875"
PAPER = "#ffffff"
GRID = "#dde3e9"
IDLE = "#eef1f4"
LANE_IDLE = "#f4f6f8"
HATCH = "#8b96a1"
LIMIT = "#b3261e"
MEMORY = "#5e548e"

FILLS = MappingProxyType(
    {
        Kind.F: "#1f5fa8",
        Kind.B: "#e5870c",
        Kind.W: "#9bd1ad",
        Kind.BW: "#b84c08",
        Kind.ACTIVATION: "#3f8fd2",
        Kind.GRADIENT: "#d8740a",
        Kind.EXTRA: "#6b5b73",
    }
)
"""Fill of each kind of operation."""

NAMES = MappingProxyType(
    {
        Kind.F: "F forward",
        Kind.B: "B input gradient",
        Kind.W: "W weight gradient",
        Kind.BW: "BW full backward",
        Kind.ACTIVATION: "activation message",
        Kind.GRADIENT: "gradient message",
        Kind.EXTRA: "extra operation",
    }
)
"""What the legend calls each kind."""

PALEST = MappingProxyType({Kind.F: 0.62, Kind.B: 0.62, Kind.W: 0.5, Kind.BW: 0.62})
"""How far towards white the palest stage shade goes; W is light to begin with and must not fade into idle time."""


def shade(kind: Kind, held: int, stages: int) -> str:
    """Return the fill of an operation of the `held`-th of `stages` stages on a device: later stages are paler."""
    if stages <= 1 or not kind.is_compute:
        return FILLS[kind]
    return _towards_white(FILLS[kind], PALEST[kind] * held / max(stages - 1, 2))


def ink_on(fill: str) -> str:
    """Return the text colour, dark or white, that has the better contrast on a fill (WCAG relative luminance)."""
    luminance = sum(
        weight * _linear(channel) for weight, channel in zip((0.2126, 0.7152, 0.0722), _rgb(fill), strict=True)
    )
    return PAPER if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.056 else LABEL_INK


def _rgb(colour: str) -> tuple[int, int, int]:
    """Split `#rrggbb`."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _linear(channel: int) -> float:
    """Undo the sRGB transfer curve."""
    value = channel / 255
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def mixed(colour: str, other: str, part: float) -> str:
    """Mix a colour with `part` of another."""
    pairs = zip(_rgb(colour), _rgb(other), strict=True)
    return "#" + "".join(f"{round(one + (two - one) * part):02x}" for one, two in pairs)


def _towards_white(colour: str, part: float) -> str:
    """Mix a colour with white."""
    return mixed(colour, PAPER, part)
