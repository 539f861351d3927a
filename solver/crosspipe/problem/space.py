"""An open assignment in integers: what any run of items costs on any device, and any hop between two devices.

All numbers are those that the compiled problem of an assignment has, or less where it depends on more than the run and
its device (unlike microbatches: the least; closed windows and queues: none), so that bounds made of them are valid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.costs.estimate import EstimatedModel
from crosspipe.costs.layers import MeasuredLayers
from crosspipe.costs.pins import keeps, reach
from crosspipe.problem.network import Network
from crosspipe.problem.operations import Kind
from crosspipe.problem.ranks import copies_of, ranks_of
from crosspipe.problem.rounding import to_bytes, to_ns
from crosspipe.problem.work import stage_work
from crosspipe.spec.stages import Microbatches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.costs.assignment import Assignment
    from crosspipe.costs.pins import Pin
    from crosspipe.costs.preparation import Preparation
    from crosspipe.problem.ranks import Rank
    from crosspipe.problem.work import StageWork
    from crosspipe.spec.model import Recompute, Spec
    from crosspipe.spec.stages import RecomputeOption, Stage

UNREACHABLE = 2**58
"""Stands for the time of a hop between devices that nothing joins."""

ROUNDINGS_NS = 4 * 1000
"""Most that F, B, W and recomputation of an estimate lose or gain: each is rounded to 0.001 ms, and at least that."""


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """Devices that are alike in speed, memory and every link.

    Attributes
    ----------
    devices
        Their numbers, in the user's order.
    rank
        One of them.
    """

    devices: tuple[int, ...]
    rank: Rank


@dataclass(frozen=True, slots=True)
class Run:
    """Items in a row on one device, in integers.

    Attributes
    ----------
    forward_ns, backward_ns, weight_ns
        Times of F, B (or BW) and W of one microbatch.
    load_ns
        Times of all microbatches together.
    in_flight
        Most microbatches whose activations fit at once before the first B ends; 0: not even one, or an item is pinned
        elsewhere.
    held
        Most microbatches between their F and the end of their last operation.
    trains
        Whether it has a backward.
    amounts
        Bytes of a microbatch held from F to the end of B, from F to the end of all, and from the start of B on.
    free_bytes
        Memory beside what is held all the time, None = unlimited.
    """

    forward_ns: int
    backward_ns: int
    weight_ns: int
    load_ns: int
    in_flight: int
    held: int
    trains: bool
    amounts: tuple[int, int, int]
    free_bytes: int | None

    @property
    def times_ns(self) -> tuple[int, int, int]:
        """Times of F, B and W of one microbatch."""
        return self.forward_ns, self.backward_ns, self.weight_ns


class Space:
    """All assignments that a spec leaves open, one stage to a device.

    Attributes
    ----------
    items, longest
        Items of the chain, and most of them in one run.
    classes
        The devices, those alike together; each one its own class where the order is given.
    given_order, leave_unused
        Whether stages take the devices in the user's order, and whether some may stay without.
    class_of
        Class of each device, by the device's number.
    microbatches
        Their number.
    """

    def __init__(
        self,
        preparation: Preparation,
        *,
        given_order: bool,
        ways: tuple[Recompute, ...],
        cut: tuple[tuple[int, int], ...] | None = None,
    ) -> None:
        self._preparation, self._ways = preparation, ways
        self._cut = None if cut is None else frozenset(cut)
        spec = preparation.expand().spec
        self._spec, self._network = spec, Network(spec)
        self._ranks = ranks_of(spec)
        self.given_order, self.leave_unused = given_order, preparation.spec.placement.leave_unused
        source = preparation.source
        self._pins = source.pins() if isinstance(source, MeasuredLayers) else (None,) * source.item_count
        self.classes = _classes(self._ranks, spec, self._pins, apart=given_order)
        self._reaches = tuple(reach(self._pins, one.rank.name) for one in self.classes)
        self.class_of = {number: place for place, one in enumerate(self.classes) for number in one.devices}
        self.items = preparation.source.item_count
        self._estimated = isinstance(source, EstimatedModel)
        self.longest = preparation.source.longest_run
        self._multipliers = _multipliers(spec)
        self.microbatches = len(self._multipliers)
        self._runs: dict[tuple[int, int, Decimal, int | None, Recompute], Run] = {}
        self._copies = copies_of(spec) if spec.parallel.replica_messages == "merged" else 1
        self._least = min(self._multipliers)

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """The devices of one replica."""
        return self._ranks

    @property
    def open_ways(self) -> tuple[Recompute, ...]:
        """The ways of recomputing that the spec leaves open."""
        return self._ways

    @property
    def spec(self) -> Spec:
        """The spec, expanded with its even cut."""
        return self._spec

    @property
    def least_multiplier(self) -> Decimal:
        """Length of the shortest microbatch."""
        return self._least

    @property
    def devices(self) -> int:
        """Devices of one replica."""
        return len(self._ranks)

    def allows(self, first: int, end: int) -> bool:
        """Whether these items may be a stage: any run not too long, or only those of a given cut."""
        return end - first <= self.longest if self._cut is None else (first, end) in self._cut

    def ways(self, first: int, end: int) -> tuple[Recompute, ...]:
        """List what a run may recompute."""
        possible = self._preparation.source.recompute_ways(first, end)
        return tuple(way for way in self._ways if way in possible) or ("none",)

    def stage(self, first: int, end: int, way: Recompute) -> Stage:
        """Give a run as a stage."""
        return self._preparation.source.stage(first, end, self._preparation.degrees, way)

    def run(self, first: int, end: int, device_class: int, way: Recompute) -> Run:
        """Give what a run costs on a device of a class."""
        rank = self.classes[device_class].rank
        key = (first, end, rank.time_factor, rank.capacity_bytes, way)
        if key not in self._runs:
            self._runs[key] = self._run(self.stage(first, end, way), rank)
        return self._runs[key] if self.may_hold(first, end, device_class) else replace(self._runs[key], in_flight=0)

    @property
    def pinned(self) -> bool:
        """Whether items have places of their own."""
        return any(self._pins)

    def may_hold(self, first: int, end: int, device_class: int) -> bool:
        """Whether none of these items is pinned elsewhere than to a device of a class."""
        return end <= self._reaches[device_class][first]

    def keeps_pins(self, assignment: Assignment) -> bool:
        """Whether an assignment puts every item where it is pinned."""
        return keeps(self._pins, assignment.runs, [self._ranks[device].name for device in assignment.devices])

    def permits(self, assignment: Assignment) -> bool:
        """Whether the spec leaves an assignment open: its cut, its devices and their order, and what it recomputes."""
        stages, devices = len(assignment.ends), assignment.devices
        return (
            len(set(devices)) == stages == len(devices)
            and (self.leave_unused or stages == min(self.devices, self.items))
            and (not self.given_order or list(devices) == sorted(devices))
            and all(
                self.allows(*run) and way in self.ways(*run)
                for run, way in zip(assignment.runs, assignment.recompute, strict=True)
            )
            and self.keeps_pins(assignment)
        )

    def least_load_ns(self) -> int:
        """Bound the makespan of any assignment by all work on devices that share it out as they like.

        A device is busy for the work of its items times its factor, each rounded to 1 ns; so the makespan is at least
        the work of all items at a factor of 1 over the sum of the devices' speeds. Estimated times of an item and of a
        stage are each rounded to 0.001 ms before.
        """
        speeds = sum((1 / Fraction(rank.time_factor) for rank in self._ranks), Fraction(0))
        slack = 3 * self.microbatches
        grain = ROUNDINGS_NS * sum(map(Fraction, self._multipliers), Fraction(0)) if self._estimated else Fraction(0)
        work = Fraction(0)
        for item in range(self.items):
            least = min(self.run(item, item + 1, 0, way).load_ns for way in self.ways(item, item + 1))
            work += max(Fraction(0), max(0, least - slack) / Fraction(self.classes[0].rank.time_factor) - grain)
        return max(0, math.floor((work - self.devices * grain) / speeds) - slack)

    def hop_ns(self, end: int, sender: int, receiver: int, way: Recompute, kind: Kind) -> int:
        """Give the time of a message at a boundary between devices of two classes, on its way for the first time.

        The boundary is that after item `end - 1`; a gradient goes from `receiver` back to `sender`.
        """
        lower = self.stage(end - 1, end, way)
        size = lower.boundary_mb
        if kind is Kind.GRADIENT and lower.gradient_mb is not None:
            size = lower.gradient_mb
        first, second = self._pair(sender, receiver)
        if second is None:
            return UNREACHABLE
        route = self._network.route(first, second) if kind is Kind.ACTIVATION else self._network.route(second, first)
        if route is None:
            return UNREACHABLE
        return sum(
            to_ns(
                passage.timing.transfer_ms(size, 1 if passage.channel.per_replica else self._copies)
                * self._fraction_of_least
            )
            + to_ns(passage.latency_ms)
            for passage in route
        )

    @property
    def _fraction_of_least(self) -> int:
        return 1 if self._least >= 1 else 0

    def _pair(self, sender: int, receiver: int) -> tuple[Rank, Rank | None]:
        """Two devices of the classes, unlike ones; None if there is only one."""
        devices = [self.classes[place].devices for place in (sender, receiver)]
        first = self._ranks[devices[0][0]]
        other = next((number for number in devices[1] if number != devices[0][0]), None)
        return first, None if other is None else self._ranks[other]

    def _run(self, stage: Stage, rank: Rank) -> Run:
        works = [self._work(stage, rank, None)]
        if stage.recompute_option is not None:
            works.append(self._work(stage, rank, stage.recompute_option))
        static = to_bytes(stage.static_mb)
        held = works[0].until_backward_bytes, works[0].retained_bytes, works[0].extra_bytes
        backwards = [work.durations_ns[work.backward] for work in works if work.backward is not None]
        forward = works[0].durations_ns[Kind.F]
        weight = works[0].durations_ns.get(Kind.W)
        load = int(forward.sum()) + (0 if weight is None else int(weight.sum()))
        if backwards:
            load += min(int(backward.sum()) for backward in backwards)
        counts = [_in_flight(work, static, rank.capacity_bytes, self.microbatches) for work in works]
        return Run(
            int(forward.min()),
            min((int(backward.min()) for backward in backwards), default=0),
            0 if weight is None else int(weight.min()),
            load,
            self._capped(max(count for count, _ in counts)),
            self._capped(max(held for _, held in counts)),
            bool(backwards),
            (int(held[0].min()), int(held[1].min()), int(held[2].min())),
            None if rank.capacity_bytes is None else rank.capacity_bytes - static,
        )

    def _capped(self, count: int) -> int:
        caps = self._spec.limits.in_flight
        if isinstance(caps, list):
            known = [cap for cap in caps if cap is not None]
            return min(count, max(known)) if len(known) == len(caps) else count
        return count if caps is None else min(count, caps)

    def _work(self, stage: Stage, rank: Rank, option: RecomputeOption | None) -> StageWork:
        split = self._spec.training.split_backward
        return stage_work(stage, rank.time_factor, self._multipliers, split, option)


def _in_flight(work: StageWork, static: int, capacity: int | None, microbatches: int) -> tuple[int, int]:
    """Count the microbatches that fit before their B ends, and before their last operation ends."""
    if capacity is None:
        return microbatches, microbatches
    free = capacity - static
    whole = int((work.until_backward_bytes + work.retained_bytes).min())
    retained, extra = int(work.retained_bytes.min()), int(work.extra_bytes.min())
    if free < whole + (extra if work.backward is not None else 0):
        return 0, 0
    count = microbatches if whole == 0 else min(microbatches, free // whole)
    held = microbatches if retained == 0 else min(microbatches, 1 + (free - whole) // retained)
    return count, held


def _multipliers(spec: Spec) -> list[Decimal]:
    given = spec.training.microbatches
    if isinstance(given, Microbatches):
        return list(given.multipliers)
    return [Decimal(1)] * (given or 0)


def _classes(
    ranks: tuple[Rank, ...], spec: Spec, pins: Sequence[Pin | None], *, apart: bool
) -> tuple[DeviceClass, ...]:
    """Put devices together that no field of the spec and no pin tells apart."""
    named = {place for link in spec.links for place in (*(link.between or ()), link.from_, link.to) if place}
    named |= {extra.device for extra in spec.extra_operations if extra.device is not None}
    named |= {pin.device for pin in pins if pin is not None and pin.device is not None}
    groups: dict[object, list[int]] = {}
    for number, rank in enumerate(ranks):
        alike = (rank.site, rank.time_factor, rank.capacity_bytes)
        groups.setdefault(rank.name if apart or rank.name in named else alike, []).append(number)
    return tuple(DeviceClass(tuple(numbers), ranks[numbers[0]]) for numbers in groups.values())
