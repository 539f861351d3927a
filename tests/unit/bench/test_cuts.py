"""What is kept of an open cut, and the verdict on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bench.cuts import NOTE, beaten_by, cut_note
from bench.history import State
from bench.measurement import Measurement, with_times
from bench.row import Row
from bench.stored import keep, stored_rows
from bench.verdicts import verdicts

from crosspipe.answer.solve import solve
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from pathlib import Path

ROW = Row("assignment", "a", {}, "makespan", 10.0)


def spec(**placement: Any) -> dict[str, Any]:
    return {
        "model": {
            "layers": [
                {"name": "layer", "repeat": 4, "forward_ms": 2, "backward_input_ms": 2, "backward_weight_ms": 1},
                {"name": "head", "forward_ms": 3, "backward_input_ms": 3, "backward_weight_ms": 3},
            ]
        },
        "training": {"microbatches": 4},
        "sites": {"here": {"devices": 2}},
        "placement": placement,
    }


def test_what_is_kept_of_a_cut() -> None:
    answer = solve(parse_spec(spec(layers_per_stage="auto")), time_limit_s=5)
    note = cut_note(answer)[NOTE]
    assert sum(note["layers_per_stage"]) == 5
    assert len(note["devices"]) == len(note["recompute"]) == 2
    assert note["bottleneck_ms"] == max(device.busy_ms for device in answer.devices)
    assert note["peak_share"] is None
    assert {"value_ms", "gain", "reason"} == next(iter(note["rules"].values())).keys()
    assert beaten_by(note) == []


def test_nothing_is_kept_where_nothing_is_open() -> None:
    assert cut_note(solve(parse_spec(spec(layers_per_stage="even")), time_limit_s=0)) == {}


def test_while_a_cut_is_open_only_the_answer_proves() -> None:
    history = [State(0.1, 9, 9, "even"), State(3.0, 5, 5, "neighbour")]
    open_ = Measurement("optimal", 5, 5, total_s=4.0, notes={NOTE: {}}).with_history(history)
    found = with_times(open_)
    assert (found.first_s, found.one_percent_s, found.proof_s) == (0.1, None, 4.0)
    assert with_times(replace(open_, status="feasible")).proof_s is None
    assert with_times(replace(open_, notes=None)).proof_s == 0.1


def test_a_better_rule_is_told(tmp_path: Path) -> None:
    rules = {"even": {"gain": 0.0}, "torchtitan": {"gain": -0.1}, "Megatron": {"gain": None}}
    measured = Measurement("feasible", 9, 5, notes={NOTE: {"rules": rules}})
    (verdict,) = verdicts(ROW, measured)
    assert (verdict.name, verdict.holds, verdict.words) == ("rules", False, "worse than torchtitan")
    keep(tmp_path / "a.json", [ROW], [(ROW, measured)])
    assert stored_rows(tmp_path / "a.json")["a"][NOTE] == {"rules": rules}
    rules["torchtitan"] = {"gain": 0.1}
    assert all(verdict.holds for verdict in verdicts(ROW, measured))
    assert verdicts(ROW, Measurement("feasible", 9, 5)) == []
