"""The arrangements that a spec's sites allow: which of them are used, and what crosses between them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from crosspipe.plans.models import BOTH, DATA, PIPELINE, SITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.plans.models import Kind

MOST_SITES = 4
"""With more sites than this, only all of them and each alone are compared."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Some of the sites, and what crosses between them."""

    kind: Kind
    sites: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name it for people and programs."""
        return f"{self.kind}: {', '.join(self.sites)}"


def candidates(sites: Sequence[str], data: int) -> list[Candidate]:
    """List the arrangements of some sites, those of all sites first; `data` is the number of replicas as given.

    Copies of every stage in every site, besides a pipeline through all of them (`both`), need a multiple of the sites
    as replicas.
    """
    return [
        Candidate(kind, chosen)
        for chosen in _chosen(sites)
        for kind in (PIPELINE, DATA, BOTH)
        if kind != BOTH or data % len(chosen) == 0
    ] + [Candidate(SITE, (site,)) for site in sites]


def _chosen(sites: Sequence[str]) -> Iterator[tuple[str, ...]]:
    if len(sites) > 1:
        yield tuple(sites)
    if len(sites) <= MOST_SITES:
        for count in reversed(range(2, len(sites))):
            yield from combinations(sites, count)


__all__ = ["MOST_SITES", "Candidate", "candidates"]
