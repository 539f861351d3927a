"""Settings of the service, read from the environment: one field, one variable, one line of the table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from crosspipe.errors import Fault, OptionError
from crosspipe.search.options import usable_cores

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "CROSSPIPE_"


class Settings(BaseModel):
    """What the service is told from outside; the field `max_body_bytes` is the variable `CROSSPIPE_MAX_BODY_BYTES`."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    host: Annotated[str, StringConstraints(min_length=1)] = "127.0.0.1"
    """Address to listen on; 0.0.0.0 for all"""
    port: int = Field(default=8000, ge=0, le=65535)
    """Port to listen on; 0 for any free one"""
    max_body_bytes: int = Field(default=2 * 1024 * 1024, ge=1024)
    """Largest request body; more is refused with 413 before it is parsed"""
    body_timeout_s: float = Field(default=30, gt=0, le=3600)
    """Longest wait for the whole of a request body; then 408"""
    default_time_limit_s: float = Field(default=10, ge=0, le=86400)
    """Time limit of a solve that names none, in seconds"""
    max_time_limit_s: float = Field(default=60, gt=0, le=86400)
    """Largest time limit a request may ask for; the default one is not above it"""
    max_concurrent_solves: int = Field(default_factory=lambda: max(1, usable_cores() - 1), ge=1, le=1024)
    """Solves that run at a time; the default is one less than the cores, at least 1"""
    max_queued_solves: int = Field(default=16, ge=0, le=10_000)
    """Solves that may wait for their turn; one more is refused with 503"""
    max_queue_wait_s: float = Field(default=30, ge=0, le=86400)
    """Longest wait for a turn; then 503"""
    log_level: Annotated[str, StringConstraints(pattern="^(critical|error|warning|info|debug)$")] = "info"
    """critical, error, warning, info or debug"""


def settings_from(environment: Mapping[str, str] | None = None, **overrides: object) -> Settings:
    """Read the settings from variables; `overrides` that are not None win over them.

    Raises
    ------
    OptionError
        If a variable holds what its setting does not allow; the pointer names the variable.
    """
    environment = os.environ if environment is None else environment
    # An empty variable counts as unset, as Compose files pass them.
    given: dict[str, object] = {
        name: environment[PREFIX + name.upper()]
        for name in Settings.model_fields
        if environment.get(PREFIX + name.upper())
    }
    given |= {name: value for name, value in overrides.items() if value is not None}
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        raise OptionError(
            [
                Fault(
                    f"/{PREFIX}{str(fault['loc'][0]).upper()}",
                    fault["msg"][:1].lower() + fault["msg"][1:],
                    str(fault["input"]),
                )
                for fault in error.errors(include_url=False)
            ]
        ) from error
    if "default_time_limit_s" not in given:
        shorter = min(settings.default_time_limit_s, settings.max_time_limit_s)
        return settings.model_copy(update={"default_time_limit_s": shorter})
    if settings.default_time_limit_s > settings.max_time_limit_s:
        rule = f"must be at most {PREFIX}MAX_TIME_LIMIT_S"
        value, nearest = f"{settings.default_time_limit_s:g}", f"{settings.max_time_limit_s:g}"
        raise OptionError([Fault(f"/{PREFIX}DEFAULT_TIME_LIMIT_S", rule, value, nearest)])
    return settings


def settings_table() -> str:
    """Write the table of all variables, their defaults and meaning, in Markdown."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "cores - 1" if field.default_factory else str(field.default)
        rows.append(f"| `{PREFIX}{name.upper()}` | {default} | {field.description} |")
    return "\n".join(rows)
