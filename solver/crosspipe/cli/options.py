"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

TimeLimit = Annotated[float, typer.Option("--time-limit", "-t", help="Seconds until the answer; 0 = construct only.")]
ObjectiveName = Annotated[str, typer.Option("--objective", help="makespan or span.")]
RelativeGap = Annotated[float, typer.Option("--gap", help="Stop at this relative gap.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random choice.")]
Workers = Annotated[int | None, typer.Option("--workers", help="Solver threads [default: every core].")]
Deterministic = Annotated[bool, typer.Option("--deterministic", help="Same answer every time, for equal workers.")]
OutputFormat = Annotated[Literal["text", "json"], typer.Option("--format", help="text for people, json for tools.")]
DetailLevel = Annotated[Literal["summary", "orders", "full"], typer.Option("--detail", help="How much JSON holds.")]
