"""Everyone who solves rows, by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bench import ours
from bench.peers import families, milp, naive_cpsat
from bench.row import OURS

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.contest import Contest
    from bench.measurement import Measurement

CONTENDERS: dict[str, Callable[[Contest], Measurement]] = {
    OURS: ours.run,
    "families": families.run,
    **{name: partial(families.run_one, name) for name in families.NAMES},
    **{f"{name} static": partial(families.run_static, name) for name in families.KNOWN},
    "milp-cbc": milp.run_cbc,
    "milp-highs": milp.run_highs,
    "cp-sat-naive": naive_cpsat.run,
}
