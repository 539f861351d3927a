"""Real and false solving processes, and what a runner is told by them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.building import problem

import crosspipe.search.runner as running
from crosspipe.families.one_f_one_b import split_one_f_one_b
from crosspipe.families.registry import Family
from crosspipe.problem.problem import Objective
from crosspipe.search.clock import Clock
from crosspipe.search.runner import ChildLimits, ChildResult, Runner

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Orders

PROBLEM = problem(3, 4)
ORDERS = Family("1F1B split", split_one_f_one_b).build(PROBLEM)


class Started:
    """Every process that the runner starts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.all: list[subprocess.Popen[bytes]] = []
        popen = subprocess.Popen

        def start(*args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
            self.all.append(popen(*args, **kwargs))
            return self.all[-1]

        monkeypatch.setattr(running.subprocess, "Popen", start)


def false_child(monkeypatch: pytest.MonkeyPatch, folder: Path, body: str) -> None:
    """Let the runner start this Python text instead of the solving process; it may use `say(message)`."""
    script = folder / "false-child"
    script.write_text(
        f"#!{sys.executable} -SE\n"
        "import json, os, signal, sys, time\n"
        "def say(message):\n"
        "    os.write(1, (json.dumps({'source': 'a test'} | message) + '\\n').encode())\n" + body
    )
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))


@dataclass
class Told:
    """What a runner says, and answers that are given back."""

    orders: list[Orders] = field(default_factory=list)
    bounds: list[int] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    ticks: int = 0
    good: Callable[[Orders], bool] = lambda _: True
    enough: Callable[[], bool] = lambda: False

    def run(
        self,
        until_s: float = 20.0,
        *,
        clock: Clock | None = None,
        given: Problem = PROBLEM,
        incumbent: Orders | None = ORDERS,
        bound_ns: int = 0,
    ) -> ChildResult:
        limits = ChildLimits(time_s=until_s, workers=1, seed=0, relative_gap=0.0, deterministic=False, counted_s=0.0)
        runner = Runner(given, Objective.MAKESPAN, incumbent, bound_ns, limits)
        return runner.run(clock or Clock(until_s), until_s, self.on_orders, self.on_bound, self._on_tick, self.enough)

    def on_bound(self, bound_ns: int, source: str, _: object) -> None:
        self.bounds.append(bound_ns)
        self.sources.append(source)

    def on_orders(self, orders: Orders, source: str) -> bool:
        self.orders.append(orders)
        self.sources.append(source)
        return self.good(orders)

    def _on_tick(self) -> None:
        self.ticks += 1
