"""The store of rows: resumed, torn, of other code, of another request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench.measurement import Measurement
from bench.row import Row
from bench.store import Store, code_version

if TYPE_CHECKING:
    from pathlib import Path

ROW = Row("suite", "row", {"name": "x"}, "makespan", 5.0)
OTHER = replace(ROW, name="other")
MEASURED = Measurement("optimal", 7, 7, 0.1, 0.1, 0.1, 0.2, 30.0)


def test_a_row_is_known_after_it_was_appended(tmp_path: Path) -> None:
    store = Store(tmp_path / "deep" / "suite.jsonl", "code")
    assert store.read() == {}
    store.append(ROW, MEASURED)
    entries = Store(tmp_path / "deep" / "suite.jsonl", "code").read()
    assert store.known(ROW, entries, any_code=False) == MEASURED
    assert store.known(OTHER, entries, any_code=False) is None


def test_a_row_of_another_request_is_not_known(tmp_path: Path) -> None:
    store = Store(tmp_path / "suite.jsonl", "code")
    store.append(ROW, MEASURED)
    for changed in (replace(ROW, limit_s=6.0), replace(ROW, spec={"name": "y"}), replace(ROW, objective="span")):
        assert store.known(changed, store.read(), any_code=True) is None


def test_a_row_of_other_code_is_known_only_if_any_will_do(tmp_path: Path) -> None:
    path = tmp_path / "suite.jsonl"
    Store(path, "old").append(ROW, MEASURED)
    store = Store(path, "new")
    assert store.known(ROW, store.read(), any_code=False) is None
    assert store.known(ROW, store.read(), any_code=True) == MEASURED


def test_the_newest_entry_counts(tmp_path: Path) -> None:
    store = Store(tmp_path / "suite.jsonl", "code")
    store.append(ROW, MEASURED)
    store.append(ROW, replace(MEASURED, value_ns=6))
    found = store.known(ROW, store.read(), any_code=False)
    assert found is not None
    assert found.value_ns == 6


def test_a_line_cut_short_is_dropped_and_the_next_row_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "suite.jsonl"
    store = Store(path, "code")
    store.append(ROW, MEASURED)
    whole = path.read_text()
    path.write_text(whole + whole[:40])
    assert list(store.read()) == ["row"]
    store.append(OTHER, MEASURED)
    assert list(store.read()) == ["row", "other"]
    assert path.read_text().startswith(whole)


def test_clear_forgets(tmp_path: Path) -> None:
    store = Store(tmp_path / "suite.jsonl", "code")
    store.clear()
    store.append(ROW, MEASURED)
    store.clear()
    assert store.read() == {}


def test_the_code_has_one_name() -> None:
    assert code_version() == code_version()
    assert len(code_version()) == 16
