"""The pages with generated parts: each stands between `<!-- generated: NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from docs.generate import (
    answer_fields,
    anytime,
    benchmarks,
    catalogues,
    commands,
    cost_truth,
    endpoints,
    frontier,
    measured,
    spec_fields,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).resolve().parents[2]

PAGES = (
    ROOT / "README.md",
    ROOT / "docs/explanation/costs.md",
    ROOT / "docs/explanation/why-memory-buys-latency.md",
    ROOT / "docs/howto/export-to-pytorch.md",
    ROOT / "docs/reference/answer.md",
    ROOT / "docs/reference/benchmarks.md",
    ROOT / "docs/reference/cli.md",
    ROOT / "docs/reference/http.md",
    ROOT / "docs/reference/spec.md",
)

PARTS: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "accelerators": catalogues.accelerators,
        "account": answer_fields.fields_of_an_account,
        "answer": answer_fields.fields_of_an_answer,
        "anytime": anytime.picture_part,
        "bench-machine": benchmarks.machine_part,
        "check": answer_fields.fields_of_a_check,
        "commands": commands.commands,
        "cost-memory": cost_truth.memory_part,
        "cost-times": cost_truth.times_part,
        "endpoints": endpoints.endpoints,
        "errors": endpoints.errors,
        "estimate": answer_fields.fields_of_an_estimate,
        "formats": catalogues.formats,
        "frontier": frontier.frontier_part,
        "models": catalogues.models,
        "plan": answer_fields.fields_of_a_plan,
        "regions": catalogues.regions,
        "rules": spec_fields.rules_between_sections,
        "settings": endpoints.settings,
        "spec": spec_fields.fields,
        "sweep": answer_fields.fields_of_a_sweep,
        "two-sites": measured.two_sites,
        **{f"bench-{suite}": partial(benchmarks.suite_part, suite) for suite in benchmarks.SUITES},
    }
)
"""What is generated, by name."""

PICTURES: Mapping[Path, Callable[[], str | None]] = MappingProxyType(
    {anytime.PICTURE: anytime.picture, frontier.PICTURE: frontier.picture}
)
"""Pictures that are generated whole; None where nothing has been measured that they could show."""

MARKED = re.compile(r"<!-- generated: (?P<name>[a-z0-9_-]+) -->\n.*?<!-- end -->", re.DOTALL)


def all_pages() -> list[Path]:
    """List every page that people read."""
    top = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    return [*top, *sorted((ROOT / "docs").rglob("*.md"))]


def rewritten(page: Path) -> str:
    """Read a page and write its generated parts anew."""
    return MARKED.sub(_part, page.read_text(encoding="utf-8"))


def _part(found: re.Match[str]) -> str:
    name = found["name"]
    return f"<!-- generated: {name} -->\n\n{PARTS[name]()}\n\n<!-- end -->"
