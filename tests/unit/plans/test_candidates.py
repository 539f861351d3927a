"""Which arrangements there are."""

from __future__ import annotations

from crosspipe.plans.candidates import candidates


def names(sites: str, data: int = 1) -> list[str]:
    return [candidate.name for candidate in candidates(list(sites), data)]


def test_one_site_is_compared_with_nothing() -> None:
    assert names("a") == ["site: a"]


def test_two_sites() -> None:
    assert names("ab") == ["pipeline: a, b", "data: a, b", "site: a", "site: b"]


def test_copies_of_stages_in_every_site_need_as_many_replicas() -> None:
    assert "both: a, b" in names("ab", 4)
    assert "both: a, b, c" not in names("abc", 4)
    assert "both: a, c" in names("abc", 4)


def test_subsets_of_three_and_four_sites() -> None:
    assert [name for name in names("abc") if name.startswith("pipeline")] == [
        "pipeline: a, b, c",
        "pipeline: a, b",
        "pipeline: a, c",
        "pipeline: b, c",
    ]
    assert sum(name.startswith("data") for name in names("abcd")) == 1 + 4 + 6


def test_of_more_sites_only_all_and_each() -> None:
    assert names("abcde") == ["pipeline: a, b, c, d, e", "data: a, b, c, d, e", *(f"site: {site}" for site in "abcde")]
