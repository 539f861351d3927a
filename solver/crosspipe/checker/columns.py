"""Reads the parts of an answer: operations in columns, by device and by lane, and the list of extra operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.checker.placed import Placed
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.checker.reading import Reader
    from crosspipe.problem.problem import Problem

DEVICE_KINDS = {"F": Kind.F, "B": Kind.B, "W": Kind.W, "BW": Kind.BW, "extra": Kind.EXTRA}
LANE_KINDS = {"activation": Kind.ACTIVATION, "gradient": Kind.GRADIENT, "extra": Kind.EXTRA}


class ColumnReader:
    """Reads against the names of one problem."""

    def __init__(self, reader: Reader, problem: Problem) -> None:
        self._reader = reader
        self._devices: dict[str, dict[int | None, int]] = {}
        self._lanes: dict[str, dict[int | None, int]] = {}
        for number, device in enumerate(problem.devices):
            self._devices.setdefault(device.name, {})[device.replica] = number
        for number, lane in enumerate(problem.lanes, start=len(problem.devices)):
            self._lanes.setdefault(lane.name, {})[lane.replica] = number

    def devices(self, value: object) -> tuple[Placed, ...]:
        """Read `devices`: each with `device`, `replica` (0 if left out) and `operations`."""
        return self._sections(value, "/devices", "device", self._devices, DEVICE_KINDS)

    def transfers(self, value: object) -> tuple[Placed, ...]:
        """Read `transfers`: each with `lane`, `replica` (null or left out for a shared one) and `operations`."""
        return self._sections(value, "/transfers", "lane", self._lanes, LANE_KINDS)

    def extras(self, value: object) -> tuple[Placed, ...]:
        """Read `extra_operations`: each with `name`, `start_ms`, and optionally `end_ms`, `device` or `lane`."""
        rows = self._reader.rows(value, "/extra_operations") or ()
        found = (self._extra(row, f"/extra_operations/{index}") for index, row in enumerate(rows))
        return tuple(row for row in found if row is not None)

    def _extra(self, value: object, pointer: str) -> Placed | None:
        row = self._reader.mapping(value, pointer)
        if row is None:
            return None
        name = self._reader.text(row.get("name"), f"{pointer}/name")
        start = self._reader.time_ns(row.get("start_ms"), f"{pointer}/start_ms")
        end = self._optional_time(row.get("end_ms"), f"{pointer}/end_ms")
        resource = None
        for key, known in (("device", self._devices), ("lane", self._lanes)):
            if row.get(key) is not None:
                copies = self._reader.choice(row[key], f"{pointer}/{key}", known, key)
                resource = None if copies is None else copies.get(None, copies.get(0))
        return None if name is None or start is None else Placed(Kind.EXTRA, -1, 0, 0, start, end, resource, name)

    def _sections(
        self,
        value: object,
        pointer: str,
        key: str,
        known: Mapping[str, Mapping[int | None, int]],
        kinds: Mapping[str, Kind],
    ) -> tuple[Placed, ...]:
        placed: list[Placed] = []
        for index, entry in enumerate(self._reader.rows(value, pointer) or ()):
            here = f"{pointer}/{index}"
            section = self._reader.mapping(entry, here)
            if section is None:
                continue
            copies = self._reader.choice(section.get(key), f"{here}/{key}", known, key)
            if copies is not None and (found := self._copy(section, here, copies)) is not None:
                placed += self._operations(section.get("operations"), f"{here}/operations", kinds, *found)
        return tuple(placed)

    def _copy(
        self, section: Mapping[str, object], pointer: str, copies: Mapping[int | None, int]
    ) -> tuple[int, int] | None:
        """Find which replica's device or lane is meant: its number, and the replica its rows belong to by default."""
        replica = section.get("replica")
        if replica is not None and (replica := self._reader.integer(replica, f"{pointer}/replica")) is None:
            return None
        chosen = replica if replica is not None or None in copies else 0
        if chosen in copies:
            return copies[chosen], chosen or 0
        nearest = ", ".join("null" if copy is None else str(copy) for copy in list(copies)[:8])
        shown = "null" if replica is None else str(replica)
        self._reader.fault(f"{pointer}/replica", "must be a replica that has this device or lane", shown, nearest)
        return None

    def _operations(
        self, value: object, pointer: str, kinds: Mapping[str, Kind], resource: int, replica: int
    ) -> list[Placed]:
        table = self._reader.mapping(value, pointer)
        if table is None:
            return []
        kind_column = self._reader.rows(table.get("kind"), f"{pointer}/kind")
        if kind_column is None:
            return []
        columns = {
            key: self._column(table, pointer, key, len(kind_column), needed=key in ("stage", "microbatch", "start_ms"))
            for key in ("stage", "microbatch", "replica", "name", "start_ms", "end_ms", "leg")
        }
        if any(column is None for column in columns.values()):
            return []
        placed: list[Placed] = []
        for index, name in enumerate(kind_column):
            cells = {key: column[index] for key, column in columns.items() if column is not None}
            kind = self._reader.choice(name, f"{pointer}/kind/{index}", kinds, "kind of operation here")
            row = None if kind is None else self._row(kind, cells, pointer, index, resource, replica)
            if row is not None:
                placed.append(row)
        return placed

    def _column(
        self, table: Mapping[str, object], pointer: str, key: str, length: int, *, needed: bool
    ) -> Sequence[object] | None:
        given = table.get(key)
        if given is None and not needed:
            return [None] * length
        column = self._reader.rows(given, f"{pointer}/{key}")
        if column is not None and len(column) != length:
            self._reader.fault(f"{pointer}/{key}", "must be as long as `kind`", str(len(column)), str(length))
            return None
        return column

    def _row(
        self, kind: Kind, cells: Mapping[str, object], pointer: str, index: int, resource: int, replica: int
    ) -> Placed | None:
        start = self._reader.time_ns(cells["start_ms"], f"{pointer}/start_ms/{index}")
        end = self._optional_time(cells["end_ms"], f"{pointer}/end_ms/{index}")
        if kind is Kind.EXTRA:
            name = self._reader.text(cells["name"], f"{pointer}/name/{index}")
            return None if name is None or start is None else Placed(kind, -1, 0, 0, start, end, resource, name)
        stage = self._reader.integer(cells["stage"], f"{pointer}/stage/{index}")
        microbatch = self._reader.integer(cells["microbatch"], f"{pointer}/microbatch/{index}")
        copy: int | None = replica
        if cells["replica"] is not None:
            copy = self._reader.integer(cells["replica"], f"{pointer}/replica/{index}")
        leg = self._leg(kind, cells["leg"], f"{pointer}/leg/{index}")
        if stage is None or microbatch is None or copy is None or start is None or leg is None:
            return None
        return Placed(kind, stage, microbatch, copy, start, end, resource, leg=leg)

    def _leg(self, kind: Kind, value: object, pointer: str) -> int | None:
        """Read the leg of a transfer; left out for all else, and where a message takes one link."""
        return 0 if value is None or not kind.is_transfer else self._reader.integer(value, pointer)

    def _optional_time(self, value: object, pointer: str) -> int | None:
        return None if value is None else self._reader.time_ns(value, pointer)
