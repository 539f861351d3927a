"""Files the benchmarks read."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
EXAMPLES = ROOT / "examples"


@cache
def read_json(path: str) -> Any:
    """Read a file below `tests/data`; the caller does not change what it gets."""
    return json.loads((DATA / path).read_text())
