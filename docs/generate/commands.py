"""The commands and their options, from the command line itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from docs.generate.markdown import code, paragraph, table

from crosspipe.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator


def commands() -> str:
    """Write one section per command."""
    root = typer.main.get_command(app)
    return "\n\n".join(_section(name, command) for name, command in _walk("crosspipe", root))


def _walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for key, part in inner.items():
        yield from _walk(f"{name} {key}", part)


def _section(name: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and one.name != "help"]
    usage = " ".join([name, *(_metavar(one) for one in arguments), *(["[OPTIONS]"] if options else [])])
    parts = [f"### {name}", code(usage), paragraph(command.help or "")]
    if arguments or options:
        rows = [(code(_metavar(one)), "", one.help or "") for one in arguments]
        rows += [(", ".join(map(code, reversed(one.opts))), _default(one), one.help or "") for one in options]
        parts.append(table(("argument or option", "default", "meaning"), rows))
    return "\n\n".join(parts)


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name).upper().strip("{}")


def _default(option: Any) -> str:
    if option.required:
        return "**required**"
    if option.is_flag:
        return "off"
    return "" if option.default is None else code(str(option.default))
