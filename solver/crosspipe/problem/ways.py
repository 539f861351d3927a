"""The way of a message between devices that no link joins directly: over as few links as possible."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crosspipe.problem.channels import Passage
    from crosspipe.problem.ranks import Rank

    Way = tuple[Fraction, tuple[int, ...], tuple[Passage, ...]]
    """Latency, places of its links in the spec, and the links."""


class Ways:
    """Finds ways over several links.

    A message that has reached a site goes on from any of its devices; one that has reached a device goes on from there,
    from its site, or over a hop inside the site to a device at which another link begins.

    Parameters
    ----------
    links
        Links by their two places (sites or devices), in the order of the spec.
    site_of
        Site of a place.
    inside
        The hop between two devices of one site.
    """

    def __init__(
        self,
        links: Mapping[tuple[str, str], Passage],
        site_of: Callable[[str], str],
        inside: Callable[[str, str], Passage],
    ) -> None:
        self._site_of, self._inside, self._after_links = site_of, inside, len(links)
        self._from: dict[str, dict[str, tuple[int, Passage]]] = {}
        self._within: dict[str, list[str]] = {}
        for number, ((start, to), passage) in enumerate(links.items()):
            if start not in self._from:
                self._within.setdefault(site_of(start), []).append(start)
            self._from.setdefault(start, {})[to] = (number, passage)

    def fewest(self, sender: Rank, receiver: Rank) -> tuple[Passage, ...] | None:
        """Find the way of fewest links between devices of two sites, None if there is none.

        Of several the one of least latency, and of those the one whose links stand first in the spec.
        """
        goals = {receiver.name, receiver.site}
        reached: dict[str, Way] = {sender.name: (Fraction(0), (), ())}
        front = reached
        while front and not goals & front.keys():
            found: dict[str, Way] = {}
            for place, (latency, numbers, way) in front.items():
                for to, (number, passage) in self._onward(place, receiver.name):
                    longer = (latency + passage.latency_ms, (*numbers, number), (*way, passage))
                    if to not in reached and (to not in found or longer[:2] < found[to][:2]):
                        found[to] = longer
            reached = reached | found
            front = found
        ways = [front[goal] for goal in goals & front.keys()]
        return min(ways, key=lambda way: way[:2])[2] if ways else None

    def _onward(self, place: str, goal: str) -> Iterator[tuple[str, tuple[int, Passage]]]:
        """List the places one link further, with the link and its place in the spec; hops inside a site stand last."""
        site = self._site_of(place)
        if place == site:
            for start in self._within.get(site, ()):
                yield from self._from[start].items()
            return
        # A link that names the device itself stands before that of its site, as it does where one link is enough.
        links = self._from.get(site, {}) | self._from.get(place, {})
        yield from links.items()
        for other in (*self._within.get(site, ()), goal):
            if other not in (place, site, *links) and self._site_of(other) == site:
                yield other, (self._after_links, self._inside(place, other))
