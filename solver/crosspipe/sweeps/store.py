"""Points kept in a file, one JSON line each, so that a sweep that was stopped goes on where it was.

A line is known by the digest of the point's spec and the objective; a later one takes the place of an earlier one. What
a stopped process has left half written at the end is dropped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from pydantic import ValidationError

from crosspipe.answer.solve import check
from crosspipe.errors import Fault, InputError
from crosspipe.problem.problem import Objective
from crosspipe.sweeps.models import SweepPoint
from crosspipe.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from crosspipe.spec.model import Spec

FORMAT = 1
KEY = "crosspipe_sweep"


class SweepFileError(InputError):
    """A file named for the points of a sweep holds something else, or was damaged."""

    code: ClassVar[str] = "invalid_sweep_file"


class Store:
    """The file of a sweep; without a path nothing is kept.

    Raises
    ------
    SweepFileError
        If a line of it is none of a sweep's.
    OSError
        If it cannot be read or written.
    """

    def __init__(self, path: Path | None, objective: str) -> None:
        self._path, self._objective = path, objective
        self.known: dict[str, SweepPoint] = {}
        if path is None:
            return
        with path.open("a+b") as file:  # so that what cannot be written is told before anything is solved
            file.seek(0)
            content = file.read()
            whole = content[: content.rfind(b"\n") + 1]
            if len(whole) < len(content) and not _half_a_line(content[len(whole) :]):
                raise _not_ours(path, whole.count(b"\n") + 1, "the text is none of a sweep's")
            for number, line in enumerate(whole.splitlines(), 1):
                self._read(path, number, line)
            file.truncate(len(whole))

    def known_at(self, spec: Spec, digest: str) -> SweepPoint | None:
        """Return what is known of a spec; its schedule is judged again, as a file may have been changed.

        Raises
        ------
        SweepFileError
            If the schedule breaks a rule, or does not have the value that is told of it.
        """
        point = self.known.get(digest)
        if point is None or point.value_ms is None:
            return point
        where = f"{self._path}, point {point.digest[:8]}"
        if point.answer is None:
            raise SweepFileError([Fault(where, "must hold the schedule whose value it tells")])
        verdict = check(spec, point.answer.model_dump())
        value_ms = verdict.makespan_ms if self._objective == Objective.MAKESPAN else verdict.span_ms
        if not verdict.ok:
            raise SweepFileError([Fault(where, f"must hold a schedule: {verdict.violations[0].message}")])
        if value_ms != point.value_ms:
            rule = f"must tell the value of its schedule, {value_ms} ms"
            raise SweepFileError([Fault(where, rule, f"{point.value_ms} ms")])
        return point

    def keep(self, point: SweepPoint) -> None:
        """Add a point to the file at once."""
        if self._path is None:
            return
        row = {KEY: FORMAT, "version": __version__, "objective": self._objective}
        row["point"] = point.model_dump(mode="json")
        with self._path.open("ab") as file:
            file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")

    def _read(self, path: Path, number: int, line: bytes) -> None:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _not_ours(path, number, f"it is no JSON ({error})") from error
        if not isinstance(row, dict) or row.get(KEY) != FORMAT:
            raise _not_ours(path, number, f"it has no `{KEY}: {FORMAT}`")
        try:
            point = SweepPoint.model_validate(row.get("point"))
        except ValidationError as error:
            first = error.errors()[0]
            where = "/".join(map(str, first["loc"]))
            kept_by = row.get("version")
            older = "" if kept_by == __version__ else f"; it is of version {kept_by}, this is {__version__}"
            raise _not_ours(path, number, f"its point is damaged at /{where}: {first['msg']}{older}") from error
        if row.get("objective") == self._objective:
            self.known[point.digest] = point


def _half_a_line(tail: bytes) -> bool:
    """Whether a text without an end may be the beginning of one of ours."""
    begin = f'{{"{KEY}":{FORMAT},'.encode()
    return tail.startswith(begin[: len(tail)])


def _not_ours(path: Path, number: int, why: str) -> SweepFileError:
    rule = f"must be a line of a sweep's points: {why}; name another file, or mend this one"
    return SweepFileError([Fault(f"{path}, line {number}", rule)])
