"""What a torch CSV cannot enforce: where a real step may differ from the prediction, and on which lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule


MOST_NAMED = 8
"""Extra operations named one by one."""


def caveats(problem: Problem, schedule: Schedule) -> list[dict[str, object]]:
    """List the caveats that apply to a schedule, each with a stable `code`, a `message` and the lanes concerned."""
    found: list[dict[str, object]] = [
        {
            "code": "start_times",
            "message": "The file holds orders, not times: a rank runs its next action as soon as its input is there. "
            "With the durations given the real makespan is at most the predicted one where every lane serves one pair "
            "of ranks in one direction.",
        },
        {
            "code": "late_receives",
            "message": "The prediction lets a message leave when it is produced. Torch posts a receive next to the "
            "peer's send; over a rendezvous transport such as gloo a receive posted late costs a round trip.",
        },
    ]
    if shared := _shared_lanes(problem):
        found.append(
            {
                "code": "shared_lane",
                "message": "These lanes serve several pairs of ranks or several replicas. Torch does not enforce the "
                "order between them, so messages may meet in another order than planned, and the step may take longer.",
                "lanes": shared,
            }
        )
    if overtaken := _reordered_lanes(problem, schedule):
        found.append(
            {
                "code": "reordered_lane",
                "message": "On these lanes the schedule sends messages in another order than they are produced; torch "
                "sends them in the order of production.",
                "lanes": overtaken,
            }
        )
    if windows := [lane.name for lane in problem.lanes if lane.windows]:
        found.append(
            {
                "code": "windows",
                "message": "The schedule knows the windows in which these lanes are closed or slower; torch does not, "
                "and sends as soon as a message is there.",
                "lanes": _unique(windows),
            }
        )
    if problem.extras:
        names = ", ".join(name for name, _ in problem.extras[:MOST_NAMED])
        if len(problem.extras) > MOST_NAMED:
            names += f" and {len(problem.extras) - MOST_NAMED} more"
        found.append({"code": "extra_operations", "message": f"Not in the file, run them yourself: {names}."})
    if problem.recomputed:
        stages = ", ".join(map(str, sorted(problem.recomputed)))
        found.append({"code": "recompute", "message": f"Wrap these stages in activation checkpointing: {stages}."})
    if problem.merged_replicas > 1:
        found.append(
            {
                "code": "merged_replicas",
                "message": f"One modelled pipeline stands for {problem.merged_replicas} real ones: run the same file "
                "in each; on links that they share, their messages are taken to travel together.",
            }
        )
    return found


def _unique(names: list[str]) -> list[str]:
    """Drop repeated names, keeping the order."""
    return list(dict.fromkeys(names))


def _shared_lanes(problem: Problem) -> list[str]:
    """Name the lanes that serve more than one ordered pair of ranks, or several modelled replicas."""
    pairs: dict[int, set[tuple[int, int]]] = {}
    for hop in problem.hops:
        for resource in hop.lanes:
            pairs.setdefault(resource, set()).add((hop.sender, hop.receiver))
    names = []
    for resource, served in sorted(pairs.items()):
        lane = problem.lanes[resource - len(problem.devices)]
        if len(served) > 1 or (problem.replicas > 1 and lane.replica is None):
            names.append(lane.name)
    return _unique(names)


def _reordered_lanes(problem: Problem, schedule: Schedule) -> list[str]:
    """Name the lanes on which a transfer starts before one whose message was produced strictly earlier."""
    ops, links = problem.operations, problem.precedences
    produced = np.zeros(len(ops), dtype=np.int64)
    feeds = np.isin(ops.kind[links.after], (Kind.ACTIVATION, Kind.GRADIENT))
    np.maximum.at(produced, links.after[feeds], schedule.end_ns[links.before[feeds]] + links.lag_ns[feeds])
    names = []
    for lane, sequence in zip(problem.lanes, schedule.orders.sequences[len(problem.devices) :], strict=True):
        messages = sequence[ops.kind[sequence] < Kind.EXTRA]
        if np.any(np.diff(produced[messages]) < 0):
            names.append(lane.name)
    return _unique(names)
