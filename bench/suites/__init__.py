"""The suites: each module builds the rows of one, always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.suites import (
    assignment,
    bench58,
    datacenters,
    golden,
    links,
    llama405b,
    peers,
    readme,
    scale,
    versus,
    zero_bubble,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.row import Row

SUITES: dict[str, Callable[[], list[Row]]] = {
    "golden": golden.rows,
    "readme": readme.rows,
    "bench58": bench58.rows,
    "zero_bubble": zero_bubble.rows,
    "peers": peers.rows,
    "scale": scale.rows,
    "versus": versus.rows,
    "datacenters": datacenters.rows,
    "llama405b": llama405b.rows,
    "links": links.rows,
    "assignment": assignment.rows,
}
"""Builders by name, in the order in which they run."""
