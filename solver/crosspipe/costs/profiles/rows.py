"""Layers as rows of our own simple format, from CSV or JSON: the fields of a layer, one row each."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from crosspipe.costs.profiles.profile import NO_BOUNDARY, Profile, ProfileError, refused
from crosspipe.costs.profiles.sound import require_sound
from crosspipe.costs.split import LARGEST_ITEM_COUNT
from crosspipe.errors import Fault, SpecError
from crosspipe.spec.faults import closest
from crosspipe.spec.json_text import read_json
from crosspipe.spec.numbers import number_from_text
from crosspipe.spec.stages import Layer
from crosspipe.spec.tree import plain_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.costs.profiles.shares import Shares

MOST_LETTERS: Final = 8 * 2**20
"""Longest table or list: a thousand layers take a few hundred kilobytes."""

TOGETHER: Final = "forward_backward_ms"
"""A column of our own: F, B and W together, cut by the shares."""

TEXTS: Final = frozenset({"name", "group", "site", "device", "tied"})
FLAGS: Final = {"true": True, "false": False}
NESTED: Final = frozenset({"selective", "full"})
COLUMNS: Final = (TOGETHER, *(name for name in Layer.model_fields if name not in NESTED))

WANTED: Final[Mapping[str, str]] = {
    "activation_mb": "activation_mb: memory is not counted until you give it",
    "static_mb": "static_mb (or parameters_m): weights, gradients and optimizer take no memory until you give it",
    "boundary_mb": NO_BOUNDARY,
}


def csv_profile(text: str, file: str, shares: Shares) -> Profile:
    """Read a table of layers: a header of field names, one row per layer, lines that begin with `#` ignored.

    Raises
    ------
    ProfileError
        If a column, a cell or a row is wrong.
    """
    _require_short(text, file)
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if _counts(line)]
    if not lines:
        raise refused(file, "must have a header of field names, such as name,forward_ms,backward_ms")
    mark = "\t" if "\t" in lines[0][1] else ","
    try:
        rows = list(csv.reader(io.StringIO("\n".join(line for _, line in lines)), delimiter=mark, strict=True))
    except csv.Error as error:
        raise refused(file, f"must be a table of comma-separated values: {error}") from error
    if len(rows) != len(lines):
        raise refused(file, "must have one row per line: no cell goes on over the end of a line")
    header = [cell.strip() for cell in rows[0]]
    _require_columns(header, f"{file} line {lines[0][0]}")
    found = []
    for (number, _), cells in zip(lines[1:], rows[1:], strict=True):
        place = f"{file} line {number}"
        if len(cells) != len(header):
            raise refused(place, f"must have {len(header)} cells, as the header", f"{len(cells)} cells")
        filled = zip(header, (cell.strip() for cell in cells), strict=True)
        found.append((place, {name: _cell(name, cell, place) for name, cell in filled if cell}))
    return _profile(found, file, shares)


def json_profile(text: str, file: str, shares: Shares) -> Profile:
    """Read `{"layers": [{...}, ...]}`, each with the fields of a layer; other keys beside `layers` are ignored.

    Raises
    ------
    ProfileError
        If it is not such a document.
    """
    tree = json_tree(text, file)
    rows = tree.get("layers")
    if not isinstance(rows, list) or not rows:
        raise refused(file, "must have `layers`, a list of one or more")
    found = []
    for number, row in enumerate(rows):
        place = f"{file} layers/{number}"
        if not isinstance(row, Mapping):
            raise refused(place, "must be a mapping of a layer's fields", row)
        found.append((place, dict(row)))
    return _profile(found, file, shares)


def json_tree(text: str, file: str) -> Mapping[str, object]:
    """Read a JSON object.

    Raises
    ------
    ProfileError
        If it is none.
    """
    _require_short(text, file)
    try:
        tree, faults = plain_tree(read_json(text))
    except SpecError as error:
        raise ProfileError([_at(file, fault) for fault in error.faults]) from error
    if faults:
        raise ProfileError([_at(file, fault) for fault in faults])
    if not isinstance(tree, Mapping):
        raise refused(file, "must be a JSON object", tree)
    return tree


def _require_short(text: str, file: str) -> None:
    if len(text) > MOST_LETTERS:
        raise refused(file, f"must have at most {MOST_LETTERS // 2**20} MiB where it is no log")


def _profile(rows: Sequence[tuple[str, dict[str, object]]], file: str, shares: Shares) -> Profile:
    if not rows:
        raise refused(file, "must have a row for each layer")
    if len(rows) > LARGEST_ITEM_COUNT:
        raise refused(file, f"must have at most {LARGEST_ITEM_COUNT} layers", len(rows), LARGEST_ITEM_COUNT)
    layers = [_split(row, place, shares) for place, row in rows]
    model = {"layers": layers}
    require_sound(model, [place for place, _ in rows])
    assumed = [shares.told] if any(TOGETHER in row for _, row in rows) else []
    given = {name for layer in layers for name in layer}
    if "parameters_m" in given:
        given.add("static_mb")
    missing = [text for name, text in WANTED.items() if name not in given]
    if not {"backward_weight_ms", TOGETHER} & given:
        missing.append("backward_weight_ms: with a combined backward, schedules that split it are not available")
    return Profile(model, None, (f"{len(layers)} rows of layers",), tuple(assumed), tuple(missing))


def _split(row: dict[str, object], place: str, shares: Shares) -> dict[str, object]:
    """Cut a time of F, B and W together."""
    if TOGETHER not in row:
        return row
    beside = [name for name in row if name in ("forward_ms", "backward_ms", "backward_input_ms", "backward_weight_ms")]
    total = row[TOGETHER]
    if beside:
        raise refused(place, f"must have {TOGETHER} or {beside[0]}, not both")
    if isinstance(total, bool) or not isinstance(total, int | Decimal) or not 0 < total < 10**12:
        raise refused(place, f"{TOGETHER} must be a number above 0", total)
    parts = shares.split(Decimal(total))
    columns = ((parts if name == TOGETHER else {name: value}) for name, value in row.items())
    return {name: value for column in columns for name, value in column.items()}


def _at(file: str, fault: Fault) -> Fault:
    return Fault(f"{file} {fault.pointer.lstrip('/')}".strip(), fault.rule, fault.value, fault.nearest)


def _require_columns(header: Sequence[str], place: str) -> None:
    for name in header:
        if name not in COLUMNS:
            rule = f"must name columns among {', '.join(COLUMNS)}"
            raise refused(place, rule, name, closest(name, COLUMNS))
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise refused(place, "must name every column once", twice[0])


def _cell(name: str, cell: str, place: str) -> object:
    if name in TEXTS:
        return cell
    if name == "frozen":
        if cell.lower() not in FLAGS:
            raise refused(f"{place} frozen", "must be true or false", cell)
        return FLAGS[cell.lower()]
    number = number_from_text(cell)
    if not isinstance(number, int | Decimal):
        raise refused(f"{place} {name}", "must be a number, without a unit", cell)
    return number


def _counts(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def like_rows(rows: Sequence[dict[str, object]]) -> Iterator[dict[str, object]]:
    """Join neighbouring rows that are alike into one with `repeat`; all have a name."""
    run: dict[str, object] | None = None
    count = 0
    for row in [*rows, None]:
        if row is not None and row == run:
            count += 1
            continue
        if run is not None:
            many = {"repeat": count} if count > 1 else {}
            yield {"name": run["name"], **many, **run}
        run, count = row, 1
