"""What people get wrong: one plain line that says where and why, exit code 2, never a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.running import SMALL, call

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = {
    "solve": ("solve", "{spec}", "-t", "0"),
    "compare": ("compare", "{spec}", "-t", "0"),
    "check": ("check", "{spec}", "{schedule}"),
    "export": ("export", "{spec}", "--format", "svg", "-t", "0"),
    "bound": ("bound", "{spec}", "-t", "0"),
    "verify": ("verify", "{spec}", "{schedule}"),
    "validate": ("spec", "validate", "{spec}"),
    "explain": ("spec", "explain", "{spec}"),
}


def filled(name: str, spec: object, schedule: object) -> list[str]:
    return [word.format(spec=spec, schedule=schedule) for word in COMMANDS[name]]


@pytest.fixture
def schedule(tmp_path: Path) -> Path:
    path = tmp_path / "schedule.json"
    path.write_text('{"operations": []}')
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_a_missing_spec(name: str, tmp_path: Path, schedule: Path) -> None:
    result = call(*filled(name, tmp_path / "nowhere.yaml", schedule))
    assert result.exit_code == 2
    assert result.stderr == f"error [cannot_open]\n  {tmp_path / 'nowhere.yaml'}: No such file or directory\n"
    assert result.stdout == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_for_a_spec(name: str, tmp_path: Path, schedule: Path) -> None:
    result = call(*filled(name, tmp_path, schedule))
    assert result.exit_code == 2
    assert "Is a directory" in result.stderr


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (b"model: [", "invalid_syntax", "line"),
        (b"\x00\xff\xfe", "invalid_syntax", ""),
        (b"", "invalid_syntax", "must not be empty"),
        (b"[]", "invalid_spec", "must be a mapping"),
        (SMALL.replace("forward_ms", "forwards_ms").encode(), "invalid_spec", "/model/stages/forwards_ms"),
        (SMALL.replace("3.1", "-3.1").encode(), "invalid_spec", "/model/stages/forward_ms"),
        (SMALL.replace("microbatches: 3", "microbatches: 0").encode(), "invalid_spec", "/training/microbatches"),
        (SMALL.replace("3.1", ".nan").encode(), "invalid_spec", "/model/stages/forward_ms"),
    ],
    ids=["broken", "binary", "empty", "a list", "misspelt", "negative", "zero", "not a number"],
)
def test_a_bad_spec(name: str, text: bytes, code: str, words: str, tmp_path: Path, schedule: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_bytes(text)
    result = call(*filled(name, path, schedule))
    assert result.exit_code == 2
    first, *rest = result.stderr.splitlines()
    assert first == f"error [{code}]"
    assert rest
    assert words in result.stderr
    assert all(line.startswith("  ") for line in rest)
    assert result.stdout == ""


@pytest.mark.parametrize("name", ["check", "verify"])
@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000], ids=["empty", "half", "binary", "deep"])
def test_what_is_no_json(name: str, text: bytes, tmp_path: Path) -> None:
    assert refused(name, text, tmp_path) == 2


@pytest.mark.parametrize("text", [b"5", b"[]", b"null", b"{}", b'{"devices": 3}', b'{"operations": [[]]}'])
def test_what_is_no_schedule(text: bytes, tmp_path: Path) -> None:
    assert refused("check", text, tmp_path) == 2


def refused(name: str, text: bytes, folder: Path) -> int:
    spec, schedule = folder / "spec.yaml", folder / "schedule.json"
    spec.write_text(SMALL)
    schedule.write_bytes(text)
    result = call(*filled(name, spec, schedule))
    assert result.stderr.startswith("error [invalid_")
    assert result.stdout == ""
    return result.exit_code


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "-", "-t", "0", "--out", "{out}"),
        ("export", "-", "-t", "0", "--format", "svg", "--out", "{out}"),
        ("spec", "schema", "--out", "{out}"),
        ("spec", "explain", "-", "--out", "{out}"),
        ("spec", "init", "--out", "{out}"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_file_that_cannot_be_written(arguments: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "no such folder" / "file"
    result = call(*(word.format(out=out) for word in arguments), stdin=SMALL)
    assert result.exit_code == 2
    assert result.stderr == f"error [cannot_open]\n  {out}: No such file or directory\n"


def test_no_command_shows_help_and_a_version_is_told() -> None:
    assert "solve" in call("--help").stdout
    assert call("--version").stdout.strip().count(".") == 2
    assert call("nonsense").exit_code == 2
