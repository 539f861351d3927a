"""What `gradients` comes to: per stage a gather before its first F, a reduce after its last W, memory in between.

With `full` sharding the gathered weights are held from the gather's start to a reshard of no length after the stage's
last backward work, as PyTorch's pipelining runtime does for up to three stages of a device (`_add_unshard_reshard`).
With more, it would gather some several times a step; here they then stay gathered.

What is gathered counts as held throughout (`Pool.kept`) on a device where nothing else takes memory but an F that has
a backward, for then capacity binds at starts of F's alone, and binds as if all were gathered. Let F of microbatch n on
stage i start. No stage u of the device has been resharded: that waits for the backward of n on u, which comes after F
of n on every stage. And if u has not been gathered, no F of u has started; so u > i, no backward of any stage of the
device can have run, as it waits for u, and what is held stays until the first F of u starts: if all fits then, beside
all that is gathered by then, it fits now. Elsewhere what takes the memory has a place in the order of the device, so
that orders say when.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.errors import Fault, SpecError, TooLargeError
from crosspipe.problem.collectives import Collectives
from crosspipe.problem.ends import NOTHING, Ends
from crosspipe.problem.operations import Kind
from crosspipe.problem.rings import Ring, Round
from crosspipe.problem.rounding import to_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.channels import Channel
    from crosspipe.problem.extras import Extras
    from crosspipe.problem.network import Network
    from crosspipe.problem.problem import Pool
    from crosspipe.problem.ranks import Rank
    from crosspipe.problem.work import StageWork
    from crosspipe.spec.gradients import Gradients
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Stage

MOST_GATHERED = 3
"""Stages of a device that are gathered once and given back; with more, they stay gathered."""

MOST_PIECES = 100_000
"""Pieces of all stages on all links together."""


class StepGradients:
    """Adds the collectives of one placement; `pools` is changed in place to tell what is kept.

    Raises
    ------
    SpecError
        If nothing joins two places that sum.
    TooLargeError
        If the pieces of all stages are too many.
    """

    def __init__(
        self,
        spec: Spec,
        gradients: Gradients,
        stages: Sequence[Stage],
        device_of_stage: Sequence[int],
        ranks: Sequence[Rank],
        work: Sequence[StageWork],
        network: Network,
        extras: Extras,
        pools: list[Pool],
        copies: int,
    ) -> None:
        pieces = gradients.pieces * len(stages) * len(spec.sites)
        if pieces > MOST_PIECES:
            rule = f"pieces x stages x sites must stay within {MOST_PIECES}"
            value = f"{gradients.pieces} x {len(stages)} x {len(spec.sites)} = {pieces}"
            raise TooLargeError([Fault("/gradients/pieces", rule, value)])
        self._spec, self._gradients, self._stages, self._place = spec, gradients, stages, device_of_stage
        self._ranks, self._work, self._network, self._extras = ranks, work, network, extras
        self._pools, self._copies = pools, copies
        self._tied_between_sites: list[int] = []
        try:
            self._collectives = Collectives(spec, gradients, ranks, network, extras)
        except LookupError as error:
            raise _unjoined("/links", "the ring of sites", error) from error

    @property
    def between_sites(self) -> tuple[int, ...]:
        """Operations that stand for traffic between sites."""
        return (*self._tied_between_sites, *self._collectives.between_sites)

    def add(self) -> None:
        """Add what every stage asks for; nothing but tied sums where each has one copy."""
        tied = self._tied()
        if self._collectives.copies == 1:
            return
        for stage in range(len(self._stages)):
            self._gather(stage)
            self._reduce(stage, tied.get(stage, NOTHING))
        if self._gradients.sharding == "full":
            self._keep()

    def _gather(self, stage: int) -> None:
        sharding, given = self._gradients.sharding, self._stages[stage]
        if given.weights_mb is None or sharding == "none" or (sharding == "zero1" and not self._trains(stage)):
            return
        name = f"gather of stage {stage}"
        held = sharding == "full"
        begin = self._begin(stage, name) if held else NOTHING
        ends = self._collectives.gather(name, self._place[stage], given.weights_mb, begin)
        if held:
            self._hold(stage, begin if begin.rows else ends)
        if len(ends.rows) > 1:
            ends = Ends.of(self._extras.single(f"{name}, end", after=ends))
        self._extras.before_forward(stage, ends)

    def _begin(self, stage: int, name: str) -> Ends:
        """Add what takes the memory, where the gather itself does not.

        Between sites it begins on several lanes, and the first of them counts. And where it matters when memory is
        taken, that has its place in the order of every replica's device.
        """
        place, replicas = self._place[stage], self._extras.builder.shape[0]
        if not self._binds_at_forwards(place) and not self._stays_gathered(place):
            begins = NOTHING
            for replica in range(replicas):
                which = f", replica {replica}" if replicas > 1 else ""
                begins += Ends.of(self._extras.single(f"{name}, begin{which}", 0, replica * len(self._ranks) + place))
            return begins
        return Ends.of(self._extras.single(f"{name}, begin")) if self._collectives.in_several_sites else NOTHING

    def _reduce(self, stage: int, after: Ends) -> None:
        given, name = self._stages[stage], f"reduce of stage {stage}"
        if given.reduced_mb is None or not self._trains(stage):
            return
        how = self._collectives.all_reduce if self._gradients.sharding == "none" else self._collectives.reduce_scatter
        self._end(name, how(name, self._place[stage], given.reduced_mb, self._extras.last(stage) + after))

    def _tied(self) -> dict[int, Ends]:
        """Add the sums of tied weights; tell what the reduce of each stage then waits for."""
        found: dict[int, Ends] = {}
        for group in self._gradients.tied:
            places = [self._ranks[device] for device in dict.fromkeys(self._place[stage] for stage in group)]
            if len(places) == 1 or self._gradients.tied_mb is None:
                continue
            name = f"sum of tied stages {', '.join(map(str, group))}"
            try:
                ring = Ring(places, self._network, self._messages)
            except LookupError as error:
                raise _unjoined("/gradients/tied", f"stages {', '.join(map(str, group))}", error) from error
            start = sum((self._extras.last(stage) for stage in group), NOTHING)
            ends = ring.add(Round(name, 2, Fraction(self._gradients.tied_mb)), start, self._extras)
            if len({place.site for place in places}) > 1:
                self._tied_between_sites += ring.numbers
            found |= dict.fromkeys(group, self._end(name, ends))
        return found

    def _end(self, name: str, ends: Ends) -> Ends:
        """Let what is sent last arrive before the step ends: its latency counts."""
        return Ends.of(self._extras.single(f"{name}, end", after=ends)) if ends.lag_ns else ends

    def _hold(self, stage: int, begin: Ends) -> None:
        """Hold the gathered weights on every replica's device from `begin` until the stage's work there is done."""
        amount, place = self._gathered_bytes(stage), self._place[stage]
        replicas = self._extras.builder.shape[0]
        for replica in range(replicas):
            pool = replica * len(self._ranks) + place
            if self._stays_gathered(place):
                self._pools[pool] = replace(self._pools[pool], base=self._pools[pool].base + amount)
                continue
            which = f", replica {replica}" if replicas > 1 else ""
            done = Ends(tuple((rows[replica : replica + 1], lag) for rows, lag in self._extras.last(stage).rows))
            given_by = self._extras.single(f"reshard of stage {stage}{which}", after=done)
            taken_by = begin.numbers[replica if len(begin.rows) == replicas else 0]
            self._extras.builder.keep(pool, taken_by, given_by, amount)

    def _keep(self) -> None:
        """Count as kept what is held whenever capacity binds (see the module)."""
        for number, pool in enumerate(self._pools):
            place = number % len(self._ranks)
            if pool.unit == "bytes" and self._binds_at_forwards(place) and not self._stays_gathered(place):
                kept = sum(map(self._gathered_bytes, self._stages_on(place)))
                self._pools[number] = replace(pool, kept=kept)

    def _stages_on(self, place: int) -> list[int]:
        return [stage for stage, device in enumerate(self._place) if device == place]

    def _stays_gathered(self, place: int) -> bool:
        return len(self._stages_on(place)) > MOST_GATHERED

    def _binds_at_forwards(self, place: int) -> bool:
        """Whether capacity binds at starts of F's alone (see the module)."""
        return all(map(self._only_forward_takes, self._stages_on(place)))

    def _only_forward_takes(self, stage: int) -> bool:
        """Whether the stage has a backward, which takes nothing whatever recompute option holds."""
        option = self._stages[stage].recompute_option
        extra = self._stages[stage].backward_extra_mb or (option is not None and option.backward_extra_mb)
        return self._work[stage].backward is not None and not extra

    def _gathered_bytes(self, stage: int) -> int:
        """Weights of the whole stage on one accelerator of a tensor group."""
        tensor = self._spec.parallel.tensor
        return to_bytes(Fraction(self._stages[stage].weights_mb or 0) / (tensor if isinstance(tensor, int) else 1))

    def _trains(self, stage: int) -> bool:
        return not {Kind.W, Kind.BW}.isdisjoint(self._work[stage].durations_ns)

    def _messages(self, channel: Channel) -> Fraction:
        """Count the sums that a channel carries at a time: those of all replicas, merged or not, if they share it."""
        return Fraction(1 if channel.per_replica else self._copies)


def _unjoined(pointer: str, what: str, error: LookupError) -> SpecError:
    sender, receiver = error.args
    return SpecError(
        [Fault(pointer, f"{what} must be joined all the way round: nothing leads from {sender} to {receiver}")]
    )
