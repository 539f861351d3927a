"""Runs the solving process: starts it, feeds it, reads its news, ends it on time whatever it does.

The parent keeps every schedule it has heard of, so nothing is lost when the child is ended or dies.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import crosspipe
from crosspipe.problem.wire import problem_to_json
from crosspipe.search.wire import line, orders_from_json, orders_to_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders
    from crosspipe.search.clock import Clock

TICK_S = 0.05
"""How often the clock and the stop request are looked at."""

GRACE_S = 0.25
"""Time the child has to give its last word once told to stop; then it is ended."""

HEARTBEAT_S = 1.0
"""Progress is told at least this often."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """Limits of one solving process, as the model takes them."""

    time_s: float
    workers: int
    seed: int
    relative_gap: float
    deterministic: bool


@dataclass(frozen=True, slots=True)
class ChildResult:
    """How a solving process ended.

    Attributes
    ----------
    status
        Its own word, or `ended` if it was ended before it gave one, or `died` if it ended by itself without one.
    exit_code
        As the operating system gives it; None if the process had to be ended.
    """

    status: Literal["optimal", "feasible", "infeasible", "unknown", "ended", "died"]
    exit_code: int | None = None


class Runner:
    """One solving process for one problem."""

    def __init__(
        self,
        problem: Problem,
        objective: Objective,
        incumbent: Orders | None,
        lower_bound_ns: int,
        limits: ChildLimits,
    ) -> None:
        self._request = {
            "problem": problem_to_json(problem),
            "objective": objective.value,
            "incumbent": None if incumbent is None else orders_to_json(incumbent),
            "lower_bound_ns": lower_bound_ns,
            "limits": asdict(limits),
        }

    def run(
        self,
        clock: Clock,
        until_s: float,
        on_orders: Callable[[Orders], None],
        on_bound: Callable[[int], None],
        on_tick: Callable[[], None],
        enough: Callable[[], bool],
    ) -> ChildResult:
        """Run until the child has its last word, `enough()` holds, a stop is asked for or the clock shows `until_s`."""
        child = subprocess.Popen(  # our own module, no shell, no input from outside in the arguments
            [sys.executable, "-m", "crosspipe.search.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": _search_path()},
        )
        news: queue.Queue[dict[str, Any] | None] = queue.Queue()
        reader = threading.Thread(target=_read, args=(child.stdout, news), daemon=True)
        writer = threading.Thread(target=_write, args=(child.stdin, line(self._request)), daemon=True)
        reader.start()
        writer.start()
        try:
            return _listen(child, news, clock, until_s, on_orders, on_bound, on_tick, enough)
        finally:
            if child.poll() is None:
                child.kill()
            child.wait()
            writer.join()
            reader.join()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    _close(pipe)


def _listen(
    child: subprocess.Popen[bytes],
    news: queue.Queue[dict[str, Any] | None],
    clock: Clock,
    until_s: float,
    on_orders: Callable[[Orders], None],
    on_bound: Callable[[int], None],
    on_tick: Callable[[], None],
    enough: Callable[[], bool],
) -> ChildResult:
    told_stop_s: float | None = None
    told_progress_s = clock.seconds
    while True:
        try:
            message = news.get(timeout=TICK_S)
        except queue.Empty:
            message = {}
        if message is None:
            return ChildResult("died", child.wait())
        if "orders" in message:
            on_orders(orders_from_json(message["orders"]))
        if "bound_ns" in message:
            on_bound(message["bound_ns"])
        if "result" in message:
            result = message["result"]
            if result["orders"] is not None:
                on_orders(orders_from_json(result["orders"]))
            if result["bound_ns"] is not None:
                on_bound(result["bound_ns"])
            return ChildResult(result["status"])
        if clock.seconds - told_progress_s >= HEARTBEAT_S:
            told_progress_s = clock.seconds
            on_tick()
        if told_stop_s is None and (clock.asked_to_stop() or clock.seconds >= until_s or enough()):
            told_stop_s = clock.seconds
            threading.Thread(target=_write, args=(child.stdin, b"stop\n"), daemon=True).start()
        if told_stop_s is not None and clock.seconds - told_stop_s >= GRACE_S:
            return ChildResult("ended")


def _read(pipe: IO[bytes], news: queue.Queue[dict[str, Any] | None]) -> None:
    for text in pipe:
        if not text.endswith(b"\n"):
            break  # the child was ended in the middle of a line
        news.put(json.loads(text))
    news.put(None)


def _write(pipe: IO[bytes], data: bytes) -> None:
    try:
        pipe.write(data)
        pipe.flush()
    except (BrokenPipeError, ValueError):
        return  # the child has ended; the reader tells


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        return  # unsent bytes for a child that has ended


def _search_path() -> str:
    """Where the child finds this very package, installed or not."""
    own = str(Path(crosspipe.__file__).resolve().parents[1])
    rest = os.environ.get("PYTHONPATH")
    return own if not rest else os.pathsep.join([own, rest])
