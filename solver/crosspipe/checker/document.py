"""Reads a schedule document: an answer as CrossPipe writes it, or the plain row form people write by hand.

Row form::

    {"operations": [["F", stage, microbatch, replica, start_ms, end_ms], ["extra", name, start_ms, end_ms], ...],
     "recomputed_stages": []}

with kinds F, B, W, BW, activation, gradient (stage = the boundary, its lower stage) and extra. `end_ms` may be left
out. A message that takes several links has a row for each of them on which it queues: the place of the link on the way,
from 0, stands behind `end_ms` (which may be null).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.checker.columns import ColumnReader
from crosspipe.checker.placed import Placed
from crosspipe.checker.reading import Reader, shown
from crosspipe.errors import ScheduleFormatError
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.problem.problem import Problem

ROW_KINDS = {
    "F": Kind.F,
    "B": Kind.B,
    "W": Kind.W,
    "BW": Kind.BW,
    "activation": Kind.ACTIVATION,
    "gradient": Kind.GRADIENT,
}
MESSAGES = ("activation", "gradient")


def placed_from_document(problem: Problem, document: object) -> tuple[tuple[Placed, ...], frozenset[int]]:
    """Read a schedule.

    Parameters
    ----------
    problem
        The problem it is a schedule of; gives the names of devices, lanes and stages with a recompute option.
    document
        Parsed JSON. With the key `operations` it is the row form, otherwise an answer with `devices`, `transfers`,
        `extra_operations` and `recomputed_stages`; other keys of an answer are not read.

    Returns
    -------
    tuple
        The placed operations, times in exact nanoseconds, and the stages that take their recompute option.

    Raises
    ------
    ScheduleFormatError
        If it cannot be read: with a JSON Pointer to each place at fault (the first hundred).
    """
    reader = Reader()
    placed: tuple[Placed, ...] = ()
    recomputed: frozenset[int] = frozenset()
    if (top := reader.mapping(document, "")) is not None:
        recomputed = _recomputed(reader, problem, top)
        if "operations" in top:
            placed = _rows(reader, top["operations"])
        elif "devices" in top:
            placed = _answer(ColumnReader(reader, problem), top)
        else:
            reader.fault("", "must hold `operations` (rows) or `devices` (an answer)")
    if reader.faults:
        raise ScheduleFormatError(reader.faults)
    return placed, recomputed


def _recomputed(reader: Reader, problem: Problem, top: Mapping[str, object]) -> frozenset[int]:
    optional = {choice.stage for choice in problem.choices}
    stages: set[int] = set()
    for index, value in enumerate(reader.rows(top.get("recomputed_stages", []), "/recomputed_stages") or ()):
        pointer = f"/recomputed_stages/{index}"
        stage = reader.integer(value, pointer)
        if stage is None:
            continue
        if stage not in optional:
            distances = sorted((abs(known - stage), known) for known in optional)
            nearest = str(distances[0][1]) if distances else None
            reader.fault(pointer, "must be a stage with a recompute option", shown(stage), nearest)
        stages.add(stage)
    return frozenset(stages)


def _rows(reader: Reader, value: object) -> tuple[Placed, ...]:
    rows = reader.rows(value, "/operations") or ()
    found = (_row(reader, row, f"/operations/{index}") for index, row in enumerate(rows))
    return tuple(row for row in found if row is not None)


def _row(reader: Reader, value: object, pointer: str) -> Placed | None:
    row = reader.rows(value, pointer)
    if row is None:
        return None
    extra = bool(row) and row[0] == "extra"
    message = bool(row) and row[0] in MESSAGES
    form = "[kind, stage, microbatch, replica, start_ms, end_ms?]"
    if extra:
        form = "[extra, name, start_ms, end_ms?]"
    elif message:
        form = "[kind, stage, microbatch, replica, start_ms, end_ms?, leg?]"
    least = 3 if extra else 5
    if not least <= len(row) <= least + 1 + message:
        reader.fault(pointer, f"must read {form}", f"{len(row)} entries")
        return None
    start = reader.time_ns(row[least - 1], f"{pointer}/{least - 1}")
    end = _end(reader, row, pointer, least)
    if extra:
        name = reader.text(row[1], f"{pointer}/1")
        return None if name is None or start is None else Placed(Kind.EXTRA, -1, 0, 0, start, end, None, name)
    kind = reader.choice(row[0], f"{pointer}/0", ROW_KINDS, "kind of operation")
    stage, microbatch, replica = (reader.integer(row[i], f"{pointer}/{i}") for i in (1, 2, 3))
    leg = reader.integer(row[6], f"{pointer}/6") if len(row) > 6 else 0
    if kind is None or stage is None or microbatch is None or replica is None or start is None or leg is None:
        return None
    return Placed(kind, stage, microbatch, replica, start, end, leg=leg)


def _end(reader: Reader, row: Sequence[object], pointer: str, place: int) -> int | None:
    given = row[place] if place < len(row) else None
    return None if given is None else reader.time_ns(given, f"{pointer}/{place}")


def _answer(columns: ColumnReader, top: Mapping[str, object]) -> tuple[Placed, ...]:
    placed = columns.devices(top["devices"])
    placed += columns.transfers(top.get("transfers", []))
    listed = columns.extras(top.get("extra_operations", []))
    # An extra operation may stand both in the list of extras and on its lane or device: that is one placement.
    told = {(row.name, row.start_ns, row.end_ns) for row in placed if row.kind is Kind.EXTRA}
    return (*placed, *(row for row in listed if (row.name, row.start_ns, row.end_ns) not in told))
