"""`crosspipe serve`: the HTTP service, if the service extra is installed."""

from __future__ import annotations

import importlib.util
from importlib import import_module
from typing import Annotated

import typer

from crosspipe.cli.files import BAD_INPUT


def serve_command(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on [default: CROSSPIPE_HOST or 127.0.0.1].")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on [default: CROSSPIPE_PORT or 8000].")] = None,
) -> None:
    """Serve CrossPipe over HTTP."""
    if importlib.util.find_spec("fastapi") is None:
        typer.echo("error [missing_extra]\n  the service needs: pip install 'crosspipe[service]'", err=True)
        raise typer.Exit(BAD_INPUT)
    # By name, since the library may not import the service: the service builds on the library.
    import_module("crosspipe_service.run").main(host, port)
