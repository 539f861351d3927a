"""What is installed is what is here: the wheel holds both packages, their data and their types."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGES = {"crosspipe": REPOSITORY / "solver", "crosspipe_service": REPOSITORY / "service"}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    (wheel,) = folder.glob("crosspipe-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_of_a_package_is_in_the_wheel(names: set[str], package: str) -> None:
    root = PACKAGES[package]
    files = {
        path.relative_to(root).as_posix()
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert f"{package}/py.typed" in files
    assert files <= names


def test_nothing_else_is_in_the_wheel(names: set[str]) -> None:
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == set(PACKAGES)
    assert any(name.endswith("licenses/LICENSE") for name in names)
