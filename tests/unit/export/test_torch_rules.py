"""The rules of torch's compute_only format, checked without torch: what torch itself lets pass must be refused here."""

from __future__ import annotations

import pytest

from crosspipe.errors import ExportError
from crosspipe.export.torch_rules import Cell, check_rows, parse_cell, parse_rows, write_rows

ONE_F_ONE_B = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"
SPLIT = "0F0,0F1,0B0,0B1\n1F0,1I0,1F1,1I1,1W0,1W1\n"


def check(text: str, ranks: int = 2, stages: int = 2, microbatches: int = 2) -> None:
    check_rows(parse_rows(text), ranks, stages, microbatches)


@pytest.mark.parametrize("text", ["0F0", "12I345", "7W0", "0B99"])
def test_cell_is_read_and_written_back(text: str) -> None:
    assert str(parse_cell(text)) == text


@pytest.mark.parametrize(
    "text",
    ["12F0junk", "0BW1", "0Fx", "0F", "F0", "0w1", "-1F0", "0F-1", "01F0", "0SEND_F0", "0UNSHARD", "٣F0", "0F0\n"],
)
def test_cell_with_anything_else_is_refused_where_torch_reads_a_prefix(text: str) -> None:
    with pytest.raises(ExportError, match=r"^cell grammar: "):
        parse_cell(text)


@pytest.mark.parametrize("text", [ONE_F_ONE_B, SPLIT, "0F0,0F1,0I0,0B1,0W0\n1F0,1B0,1F1,1I1,1W1\n"])
def test_legal_rows_pass_and_survive_reading_back(text: str) -> None:
    check(text)
    assert write_rows(parse_rows(text)) == text


def test_blanks_and_empty_cells_are_idle() -> None:
    assert parse_rows("0F0,, 0B0 \n") == ((Cell(0, "F", 0), Cell(0, "B", 0)),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0F0,0F1,0B0,0B1\n", "2 ranks need 2 rows"),
        ("0F0,0F1,0B0,0B1\n\n", "rank 1 holds no stage"),
        ("0F0,0F1,0B0\n1F0,1B0,1F1,1B1\n", "0 B for stage 0, microbatch 1"),
        ("0F0,0F1,0F0,0B0,0B1\n1F0,1B0,1F1,1B1\n", "2 F, 0 I, 0 W, 1 B for stage 0, microbatch 0"),
        ("0F0,0F1,0B0,0B1\n1F0,1I0,1F1,1B1\n", "1 F, 1 I, 0 W, 0 B for stage 1, microbatch 0"),
        ("0F0,0F1,0B0,0B1\n1F0,1B0,1I0,1W0,1F1,1B1\n", "1 F, 1 I, 1 W, 1 B for stage 1, microbatch 0"),
        ("0F0,0F1,0B0,0B1,1F1\n1F0,1B0,1B1\n", "stage 1 on ranks 0 and 1"),
        ("0F0,0F1,0B0,0B1,0F2\n1F0,1B0,1F1,1B1\n", "got 0F2 on rank 0"),
        ("0F0,0F1,0B0,0B1,2F0\n1F0,1B0,1F1,1B1\n", "got 2F0 on rank 0"),
    ],
)
def test_coverage_is_counted(text: str, message: str) -> None:
    with pytest.raises(ExportError, match=r"^C1 coverage: ") as caught:
        check(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0F0,0F1,0B0,0B1\n1B0,1F0,1F1,1B1\n", "1F0 must come before 1B0"),
        ("0F0,0F1,0B0,0B1\n1F0,1I0,1F1,1W1,1I1,1W0\n", "1I1 must come before 1W1"),
    ],
)
def test_row_order(text: str, message: str) -> None:
    with pytest.raises(ExportError, match=r"^C2 order: ") as caught:
        check(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n",  # rank 0 waits for the gradient of 0, rank 1 first for the input of 1
        "0F0,0B0,0F1,0B1\n1F0,1F1,1I0,1I1,1W0,1W1\n",
    ],
)
def test_rows_that_wait_for_each_other_are_refused(text: str) -> None:
    with pytest.raises(ExportError, match=r"^C2 order: the rows wait for each other in a circle"):
        check(text)


def test_last_stage_must_run_forwards_in_ascending_order() -> None:
    with pytest.raises(ExportError, match=r"^C3 last stage: .*got 1 before 0"):
        check("0F0,0F1,0B0,0B1\n1F1,1F0,1B0,1B1\n")


def test_other_stages_may_permute_forwards() -> None:
    check("0F1,0F0,0B0,0B1\n1F0,1F1,1B0,1B1\n")
