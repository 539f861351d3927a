"""A schedule as torch's `compute_only` CSV, with a sidecar that says what the CSV cannot.

`_PipelineScheduleRuntime._load_csv(path, format="compute_only")` reads the CSV in torch 2.6 to 2.13: one row per rank
of the pipeline group, one cell per action, no times. The exporter checks the rules of `torch_rules` on the text it
wrote, read back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.errors import ExportError
from crosspipe.export.letters import TORCH_LETTERS
from crosspipe.export.torch_rules import Cell, check_rows, parse_rows, write_rows
from crosspipe.export.torch_sidecar import sidecar
from crosspipe.export.torch_stage_zero import adjacent_pairs
from crosspipe.problem.operations import Kind
from crosspipe.schedule.replay import resolved

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule


@dataclass(frozen=True, slots=True)
class TorchExport:
    """What torch loads, and what it must be told besides.

    Attributes
    ----------
    csv
        The `compute_only` CSV text, one line per rank.
    sidecar
        JSON-ready: maps of ranks and stages, durations, predictions and caveats; see `torch_sidecar`.
    """

    csv: str
    sidecar: dict[str, object]


def torch_csv(problem: Problem, schedule: Schedule, replica: int = 0) -> TorchExport:
    """Write a schedule for torch.

    Parameters
    ----------
    problem, schedule
        A checked schedule of the problem.
    replica
        Which modelled pipeline copy to write; every real copy runs the same text unless copies are modelled apart.

    Raises
    ------
    ExportError
        If the schedule has a frozen stage (torch insists on a backward of every stage), or breaks rule C1, C2 or C3 of
        `torch_rules`; the message begins with the rule.
    """
    if not 0 <= replica < problem.replicas:
        raise ExportError(f"replica: must be one of 0..{problem.replicas - 1} (got {replica})")
    timed = resolved(problem, schedule.orders)
    _refuse_frozen(timed)
    sequences = _compute_sequences(timed, schedule, replica)
    renumbered = _torch_numbers(timed, sequences)
    whole = adjacent_pairs(timed, sequences[timed.stages[0].device], replica)
    rows = tuple(_row(timed, sequence, renumbered, whole) for sequence in sequences)
    text = write_rows(rows)
    check_rows(parse_rows(text), timed.devices_per_replica, len(timed.stages), timed.microbatches)
    return TorchExport(text, sidecar(timed, schedule, replica, renumbered, whole))


def _refuse_frozen(problem: Problem) -> None:
    """Refuse stages without any backward."""
    for stage in range(len(problem.stages)):
        if problem.number(Kind.B, stage, 0) is None and problem.number(Kind.BW, stage, 0) is None:
            raise ExportError(
                f"C1 coverage: torch needs a backward of every stage and microbatch, but stage {stage} is frozen "
                "(forward only); join its layers to the first trained stage to export this schedule"
            )


def _compute_sequences(problem: Problem, schedule: Schedule, replica: int) -> tuple[tuple[int, ...], ...]:
    """Return the compute operations of each rank in order; extra operations have no cell."""
    first = replica * problem.devices_per_replica
    kinds = problem.operations.kind
    return tuple(
        tuple(int(operation) for operation in sequence if kinds[operation] < Kind.ACTIVATION)
        for sequence in schedule.orders.sequences[first : first + problem.devices_per_replica]
    )


def _torch_numbers(problem: Problem, sequences: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return torch's number of each microbatch: its place among the forwards of the last stage (rule C3).

    Raises
    ------
    ExportError
        If the microbatches have a fixed order and the last stage does not keep it, or a forward is missing.
    """
    ops, last = problem.operations, len(problem.stages) - 1
    order = [
        int(ops.microbatch[operation])
        for operation in sequences[problem.stages[last].device]
        if ops.kind[operation] == Kind.F and ops.stage[operation] == last
    ]
    if sorted(order) != list(range(problem.microbatches)):
        raise ExportError(f"C1 coverage: stage {last} must run each microbatch's forward once (got the order {order})")
    if problem.chains_required and order != sorted(order):
        raise ExportError(
            f"C3 last stage: the microbatches have a fixed order, so they cannot be renumbered (got the order {order})"
        )
    return tuple(order.index(microbatch) for microbatch in range(problem.microbatches))


def _row(
    problem: Problem, sequence: tuple[int, ...], renumbered: tuple[int, ...], whole: frozenset[int]
) -> tuple[Cell, ...]:
    """Write one rank's cells; stage 0's pairs in `whole` become one full backward."""
    ops, cells = problem.operations, []
    for operation in sequence:
        kind, stage = Kind(int(ops.kind[operation])), int(ops.stage[operation])
        microbatch = int(ops.microbatch[operation])
        letter = TORCH_LETTERS[kind]
        if kind is Kind.B and _alone(problem, stage):
            letter = TORCH_LETTERS[Kind.BW]
        elif stage == 0 and microbatch in whole and kind in (Kind.B, Kind.W):
            if kind is Kind.W:
                continue
            letter = TORCH_LETTERS[Kind.BW]
        cells.append(Cell(stage, letter, renumbered[microbatch]))
    return tuple(cells)


def _alone(problem: Problem, stage: int) -> bool:
    """Whether the stage's weights are frozen: its B has no W, and torch's full backward computes just that."""
    return problem.number(Kind.W, stage, 0) is None
