"""Reading profiles from disk: regular files of bounded size, and of a folder only those that are called as expected."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Final

from crosspipe.costs.profiles.profile import refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

MOST_BYTES: Final = 64 * 2**20
"""Largest file: a log of a long run."""

MOST_BYTES_IN_FOLDER: Final = 2**20
"""Largest of the many files of a folder."""

MOST_ENTRIES: Final = 1000
"""Most entries of a folder that are looked at."""


def file_text(path: Path, most_bytes: int = MOST_BYTES) -> str:
    """Read a file.

    Raises
    ------
    ProfileError
        If it is no regular file, too large or not UTF-8.
    OSError
        If it cannot be opened.
    """
    if path.exists() and not path.is_file():
        raise refused(path.name, "must be a regular file or a folder")
    with path.open("rb") as source:
        return stream_text(source, path.name, most_bytes)


def stream_text(source: BinaryIO, name: str, most_bytes: int = MOST_BYTES) -> str:
    """Read an open file to its end.

    Raises
    ------
    ProfileError
        If it is too large or not UTF-8.
    """
    data = source.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise refused(name, f"must have at most {most_bytes // 2**20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refused(name, f"must be text in UTF-8; byte {error.start} is none") from error


def folder_texts(folder: Path, wanted: Callable[[str], bool]) -> dict[str, str]:
    """Read the files of a folder whose names are wanted, without following links or going into folders.

    Raises
    ------
    ProfileError
        If there are too many entries, or a file is too large or not UTF-8.
    OSError
        If the folder or a file cannot be opened.
    """
    with os.scandir(folder) as entries:
        found = list(islice(entries, MOST_ENTRIES + 1))
    if len(found) > MOST_ENTRIES:
        raise refused(folder.name, f"must have at most {MOST_ENTRIES} entries")
    names = sorted(entry.name for entry in found if wanted(entry.name) and entry.is_file(follow_symlinks=False))
    return {name: file_text(folder / name, MOST_BYTES_IN_FOLDER) for name in names}
