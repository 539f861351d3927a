"""Reading and writing files named on the command line, with errors as one line and exit code 2."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crosspipe.errors import CrossPipeError
from crosspipe.spec.load import load_spec, parse_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.spec.model import Spec

BAD_INPUT = 2
INFEASIBLE = 3
NO_SCHEDULE = 4

SpecPath = Annotated[Path, typer.Argument(metavar="SPEC", help="The cluster spec (YAML or JSON); - reads stdin.")]
OutPath = Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file instead of stdout.")]
STDIN = Path("-")


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn errors a person can mend into lines on stderr and exit code 2."""
    try:
        yield
    except CrossPipeError as error:
        typer.echo(f"error [{error.code}]", err=True)
        for line in str(error).splitlines():
            typer.echo(f"  {line}", err=True)
        raise typer.Exit(BAD_INPUT) from error
    except BrokenPipeError:
        raise  # nobody reads any more: the command line ends quietly
    except OSError as error:
        typer.echo(f"error [cannot_open]\n  {error.filename}: {error.strerror}", err=True)
        raise typer.Exit(BAD_INPUT) from error


def read_spec(path: Path) -> Spec:
    """Read a spec from a file, or from stdin for `-`."""
    if path == STDIN:
        return parse_spec(sys.stdin.buffer.read())
    with path.open("rb"):  # so that an unreadable file is told as one, not as a malformed spec
        return load_spec(path)


def read_document(path: Path) -> object:
    """Read a JSON document.

    Raises
    ------
    typer.Exit
        With exit code 2 if it is not JSON.
    """
    try:
        return json.loads(sys.stdin.buffer.read() if path == STDIN else path.read_bytes())
    except (ValueError, RecursionError) as error:
        typer.echo(f"error [invalid_schedule]\n  {path}: not a JSON document ({error})", err=True)
        raise typer.Exit(BAD_INPUT) from error


def write(text: str, out: Path | None) -> None:
    """Write to a file, or to stdout if none is named."""
    if out is None:
        typer.echo(text, nl=not text.endswith("\n"))
    else:
        out.write_text(text, encoding="utf-8")
