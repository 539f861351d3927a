"""The JSON beside a torch CSV: everything the CSV cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.errors import NeverOpensError
from crosspipe.export.letters import MEANING, TORCH_LETTERS
from crosspipe.export.torch_caveats import caveats
from crosspipe.export.torch_stage_zero import under_torch
from crosspipe.problem.operations import Kind
from crosspipe.schedule.measure import makespan_ns, peaks
from crosspipe.schedule.orders import Orders
from crosspipe.schedule.replay import replay

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

NS_PER_MS = 1_000_000
BYTES_PER_MB = 1_000_000


def sidecar(
    problem: Problem, schedule: Schedule, replica: int, renumbered: tuple[int, ...], whole: frozenset[int]
) -> dict[str, object]:
    """Describe an exported schedule.

    Parameters
    ----------
    problem
        With the recompute options of the schedule applied.
    schedule, replica
        What was exported.
    renumbered
        Torch's number of each microbatch.
    whole
        Microbatches whose backward on stage 0 was written as one full backward.

    Returns
    -------
    dict
        JSON-ready; times in ms, sizes in MB (10^6 bytes).
    """
    ranks = [_rank(problem, schedule, replica, rank) for rank in range(problem.devices_per_replica)]
    return {
        "format": "torch-csv",
        "schedule_format": "compute_only",
        "torch": {
            "from": "2.6",
            "to": "2.13",
            "load": '_PipelineScheduleRuntime(stages, n_microbatches, loss_fn)._load_csv(path, format="compute_only")',
            "note": "A private interface of torch. In 2.6 the constructor takes the map as stage_index_to_group_rank; "
            "later versions infer it from the rows.",
        },
        "letters": [
            {"crosspipe": kind.name, "torch": letter, "meaning": MEANING[letter]}
            for kind, letter in TORCH_LETTERS.items()
        ],
        "digest": problem.digest,
        "traversal": problem.traversal,
        "num_stages": len(problem.stages),
        "num_microbatches": problem.microbatches,
        "stage_to_rank": [stage.device for stage in problem.stages],
        "layers_of_stage": [stage.layers for stage in problem.stages],
        "ranks": ranks,
        "microbatches": _numbering(problem, renumbered),
        "replicas": {
            "exported": replica,
            "modelled": problem.replicas,
            "each_stands_for": problem.merged_replicas,
            "same_order_in_all": _same_order(problem, schedule),
        },
        "recomputed_stages": sorted(problem.recomputed),
        "durations_ms": [_durations(problem, replica, stage, renumbered) for stage in range(len(problem.stages))],
        "predicted_makespan_ms": makespan_ns(schedule) / NS_PER_MS,
        "stage_0": _stage_zero(problem, schedule, replica, renumbered, whole),
        "caveats": caveats(problem, schedule),
    }


def _rank(problem: Problem, schedule: Schedule, replica: int, rank: int) -> dict[str, object]:
    """Place one rank and predict its memory."""
    number = replica * problem.devices_per_replica + rank
    device = problem.devices[number]
    peak, capacity = _memory(problem, schedule, number)
    return {
        "rank": rank,
        "device": device.name,
        "site": device.site,
        "stages": list(device.stages),
        "predicted_peak_memory_mb": None if peak is None else peak / BYTES_PER_MB,
        "memory_limit_mb": None if capacity is None else capacity / BYTES_PER_MB,
    }


def _memory(problem: Problem, schedule: Schedule, device: int) -> tuple[int | None, int | None]:
    """Return peak and capacity of a device's memory in bytes, None where not modelled or unlimited."""
    for pool, peak in zip(problem.pools, peaks(problem, schedule), strict=True):
        if pool.device == device and pool.unit == "bytes":
            return peak.amount, pool.capacity
    return None, None


def _numbering(problem: Problem, renumbered: tuple[int, ...]) -> dict[str, object]:
    """Say which microbatch of the spec torch's microbatch k is."""
    order = sorted(range(problem.microbatches), key=renumbered.__getitem__)
    changed = order != list(range(problem.microbatches))
    if not changed:
        note = "Microbatch k of the file is microbatch k of the spec."
    elif problem.identical:
        note = "Renumbered by the order of the last stage's forwards, as torch requires; the microbatches are alike."
    else:
        note = (
            "Renumbered by the order of the last stage's forwards, as torch requires: feed chunk k of the batch with "
        )
        note += "microbatch crosspipe_of_torch[k] of the spec, for they are not alike."
    return {
        "renumbered": changed,
        "crosspipe_of_torch": order,
        "multipliers": [problem.multipliers[microbatch] for microbatch in order],
        "note": note,
    }


def _same_order(problem: Problem, schedule: Schedule) -> bool:
    """Whether all modelled copies run their stages and microbatches in one and the same order."""
    ops, size, compute = problem.operations, problem.devices_per_replica, Kind.ACTIVATION

    def cells(device: int) -> list[tuple[int, int, int]]:
        sequence = schedule.orders.sequences[device]
        return [
            (int(ops.kind[op]), int(ops.stage[op]), int(ops.microbatch[op]))
            for op in sequence
            if ops.kind[op] < compute
        ]

    return all(cells(device) == cells(device % size) for device in range(size, len(problem.devices)))


def _durations(problem: Problem, replica: int, stage: int, renumbered: tuple[int, ...]) -> dict[str, object]:
    """List a stage's durations by torch's letter: one number where microbatches are alike, else one each."""
    order = sorted(range(problem.microbatches), key=renumbered.__getitem__)
    found: dict[str, object] = {"stage": stage}
    for kind, letter in TORCH_LETTERS.items():
        numbers = problem.numbers[kind, replica, stage, order]
        if numbers[0] < 0:
            continue
        # frozen weights: torch's full backward computes just the input gradient
        alone = kind is Kind.B and problem.number(Kind.W, stage, 0, replica) is None
        written = TORCH_LETTERS[Kind.BW] if alone else letter
        times = [int(duration) / NS_PER_MS for duration in problem.operations.duration_ns[numbers]]
        found[written] = times[0] if problem.identical else times
    return found


def _stage_zero(
    problem: Problem, schedule: Schedule, replica: int, renumbered: tuple[int, ...], whole: frozenset[int]
) -> dict[str, object]:
    """Say what was written for stage 0, and what torch's rule for it costs."""
    if problem.number(Kind.W, 0, 0, replica) is None:
        return {"rule": "Stage 0 has one backward per microbatch, written B; torch runs it as predicted."}
    apart = frozenset(range(problem.microbatches)) - whole
    account: dict[str, object] = {
        "rule": "Torch runs stage 0's I as nothing and its W as the whole backward. Pairs of I and W that follow each "
        "other are written as one B, which takes the same time and memory; pairs with other work between them are kept "
        "as I and W: gradients and orders hold, but time and memory of I move to W.",
        "written_as_full_backward": sorted(renumbered[microbatch] for microbatch in whole),
        "kept_as_i_and_w": sorted(renumbered[microbatch] for microbatch in apart),
    }
    if not apart:
        return account
    changed = under_torch(problem, apart, replica)
    try:
        timed = replay(changed, Orders(schedule.orders.sequences))
    except NeverOpensError:
        account["predicted_makespan_ms"] = None
        account["predicted_peak_memory_mb"] = None
        account["note"] = "With the work moved to W a transfer misses the last opening of its lane."
        return account
    peak, _ = _memory(changed, timed, replica * problem.devices_per_replica + problem.stages[0].device)
    account["predicted_makespan_ms"] = makespan_ns(timed) / NS_PER_MS
    account["predicted_peak_memory_mb"] = None if peak is None else peak / BYTES_PER_MB
    return account
