"""Orders of one pipeline that stands for many replicas as orders of these replicas modelled apart, and back.

Merged, the replicas' messages of one stage pair travel as one; apart, they take turns. If each follows the merged one's
orders, their messages one after another in its place, none arrives later than the merged message did, roundings to
nanoseconds aside: what is merged can be had apart at no loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind
from crosspipe.schedule.orders import Orders

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem


ALIKE = ("kind", "stage", "microbatch", "leg")
"""What an operation of a replica and the merged one have in common."""


def apart(merged: Problem, separate: Problem, orders: Orders) -> Orders | None:
    """Give every replica of `separate` the orders of `merged`; None if the two are not the same pipeline.

    On a lane that replicas share each message becomes theirs in turn, replica 0 first.
    """
    twins = _twins(merged, separate)
    if twins is None:
        return None
    ops = separate.operations
    sequences = []
    for resource in range(separate.resources):
        home = _counterpart(merged, separate, resource)
        if home is None:
            return None
        rows = twins[:, orders.sequences[home]].T
        # An extra operation is one for all replicas.
        once = (ops.kind[rows] != Kind.EXTRA) | (np.arange(rows.shape[1]) == 0)
        sequences.append(rows[(ops.resource[rows] == resource) & once])
    return Orders(tuple(sequences), orders.recomputed)


def first_of(separate: Problem, merged: Problem, orders: Orders) -> Orders | None:
    """Give the merged pipeline the orders of replica 0; None if the two are not the same pipeline."""
    twins = _twins(merged, separate)
    if twins is None:
        return None
    back = np.full(len(separate.operations), -1, dtype=np.int64)
    back[twins[0]] = np.arange(len(merged.operations))
    sequences: list[IntArray | None] = [None] * merged.resources
    for resource in range(separate.resources):
        home = _counterpart(merged, separate, resource)
        found = back[orders.sequences[resource]]
        if home is not None and sequences[home] is None:
            sequences[home] = found[found >= 0]
    if any(sequence is None for sequence in sequences):
        return None
    return Orders(tuple(sequence for sequence in sequences if sequence is not None), orders.recomputed)


def _twins(merged: Problem, separate: Problem) -> IntArray | None:
    """Operation of each replica by [replica, operation of `merged`]; an extra operation is the same one for all."""
    ours, theirs = merged.operations, separate.operations
    found = np.empty((separate.replicas, len(ours)), dtype=np.int64)
    extra, extras = np.flatnonzero(ours.kind == Kind.EXTRA), np.flatnonzero(theirs.kind == Kind.EXTRA)
    usual = np.flatnonzero(ours.kind != Kind.EXTRA)
    if len(extra) != len(extras):
        return None
    found[:, extra] = extras
    for replica in range(separate.replicas):
        # Both number their operations block by block, so the rows of a replica stand in the order of the merged ones.
        rows = np.flatnonzero((theirs.kind != Kind.EXTRA) & (theirs.replica == replica))
        if len(rows) != len(usual) or not all(
            np.array_equal(getattr(ours, column)[usual], getattr(theirs, column)[rows]) for column in ALIKE
        ):
            return None
        found[replica, usual] = rows
    return found


def _counterpart(merged: Problem, separate: Problem, resource: int) -> int | None:
    """Find the device or lane of `merged` that a resource of `separate` is a copy of."""
    devices = len(separate.devices)
    if resource < devices:
        return resource % separate.devices_per_replica
    name = separate.lanes[resource - devices].name
    first = len(merged.devices)
    return next((first + number for number, lane in enumerate(merged.lanes) if lane.name == name), None)
