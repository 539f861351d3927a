"""The 70B model of the CrossPipe paper (arXiv 2507.00217) on two and four sites, delays by latency and bandwidth.

Times of a stage (F 38, B 46.5, W 20.5 ms) and the paper's measured seconds per microbatch are from its evaluation; the
memory of a stage is its layer model's, 40.5 units taken at F of which 33.5 last until W, here in units of 100 MB. A
device holds as many microbatches as there are devices, 2 % to spare (case 1), or twice as many (case 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bench.data import read_json
from bench.quantities import BYTES_PER_MB, NS_PER_US, gb, mb, ms
from bench.row import OURS, Goal, Reference, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT_S = 60.0

DEVICES = 8
FORWARD_US, BACKWARD_US, WEIGHT_US = 38_000, 46_500, 20_500
ACTIVATION_MB, RETAINED_MB = 4_050, 3_350

GAPS = {"unidirectional": 0.0075, "wave": 0.006}
"""Gap asked, by traversal."""

STATICS = {"unidirectional": ("1F1B", "ZB-H1", "greedy"), "wave": ("ZB-V static", "ZB-V")}
"""Known schedules of the paper's tables, and the greedy, by the traversal they are made for.

Ours of the name ZB-V is made with the delays in view. The paper's is not: its orders are those without delays.
"""

SOLVERS = ("milp-cbc", "milp-highs", "cp-sat-naive")
"""Others who solve the unidirectional rows of case 1."""


QUICK = {"2 sites (2, 2) case 1 unidirectional"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A cell of the paper's tables: sites, latency and time on the link in parts of F, case (1 or 3)."""

    sites: int
    latency: float
    transfer: float
    case: int

    @property
    def microbatches(self) -> int:
        """Twice the devices, and twice that in case 3."""
        return 2 * DEVICES * self.memory

    @property
    def memory(self) -> int:
        """Memory as a multiple of what 1F1B needs."""
        return 2 if self.case == 3 else 1

    @property
    def name(self) -> str:
        """Name the setting."""
        return f"{self.sites} sites ({self.latency:g}, {self.transfer:g}) case {self.case}"


def settings() -> list[Setting]:
    """Give the cells in the order of the paper."""
    return [
        Setting(table["sites"], latency, transfer, case)
        for table in read_json("bench/datacenters.json")["tables"]
        for latency, transfer in table["delays"]
        for case in (1, 3)
    ]


def rows() -> list[Row]:
    """Build the rows: by setting, then by traversal, then by contender."""
    return [row for setting in settings() for traversal in GAPS for row in _rows(setting, traversal)]


def _rows(setting: Setting, traversal: str) -> Iterator[Row]:
    solvers = SOLVERS if setting.case == 1 and traversal == "unidirectional" else ()
    for contender in (OURS, *STATICS[traversal], *solvers):
        yield Row(
            suite="datacenters",
            name=f"{setting.name} {traversal}",
            spec=spec_of(setting, traversal),
            objective="makespan",
            limit_s=LIMIT_S,
            quick=f"{setting.name} {traversal}" in QUICK and contender == OURS,
            contender=contender,
            threads=1 if contender in solvers else None,
            reference=Reference(),
            goal=Goal(gap=GAPS[traversal], gap_s=LIMIT_S) if contender == OURS else Goal(),
        )


def spec_of(setting: Setting, traversal: str) -> dict[str, Any]:
    """Write a setting as a spec: sites in a row, each joined to the next, hops inside them free."""
    chunks = 2 if traversal == "wave" else 1
    names = [f"dc{number}" for number in range(setting.sites)]
    capacity_bytes = setting.memory * DEVICES * ACTIVATION_MB * BYTES_PER_MB * 102 // 100
    site = {"devices": DEVICES // setting.sites, "memory_gb": gb(capacity_bytes)}
    link = {
        "one_way_latency_ms": ms(round(setting.latency * FORWARD_US) * NS_PER_US),
        "transfer_ms": ms(round(setting.transfer * FORWARD_US) * NS_PER_US),
    }
    return {
        "name": f"{setting.name} {traversal}",
        "model": {
            "stages": {
                "count": DEVICES * chunks,
                "forward_ms": ms(FORWARD_US * NS_PER_US // chunks),
                "backward_input_ms": ms(BACKWARD_US * NS_PER_US // chunks),
                "backward_weight_ms": ms(WEIGHT_US * NS_PER_US // chunks),
                "activation_mb": mb(ACTIVATION_MB * BYTES_PER_MB // chunks),
                "retained_mb": mb(RETAINED_MB * BYTES_PER_MB // chunks),
            }
        },
        "training": {"microbatches": setting.microbatches},
        "sites": {name: dict(site) for name in names},
        "links": [{"between": [a, b], **link} for a, b in pairwise(names)],
        "placement": {"traversal": traversal, "stages_per_device": chunks},
    }
