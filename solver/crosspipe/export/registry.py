"""The formats a schedule can be written in, by name: one table for the command line and the service."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from crosspipe.errors import ExportError
from crosspipe.export.chrome_trace import chrome_trace
from crosspipe.export.svg import Caption, timeline_svg
from crosspipe.export.torch_csv import torch_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule


@dataclass(frozen=True, slots=True)
class ExportFile:
    """One text file of an export.

    Attributes
    ----------
    suffix
        What follows the stem the caller chooses, its dot included.
    media_type
        For the Content-Type header, charset included where the type has one.
    text
        The content, ending in a newline.
    """

    suffix: str
    media_type: str
    text: str


@dataclass(frozen=True, slots=True)
class Format:
    """A format.

    Attributes
    ----------
    name
        As on the command line and in the path of the service.
    summary
        One line that says who reads it.
    write
        From problem, schedule and caption (used by pictures alone) to files: the first is the format itself, the others
        belong beside it. Raises `ExportError` where the format cannot say what the schedule says.
    """

    name: str
    summary: str
    write: Callable[[Problem, Schedule, Caption | None], tuple[ExportFile, ...]]


def export(name: str, problem: Problem, schedule: Schedule, caption: Caption | None = None) -> tuple[ExportFile, ...]:
    """Write a schedule in a format of `FORMATS`.

    Raises
    ------
    ExportError
        If there is no such format, or the format cannot hold the schedule.
    """
    return format_named(name).write(problem, schedule, caption)


def format_named(name: str) -> Format:
    """Find a format.

    Raises
    ------
    ExportError
        If there is no such format.
    """
    if name not in FORMATS:
        raise ExportError(f"format: must be one of {', '.join(FORMATS)} (got {name!r})")
    return FORMATS[name]


def _torch_csv(problem: Problem, schedule: Schedule, _: Caption | None) -> tuple[ExportFile, ...]:
    written = torch_csv(problem, schedule)
    beside = json.dumps(written.sidecar, indent=2, ensure_ascii=False) + "\n"
    return (
        ExportFile(".csv", "text/csv; charset=utf-8", written.csv),
        ExportFile(".torch.json", "application/json", beside),
    )


def _torch_sidecar(problem: Problem, schedule: Schedule, caption: Caption | None) -> tuple[ExportFile, ...]:
    return _torch_csv(problem, schedule, caption)[1:]


def _svg(problem: Problem, schedule: Schedule, caption: Caption | None) -> tuple[ExportFile, ...]:
    return (ExportFile(".svg", "image/svg+xml", timeline_svg(problem, schedule, caption)),)


def _chrome_trace(problem: Problem, schedule: Schedule, _: Caption | None) -> tuple[ExportFile, ...]:
    return (ExportFile(".trace.json", "application/json", chrome_trace(problem, schedule)),)


FORMATS = MappingProxyType(
    {
        one.name: one
        for one in (
            Format("torch-csv", "compute_only CSV for torch.distributed.pipelining, with its sidecar", _torch_csv),
            Format("torch-csv-sidecar", "the sidecar of torch-csv alone: maps, durations, caveats", _torch_sidecar),
            Format("svg", "picture: timeline and memory, for pages and documents", _svg),
            Format("chrome-trace", "Trace Event Format for chrome://tracing and Perfetto", _chrome_trace),
        )
    }
)
"""All formats by name."""
