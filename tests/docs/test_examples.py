"""Every YAML, JSON and Python block of README and docs is what the page says it is."""

from __future__ import annotations

import contextlib
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from docs.generate.pages import ROOT, all_pages
from tests.docs.fences import Fence, fences
from tests.docs.session import ADDRESS, Session
from tests.service.serving import serving

from crosspipe import check, solve
from crosspipe.costs.expand import expand
from crosspipe.problem.compile import compile_spec
from crosspipe.spec.load import load_spec, parse_spec

if TYPE_CHECKING:
    from pathlib import Path

LANGUAGES = {"console", "json", "python", "sh", "text", "yaml"}
PART = "part"
BASE = ROOT / "examples/two-sites-1.5b-32gb.yaml"

ALL = [fence for page in all_pages() for fence in fences(page)]


def of(language: str) -> list[Fence]:
    return [fence for fence in ALL if fence.language == language]


def place(value: object) -> str:
    return value.place if isinstance(value, Fence) else str(value)


def test_there_are_examples_and_each_is_of_a_kind_that_is_tested() -> None:
    assert {fence.language for fence in ALL} <= LANGUAGES
    assert len(of("yaml")) >= 5


@pytest.mark.parametrize("fence", of("yaml"), ids=place)
def test_a_spec_is_valid_and_compiles(fence: Fence) -> None:
    """A block `yaml part` holds sections that replace those of the two-site example."""
    spec = parse_spec(fence.text) if fence.mode != PART else parse_spec(yaml.safe_load(BASE.read_text()) | part(fence))
    assert compile_spec(expand(spec).spec, "docs")


def part(fence: Fence) -> dict[str, Any]:
    sections: dict[str, Any] = yaml.safe_load(fence.text)
    return sections


@pytest.mark.parametrize("fence", of("json"), ids=place)
def test_json_is_json(fence: Fence) -> None:
    json.loads(fence.text)


@pytest.mark.parametrize("fence", of("sh"), ids=place)
def test_commands_for_the_shell_name_what_is_there(fence: Fence) -> None:
    """Blocks `sh` install or start things, so they are read, not run: their make targets and files exist."""
    targets = [line.partition(":")[0] for line in (ROOT / "Makefile").read_text().splitlines() if ": " in line]
    for line in fence.text.splitlines():
        command = line.partition("#")[0].split()
        if command[:1] == ["make"]:
            assert command[1] in targets
        elif command[:1] == ["docker"]:
            assert (ROOT / "Dockerfile").exists()
            assert (ROOT / "docker-compose.yml").exists()


def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a page run in order, in one namespace; a `text` block right after one is what it prints."""
    with serving() as client:
        for page in sorted({fence.page for fence in of("python")}):
            folder = tmp_path / page.stem
            folder.mkdir()
            session = Session(folder, str(client.base_url))
            monkeypatch.chdir(folder)
            run_page(page, session, str(client.base_url))


def run_page(page: Path, session: Session, address: str) -> None:
    found = fences(page)
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, fence in enumerate(found):
        session.save(fence)
        if fence.language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(fence.text.replace(ADDRESS, address), fence.place, "exec"), names)  # noqa: S102  # the documents' own code
        after = found[number + 1] if number + 1 < len(found) else None
        if after is not None and after.language == "text":
            assert printed.getvalue() == after.text, fence.place


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.name)
def test_every_example_is_described_and_has_a_schedule(path: Path) -> None:
    assert path.name in (ROOT / "docs/reference/examples.md").read_text()
    answer = solve(load_spec(path), time_limit_s=0)
    assert check(load_spec(path), answer.model_dump()).ok
