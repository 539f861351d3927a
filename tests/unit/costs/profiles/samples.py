"""The synthetic profiles that the tests read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.unit.cli.running import call

from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    import pytest

    from crosspipe.costs.profiles.profile import ProfileError
    from crosspipe.errors import Fault
    from crosspipe.spec.model import Spec

FOLDER = Path(__file__).resolve().parents[3] / "data/profiles"


def text_of(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def spec_from(name: str, *options: object) -> tuple[Spec, str]:
    """Make a spec of a sample on the command line; give it with what stderr told."""
    result = call("spec", "from", FOLDER / name, *options)
    assert result.exit_code == 0, result.stderr
    assert call("spec", "validate", "-", stdin=result.stdout).exit_code == 0
    return parse_spec(result.stdout), result.stderr


def only_fault(caught: pytest.ExceptionInfo[ProfileError]) -> Fault:
    (fault,) = caught.value.faults
    return fault
