"""The rules a `compute_only` schedule for torch must obey, checked without torch and stricter than torch checks them.

Torch matches a cell by its prefix only and counts with sets, so junk and duplicates pass it unseen; and it runs a last
stage whose forwards are out of order with silently wrong gradients. Hence the three rules here:

- C1 coverage: one row per rank, no row empty, a stage in one row only, every stage and microbatch with exactly one `F`
  and exactly one of `B` or the pair `I`, `W`.
- C2 order: in a row `F` before `B` or `I`, and `I` before `W`; row orders and data dependencies together acyclic.
- C3 last stage: the forwards of the last stage in ascending order of microbatches.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from crosspipe.errors import ExportError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CELL = re.compile(r"(?P<stage>0|[1-9][0-9]*)(?P<letter>[FIWB])(?P<microbatch>0|[1-9][0-9]*)", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One action of a `compute_only` schedule, written as in `2I3`: stage 2, input gradient, microbatch 3."""

    stage: int
    letter: str
    microbatch: int

    def __str__(self) -> str:
        """Write the cell as torch reads it."""
        return f"{self.stage}{self.letter}{self.microbatch}"


Rows = tuple[tuple[Cell, ...], ...]


def parse_cell(text: str) -> Cell:
    """Read one cell, the whole of it.

    Raises
    ------
    ExportError
        If the text is anything else than stage, letter and microbatch.
    """
    found = CELL.fullmatch(text)
    if found is None:
        raise ExportError(f"cell grammar: {text!r} is not an action (stage, then F, I, W or B, then microbatch)")
    return Cell(int(found["stage"]), found["letter"], int(found["microbatch"]))


def parse_rows(text: str) -> Rows:
    """Read a `compute_only` CSV text; empty cells are idle and dropped, as torch drops them.

    Raises
    ------
    ExportError
        If a cell is not an action.
    """
    lines = text.splitlines()
    return tuple(tuple(parse_cell(cell.strip()) for cell in line.split(",") if cell.strip()) for line in lines)


def write_rows(rows: Rows) -> str:
    """Write rows as CSV text, one line per rank."""
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def check_rows(rows: Rows, ranks: int, stages: int, microbatches: int) -> None:
    """Check the rules C1, C2 and C3.

    Raises
    ------
    ExportError
        At the first rule broken; the message begins with its name.
    """
    _check_placement(rows, ranks, stages, microbatches)
    _check_counts(rows, stages, microbatches)
    _check_row_order(rows)
    _check_acyclic(rows, stages)
    _check_last_stage(rows, stages)


def _check_placement(rows: Rows, ranks: int, stages: int, microbatches: int) -> None:
    """C1: rows, stages and microbatches are those of the pipeline, and a stage has one row."""
    if len(rows) != ranks:
        raise ExportError(f"C1 coverage: {ranks} ranks need {ranks} rows (got {len(rows)})")
    row_of: dict[int, int] = {}
    for rank, row in enumerate(rows):
        if not row:
            raise ExportError(f"C1 coverage: rank {rank} holds no stage, but torch needs at least one on every rank")
        for cell in row:
            if cell.stage >= stages or cell.microbatch >= microbatches:
                limit = f"stages 0..{stages - 1} and microbatches 0..{microbatches - 1}"
                raise ExportError(f"C1 coverage: the pipeline has {limit} (got {cell} on rank {rank})")
            if row_of.setdefault(cell.stage, rank) != rank:
                where = f"ranks {row_of[cell.stage]} and {rank}"
                raise ExportError(f"C1 coverage: a stage stands in one row only (got stage {cell.stage} on {where})")


def _check_counts(rows: Rows, stages: int, microbatches: int) -> None:
    """C1: exactly one F and exactly one of B or (I, W) for every stage and microbatch."""
    count = Counter(cell for row in rows for cell in row)
    for stage in range(stages):
        for microbatch in range(microbatches):
            found = {letter: count[Cell(stage, letter, microbatch)] for letter in "FIWB"}
            if found not in ({"F": 1, "I": 1, "W": 1, "B": 0}, {"F": 1, "I": 0, "W": 0, "B": 1}):
                got = ", ".join(f"{number} {letter}" for letter, number in found.items())
                raise ExportError(
                    "C1 coverage: each stage and microbatch needs exactly one F and exactly one of B or the pair I, W "
                    f"(got {got} for stage {stage}, microbatch {microbatch})"
                )


def _check_row_order(rows: Rows) -> None:
    """C2, within a row: F before B or I, I before W."""
    for rank, row in enumerate(rows):
        at = {cell: position for position, cell in enumerate(row)}
        for cell in row:
            needs = {"B": "F", "I": "F", "W": "I"}.get(cell.letter)
            if needs is not None and at[Cell(cell.stage, needs, cell.microbatch)] > at[cell]:
                before = Cell(cell.stage, needs, cell.microbatch)
                raise ExportError(f"C2 order: {before} must come before {cell} (rank {rank})")


def _dependencies(cell: Cell, stages: int, whole: frozenset[tuple[int, int]]) -> Iterator[Cell]:
    """Yield the cells of other stages that must end before this one; `whole` holds (stage, microbatch) written as B."""
    if cell.letter == "F" and cell.stage > 0:
        yield Cell(cell.stage - 1, "F", cell.microbatch)
    if cell.letter in "IB" and cell.stage < stages - 1:
        above = (cell.stage + 1, cell.microbatch)
        yield Cell(cell.stage + 1, "B" if above in whole else "I", cell.microbatch)


def _check_acyclic(rows: Rows, stages: int) -> None:
    """C2, across rows: row orders and data dependencies have no cycle (Kahn's topological sort)."""
    whole = frozenset((cell.stage, cell.microbatch) for row in rows for cell in row if cell.letter == "B")
    after: dict[Cell, list[Cell]] = {cell: [] for row in rows for cell in row}
    missing = dict.fromkeys(after, 0)
    for row in rows:
        for position, cell in enumerate(row):
            before = [*row[max(position - 1, 0) : position], *_dependencies(cell, stages, whole)]
            missing[cell] = len(before)
            for one in before:
                after[one].append(cell)
    ready = deque(cell for cell, number in missing.items() if number == 0)
    done = 0
    while ready:
        done += 1
        for cell in after[ready.popleft()]:
            missing[cell] -= 1
            if missing[cell] == 0:
                ready.append(cell)
    if done < len(missing):
        stuck = next(cell for row in rows for cell in row if missing[cell] > 0)
        raise ExportError(
            f"C2 order: the rows wait for each other in a circle; the first cell that never runs is {stuck}"
        )


def _check_last_stage(rows: Rows, stages: int) -> None:
    """C3: torch appends losses in order of execution but indexes them by microbatch."""
    order = forward_order(rows, stages - 1)
    for earlier, later in pairwise(order):
        if earlier > later:
            raise ExportError(
                "C3 last stage: the forwards of the last stage must run in ascending order of microbatches, or torch "
                f"computes wrong gradients (got {earlier} before {later})"
            )


def forward_order(rows: Sequence[Sequence[Cell]], stage: int) -> tuple[int, ...]:
    """Return the microbatches in the order in which a stage runs their forwards."""
    return tuple(cell.microbatch for row in rows for cell in row if cell.letter == "F" and cell.stage == stage)
