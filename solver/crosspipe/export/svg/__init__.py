"""A schedule as a picture: an SVG timeline with the memory curves below it."""

from crosspipe.export.svg.caption import Caption
from crosspipe.export.svg.picture import timeline_svg

__all__ = ["Caption", "timeline_svg"]
