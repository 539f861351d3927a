"""The search kernels are compiled once per installation: before the first solve, and said so."""

from __future__ import annotations

from importlib import import_module

import typer

from crosspipe.lattice.cache import is_warm
from crosspipe.search.improve import STARTUP_S


def compile_once(time_limit_s: float) -> None:
    """Compile the kernels if a solve of this length would use them and they are not there yet."""
    if time_limit_s < STARTUP_S or is_warm():
        return
    typer.echo("compiling the search kernels, once per installation: some seconds", err=True)
    import_module("crosspipe.lattice.warm").warm_up()  # by name, so that the compiler is loaded only then
