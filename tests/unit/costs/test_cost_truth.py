"""Estimates against what the Zero Bubble paper measured (arXiv 2401.10241, Tables 4 and 6)."""

from __future__ import annotations

import pytest
from docs.generate.cost_truth import Row, errors, measured, one_share, peak_mb, rows, three_shares

TIME_BAR = 0.20
MEMORY_BAR = 0.10
MB_PER_GB = 1000
MB_PER_GIB = 1.024**3 * 1000

JUDGED = [row for row in rows() if not row.fitted]


def named(row: Row) -> str:
    return f"{row.model}-{row.microbatches}"


def test_half_of_the_rows_are_judged() -> None:
    assert len(rows()) == 2 * len(JUDGED) == 12
    assert {row.model for row in JUDGED}.isdisjoint(row.model for row in rows() if row.fitted)


@pytest.mark.parametrize("row", JUDGED, ids=named)
def test_times_of_models_that_nothing_was_fitted_on(row: Row) -> None:
    """F, B, W and their sum, one share of the peak for each of F, B and W."""
    assert max(map(abs, errors(row, three_shares()))) <= TIME_BAR


@pytest.mark.parametrize("row", JUDGED, ids=named)
def test_one_share_of_the_peak_holds_for_the_step(row: Row) -> None:
    """Not for W alone, which is matrix products and nothing else: a third too long."""
    *parts, whole = errors(row, one_share())
    assert abs(whole) <= TIME_BAR
    assert parts[2] > TIME_BAR


def test_shares_of_the_peak_are_possible() -> None:
    assert all(0 < share < 1 for share in (*three_shares(), *one_share()))


@pytest.mark.parametrize("model", measured())
def test_peak_memory_of_1f1b(model: str) -> None:
    """The paper does not say which gigabytes it means: both keep the bar."""
    for unit in (MB_PER_GB, MB_PER_GIB):
        assert peak_mb(model) / unit == pytest.approx(measured()[model]["memory_gb"], rel=MEMORY_BAR)
