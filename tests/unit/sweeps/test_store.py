"""The file of a sweep: torn at the end it is mended, of another kind it is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.unit.sweeps.sweeping import point

from crosspipe.sweeps.store import Store, SweepFileError

if TYPE_CHECKING:
    from pathlib import Path

ONE = point({"memory_gb": 1}, 10.0, digest="a" * 64)
TWO = point({"memory_gb": 2}, 9.0, 8.0, digest="b" * 64)


def kept(path: Path) -> Path:
    store = Store(path, "makespan")
    store.keep(ONE)
    store.keep(TWO)
    return path


def test_what_is_kept_is_known(tmp_path: Path) -> None:
    path = kept(tmp_path / "points.jsonl")
    assert Store(path, "makespan").known == {"a" * 64: ONE, "b" * 64: TWO}
    assert Store(path, "span").known == {}
    assert Store(None, "makespan").known == {}


def test_a_later_line_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    path = kept(tmp_path / "points.jsonl")
    better = point({"memory_gb": 2}, 8.0, digest="b" * 64)
    Store(path, "makespan").keep(better)
    assert Store(path, "makespan").known["b" * 64] == better


def test_a_torn_last_line_is_dropped_wherever_it_is_torn(tmp_path: Path) -> None:
    path = kept(tmp_path / "points.jsonl")
    whole = path.read_bytes()
    first, second = whole.splitlines(keepends=True)
    for length in range(1, len(second), 7):
        path.write_bytes(first + second[:length])
        store = Store(path, "makespan")
        assert store.known == {"a" * 64: ONE}
        store.keep(TWO)
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("memory_gb,value\n32,1381\n", "line 1: must be a line of a sweep's points: it is no JSON"),
        ("no end", "line 1: must be a line of a sweep's points: the text is none"),
        ('{"makespan_ms": 3}\n', "line 1: .* it has no `crosspipe_sweep: 1`"),
        ("[]\n", "line 1: .* it has no `crosspipe_sweep: 1`"),
        ('{"crosspipe_sweep":2}\n', "line 1: .* it has no `crosspipe_sweep: 1`"),
        ('{"crosspipe_sweep":1,"objective":"makespan"}\n', "line 1: .* its point is damaged"),
        ("[" * 100_000 + "\n", "line 1: .* it is no JSON"),
    ],
    ids=["csv", "prose", "answer", "list", "newer", "empty", "deep"],
)
def test_a_foreign_or_damaged_file_is_refused_and_left_as_it_is(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "points.jsonl"
    path.write_text(content)
    with pytest.raises(SweepFileError, match=told):
        Store(path, "makespan")
    assert path.read_text() == content


def test_a_damaged_point_is_named_by_line_and_field(tmp_path: Path) -> None:
    path = kept(tmp_path / "points.jsonl")
    first, second = path.read_text().splitlines()
    row = json.loads(second)
    row["point"]["value_ms"] = "fast"
    path.write_text(f"{first}\n{json.dumps(row)}\n")
    with pytest.raises(SweepFileError, match=r"line 2: .* its point is damaged at /value_ms: [^;]*; name another file"):
        Store(path, "makespan")
    path.write_text(json.dumps(row | {"version": "0.0.7"}) + "\n")
    with pytest.raises(SweepFileError, match=r"; it is of version 0\.0\.7, this is "):
        Store(path, "makespan")


def test_what_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        Store(tmp_path / "nowhere" / "points.jsonl", "makespan")
