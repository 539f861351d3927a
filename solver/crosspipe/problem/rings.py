"""A collective round a ring of places as extra operations: one per link and piece, on the link's lane.

Over n places one phase (reduce-scatter or gather) of `size` takes (n - 1)(latency + size / n x time per byte), an
all-reduce two of them (CrossPipe, arXiv 2507.00217, appendix on data parallelism across datacenters). What is sent
occupies the lanes of all links at once; the latency occupies nothing and follows as a lag.

Pieces of one collective are alike, so they keep their order on each link: in any schedule their places can be
exchanged until they do, which loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.problem.ends import NOTHING, Ends
from crosspipe.problem.rounding import to_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from crosspipe.problem.channels import Channel, Passage
    from crosspipe.problem.extras import Extras
    from crosspipe.problem.network import Network
    from crosspipe.problem.ranks import Rank


@dataclass(frozen=True, slots=True)
class Round:
    """One collective round a ring.

    Attributes
    ----------
    name
        What its operations are called.
    phases
        1 for a reduce-scatter or a gather, 2 for an all-reduce.
    size_mb
        What each place holds before (or after) it.
    pieces
        Number of like parts it is cut into.
    """

    name: str
    phases: int
    size_mb: Fraction
    pieces: int = 1


class Ring:
    """Places joined one after the other; `numbers` are the operations on its links.

    Parameters
    ----------
    places
        The places in order; the last is joined to the first.
    network
        Where the way from one to the next is looked up.
    weight
        Multiplies what a channel carries: several replicas may use it at a time, or have a part of it each.

    Raises
    ------
    LookupError
        If nothing joins two of them; its arguments are their names.
    """

    def __init__(self, places: Sequence[Rank], network: Network, weight: Callable[[Channel], Fraction]) -> None:
        self._steps = len(places) - 1
        self._weight = weight
        self._ways: list[tuple[str, tuple[Passage, ...]]] = []
        self.numbers: list[int] = []
        for sender, receiver in pairwise([*places, places[0]]):
            way = network.route(sender, receiver)
            if way is None:
                raise LookupError(sender.name, receiver.name)
            self._ways.append((f"{sender.name}->{receiver.name}", way))

    def add(self, what: Round, start: Ends, extras: Extras) -> Ends:
        """Add a collective that begins after `start`."""
        ends = NOTHING
        for way, passages in self._ways:
            legs = [self._leg(what, passage) for passage in passages]
            before: list[int] = []
            for piece in range(what.pieces):
                told = f", piece {piece + 1} of {what.pieces}" if what.pieces > 1 else ""
                before, arrived = self._piece(f"{what.name}, {way}{told}", legs, start, before, extras)
                ends += arrived
        return ends

    def _leg(self, what: Round, passage: Passage) -> tuple[Passage, int, int]:
        """Time what one piece, all of its rounds, takes to send over one link, and to arrive after that, in ns."""
        rounds = what.phases * self._steps
        size = what.size_mb / (self._steps + 1) / what.pieces * self._weight(passage.channel)
        return passage, to_ns(rounds * passage.timing.bulk_ms(size)), to_ns(rounds * passage.latency_ms)

    def _piece(
        self, name: str, legs: list[tuple[Passage, int, int]], start: Ends, before: list[int], extras: Extras
    ) -> tuple[list[int], Ends]:
        """Add one piece on one way, each of its links after the piece before; return its operations and its arrival."""
        numbers: list[int] = []
        arrived = NOTHING if before else start  # what comes after the piece before comes after the start
        for leg, (passage, sent_ns, lag_ns) in enumerate(legs):
            told = name if len(legs) == 1 else f"{name}, link {leg + 1}"
            if before:
                arrived += Ends.of(before[leg])
            number = extras.on_lane(told, passage.channel, passage.direction, sent_ns, arrived)
            numbers.append(number)
            arrived = Ends.of(number, lag_ns)
        self.numbers += numbers
        return numbers, arrived
