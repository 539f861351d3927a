"""Measures the frontier of the two-site example: `python -m docs.generate.measure_frontier`, on an idle machine.

Writes `docs/images/frontier.json`; then run `python -m docs.generate`. With `--keep FILE` points are kept as they are
solved, and a run that was stopped, or one with more time for each point, goes on from them.
"""

from __future__ import annotations

import argparse
import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from docs.generate.frontier import MEASURED

from crosspipe import __version__, sweep
from crosspipe.search.options import usable_cores
from crosspipe.spec.load import load_spec

if TYPE_CHECKING:
    from crosspipe import Sweep

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/two-sites-1.5b-32gb.yaml"
FORWARD_MS = Decimal("18.522")
MEMORY = [Decimal(factor) for factor in ("1", "1.25", "1.5", "2", "3", "4")]
LATENCY_MS = [FORWARD_MS * Decimal(times) for times in ("0", "0.5", "1", "2", "3", "4", "6", "8")]


def main() -> None:
    """Solve every point."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate.measure_frontier", description=__doc__)
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for each point [default: %(default)s]")
    parser.add_argument("--keep", type=Path, help="file of the points solved so far")
    options = parser.parse_args()
    axes = {"memory": MEMORY, "latency_ms": LATENCY_MS}
    found = sweep(load_spec(EXAMPLE), axes, time_limit_s=options.time_limit, out=options.keep)
    MEASURED.write_text(_written(found), encoding="utf-8")


def _written(found: Sweep) -> str:
    """Write a point a line, without the answers."""
    points = [point.model_copy(update={"answer": None}).model_dump(mode="json") for point in found.points]
    head = {"version": __version__, "workers": usable_cores()}
    rest = found.model_copy(update={"points": []}).model_dump(mode="json")
    text = json.dumps({**head, "sweep": rest | {"points": "POINTS"}}, indent=2)
    lines = ",\n".join(f"      {json.dumps(point)}" for point in points)
    return text.replace('"POINTS"', f"[\n{lines}\n    ]") + "\n"


if __name__ == "__main__":
    main()
