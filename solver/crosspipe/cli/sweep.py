"""`crosspipe sweep SPEC`: one spec at many values of memory, latency, bandwidth, ..."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from crosspipe.answer.summary import counted
from crosspipe.cli.files import SpecPath, plain_errors, read_spec, write
from crosspipe.cli.interrupt import INTERRUPTED, stop_on_interrupt
from crosspipe.cli.kernels import compile_once
from crosspipe.cli.options import DetailLevel, Deterministic, ObjectiveName, RelativeGap, Seed, Workers
from crosspipe.cli.sweep_line import sweep_line
from crosspipe.errors import Fault, OptionError
from crosspipe.sweeps.axes import PLACE
from crosspipe.sweeps.chart import sweep_svg
from crosspipe.sweeps.ranges import numbers
from crosspipe.sweeps.run import sweep
from crosspipe.sweeps.table import sweep_text
from crosspipe.sweeps.written import written_sweep

if TYPE_CHECKING:
    from decimal import Decimal

    from crosspipe.sweeps.models import Sweep


def sweep_command(
    spec: SpecPath,
    memory_gb: Annotated[
        list[str] | None,
        typer.Option(help="Memory of every device in GB: 32,40,48 or 32:64:8; of one site: east=32,40."),
    ] = None,
    memory: Annotated[
        list[str] | None, typer.Option(help="Factors of each device's own memory: 1x:4x:0.5x; of one site: east=1x,2x.")
    ] = None,
    latency_ms: Annotated[
        list[str] | None,
        typer.Option(help="One-way latency of every link between sites in ms; of one link: east-west=0:30:5."),
    ] = None,
    bandwidth_gbps: Annotated[
        list[str] | None, typer.Option(help="Bandwidth of every link between sites in Gb/s, or of one link.")
    ] = None,
    latency: Annotated[
        list[str] | None, typer.Option(help="Factors of each link's own latency: 0.5x,2x, or of one link.")
    ] = None,
    bandwidth: Annotated[
        list[str] | None, typer.Option(help="Factors of each link's own bandwidth, or of one link.")
    ] = None,
    microbatches: Annotated[str | None, typer.Option(help="Microbatches of one replica per step.")] = None,
    in_flight: Annotated[str | None, typer.Option(help="Most microbatches in flight on each stage.")] = None,
    traversal: Annotated[str | None, typer.Option(help="unidirectional, loop, wave: those to compare.")] = None,
    time_limit: Annotated[float, typer.Option("--time-limit", "-t", help="Seconds for each point.")] = 5.0,
    objective: ObjectiveName = "makespan",
    gap: RelativeGap = 0.0,
    tolerance: Annotated[float, typer.Option(help="Share that counts as no loss in the readings.")] = 0.01,
    seed: Seed = 0,
    workers: Workers = None,
    deterministic: Deterministic = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Keep each point in this file (JSON lines), and go on from it.")
    ] = None,
    chart: Annotated[Path | None, typer.Option(help="Draw the sweep in this file (SVG).")] = None,
    output_format: Annotated[Literal["table", "json"], typer.Option("--format", help="table for people.")] = "table",
    detail: DetailLevel = "summary",
) -> None:
    """Solve a cluster spec at every combination of some values.

    Values are numbers, ranges first:last:step, or both: 16,24 or 0:30:5. Points lend each other schedules and bounds.
    Ctrl-C keeps the points that are done; with --out the same command goes on from there.

    Exit code 0, 130 after Ctrl-C, 2 on bad input. A point without any schedule is a point, not an error.
    """
    with plain_errors():
        axes = _axes("memory_gb", memory_gb) | _axes("memory", memory, "x") | _axes("latency_ms", latency_ms)
        axes |= _axes("bandwidth_gbps", bandwidth_gbps)
        axes |= _axes("latency", latency, "x") | _axes("bandwidth", bandwidth, "x")
        axes |= _axes("microbatches", [microbatches]) | _axes("in_flight", [in_flight])
        if traversal is not None:
            axes["traversal"] = [word.strip() for word in traversal.split(",")]
        if not axes:
            rule = "must be given once at least: --memory-gb, --memory, --latency-ms, --bandwidth-gbps, ..."
            raise OptionError([Fault("/axes", rule, "none")])
        parsed = read_spec(spec)
        compile_once(time_limit)
        with sweep_line() as on_progress, stop_on_interrupt() as should_stop:
            found = sweep(
                parsed,
                axes,
                time_limit_s=time_limit,
                objective=objective,
                relative_gap=gap,
                seed=seed,
                workers=workers,
                deterministic=deterministic,
                tolerance=tolerance,
                out=out,
                on_progress=on_progress,
                should_stop=should_stop,
            )
        if chart is not None:
            write(sweep_svg(found), chart)
    write(written_sweep(found, detail) if output_format == "json" else "\n".join(sweep_text(found)), None)
    if not found.complete:
        typer.echo(_how_to_go_on(found, out), err=True)
        raise typer.Exit(INTERRUPTED)


def _axes(
    name: str, given: list[str] | list[str | None] | None, suffix: str = ""
) -> dict[str, list[Decimal] | list[str]]:
    """Read the values of an option; `PLACE=VALUES` is an axis of its own."""
    axes: dict[str, list[Decimal] | list[str]] = {}
    for text in given or []:
        if text is None:
            continue
        place, found, values = text.rpartition("=")
        key = f"{name}{PLACE}{place.strip()}" if found else name
        if key in axes:
            raise OptionError([Fault(f"/{name}", "must be given once for each place", text)])
        axes[key] = numbers(name, values, suffix)
    return axes


def _how_to_go_on(found: Sweep, out: Path | None) -> str:
    points = counted(sum(not point.reference for point in found.points), "point")
    if out is None:
        return f"stopped after {points}; give --out FILE to keep them and go on"
    return f"stopped after {points}, kept in {out}; the same command goes on from there"
