"""The store of measured rows: one JSON line each, appended as soon as it is known, so that a run can be resumed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.data import ROOT
from bench.measurement import Measurement

if TYPE_CHECKING:
    from pathlib import Path

    from bench.row import Row


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored row: what it was asked, by which code it was answered, what was measured."""

    key: str
    fingerprint: str
    code: str
    measurement: Measurement


class Store:
    """The rows of one suite."""

    def __init__(self, path: Path, code: str) -> None:
        self._path, self._code = path, code

    def read(self) -> dict[str, Entry]:
        """Give the newest entry of each row; a line cut short by an interruption is left out."""
        if not self._path.exists():
            return {}
        entries = [_entry(json.loads(line)) for line in self._whole_lines()]
        return {entry.key: entry for entry in entries}

    def known(self, row: Row, entries: dict[str, Entry], *, any_code: bool) -> Measurement | None:
        """Give what stands for a row: measured of the same request, by the same code unless any will do."""
        entry = entries.get(row.key)
        if entry is None or entry.fingerprint != row.fingerprint:
            return None
        return entry.measurement if any_code or entry.code == self._code else None

    def append(self, row: Row, measurement: Measurement) -> None:
        """Add a row."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        whole = "".join(self._whole_lines()) if self._path.exists() else ""
        if self._path.exists() and self._path.stat().st_size != len(whole.encode()):
            self._path.write_text(whole)
        entry = {
            "key": row.key,
            "fingerprint": row.fingerprint,
            "code": self._code,
            "measurement": measurement.to_json(),
        }
        with self._path.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def clear(self) -> None:
        """Forget all rows."""
        self._path.unlink(missing_ok=True)

    def _whole_lines(self) -> list[str]:
        return [line for line in self._path.read_text().splitlines(keepends=True) if line.endswith("\n")]


def _entry(data: dict[str, Any]) -> Entry:
    return Entry(data["key"], data["fingerprint"], data["code"], Measurement.from_json(data["measurement"]))


def code_version() -> str:
    """Name the code that is measured: the library's and the contenders', byte for byte."""
    digest = hashlib.sha256()
    for folder in ("solver", "bench"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
