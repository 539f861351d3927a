"""Measures the two-site example and draws its pictures: `python -m docs.generate.measure`, on an idle machine.

Writes `docs/images/two-sites.json` and one SVG for each memory size; then run `python -m docs.generate`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from docs.generate.measured import MEASURED, MEMORY_GB

from crosspipe import __version__, solve
from crosspipe.answer.restore import restore
from crosspipe.export.headline import headline
from crosspipe.export.svg import timeline_svg
from crosspipe.search.options import usable_cores
from crosspipe.spec.load import load_spec

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def main() -> None:
    """Solve the six examples."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate.measure", description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each [default: %(default)s]")
    limit_s = parser.parse_args().time_limit
    names = [f"{sites}-1.5b-{memory}gb" for memory in MEMORY_GB for sites in ("two-sites", "one-site")]
    rows = {name: _measure(name, limit_s) for name in names}
    document = {"version": __version__, "time_limit_s": limit_s, "workers": usable_cores(), "rows": rows}
    MEASURED.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _measure(name: str, limit_s: float) -> dict[str, Any]:
    spec = load_spec(EXAMPLES / f"{name}.yaml")
    answer = solve(spec, time_limit_s=limit_s)
    if name.startswith("two-sites"):
        picture = timeline_svg(*restore(spec, answer.model_dump()), headline(answer, spec.name))
        size = name.removeprefix("two-sites-1.5b-")
        MEASURED.with_name("two-sites.svg" if size == "32gb" else f"two-sites-{size}.svg").write_text(
            picture, encoding="utf-8"
        )
    objective = answer.objective
    return {
        "status": answer.status,
        "value_ms": objective.value_ms,
        "bound_ms": objective.lower_bound_ms,
        "gap": objective.gap,
        "seconds": answer.provenance.seconds,
    }


if __name__ == "__main__":
    main()
