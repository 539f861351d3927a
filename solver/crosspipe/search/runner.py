"""Runs the solving process: starts it, feeds it, reads its news, ends it on time whatever it does.

The parent keeps every schedule it has heard of, so nothing is lost when the child is ended or dies.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from crosspipe.problem.wire import problem_to_json
from crosspipe.search.wire import line, orders_from_json, orders_to_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders
    from crosspipe.search.clock import Clock
    from crosspipe.search.shared import Proof

TICK_S = 0.05
"""How often the clock and the stop request are looked at."""

GRACE_S = 0.25
"""Time the child has to give its last word once told to stop; then it is ended."""

MOST_WORDS = 200
"""Characters kept of what a child that died has to say."""

News = dict[str, Any]
"""One message of the child."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """Limits of one solving process; `counted_s` stands for the time where work is counted (`deterministic`)."""

    time_s: float
    workers: int
    seed: int
    relative_gap: float
    deterministic: bool
    counted_s: float


@dataclass(frozen=True, slots=True)
class ChildResult:
    """How a solving process ended.

    Attributes
    ----------
    status
        Its own word, or `ended` if it was ended before it gave one, or `died` if it ended by itself without one.
    exit_code
        Of a child that died, as the operating system gives it; None if there is none.
    last_words
        Last line that a child that died wrote to stderr, or why it could not be started.
    methods
        Those that set to work, in that order.
    """

    status: Literal["optimal", "feasible", "infeasible", "unknown", "ended", "died"]
    exit_code: int | None = None
    last_words: str | None = None
    methods: tuple[str, ...] = ()


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
        on_orders: Callable[[Orders, str], bool],
        on_bound: Callable[[int, str, Proof], None],
        on_tick: Callable[[], None],
        enough: Callable[[], bool],
    ) -> ChildResult:
        """Run until the child has its last word, `enough()` holds, a stop is asked for or the clock shows `until_s`.

        `on_orders` says whether the orders make a schedule; `on_tick` is called all the time in between.
        """
        with tempfile.TemporaryFile() as complaints:
            try:
                child = subprocess.Popen(  # our own module, no shell, no input from outside in the arguments
                    [sys.executable, "-P", "-m", "crosspipe.search.child"],  # -P: no module of the caller's folder
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=complaints,
                    env=os.environ | {"PYTHONPATH": _search_path()},
                    # Ctrl-C on a terminal is for the parent alone: it decides what becomes of the child.
                    start_new_session=True,
                )
            except OSError as error:  # no memory, no process left
                return ChildResult("died", last_words=str(error))
            result = self._converse(child, clock, until_s, on_orders, on_bound, on_tick, enough)
            if result.status != "died":
                return result
            return replace(result, last_words=_last_line(complaints))

    def _converse(
        self,
        child: subprocess.Popen[bytes],
        clock: Clock,
        until_s: float,
        on_orders: Callable[[Orders, str], bool],
        on_bound: Callable[[int, str, Proof], None],
        on_tick: Callable[[], None],
        enough: Callable[[], bool],
    ) -> ChildResult:
        news: queue.SimpleQueue[News | None] = queue.SimpleQueue()
        threads: list[threading.Thread] = []

        def start(target: Callable[..., None], *arguments: object) -> None:
            threads.append(threading.Thread(target=target, args=arguments, daemon=True))
            threads[-1].start()

        try:
            start(_read, child.stdout, news)
            start(_write, child.stdin, line(self._request))
            told_stop_s: float | None = None
            methods: list[str] = []
            while True:
                messages = _fresh(news)
                _tell([message for message in messages if message is not None], on_orders, on_bound)
                methods += [message["method"] for message in messages if message and "method" in message]
                last = next((message["result"] for message in messages if message and "result" in message), None)
                if last is not None:
                    return ChildResult(last["status"], methods=tuple(methods))
                if None in messages:
                    return ChildResult("died", _exit_code(child), methods=tuple(methods))
                on_tick()
                if told_stop_s is None and (clock.asked_to_stop() or clock.seconds >= until_s or enough()):
                    told_stop_s = clock.seconds
                    start(_write, child.stdin, b"stop\n")
                if told_stop_s is not None and clock.seconds - told_stop_s >= GRACE_S:
                    return ChildResult("ended", methods=tuple(methods))
        finally:
            if child.poll() is None:
                child.kill()
            child.wait()
            for thread in threads:
                thread.join()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    _close(pipe)


def _fresh(news: queue.SimpleQueue[News | None]) -> list[News | None]:
    """Wait a moment for news, then take all there are; None stands for the end."""
    messages: list[News | None] = []
    try:
        messages.append(news.get(timeout=TICK_S))
        while True:
            messages.append(news.get_nowait())
    except queue.Empty:
        return messages


def _tell(
    messages: list[News],
    on_orders: Callable[[Orders, str], bool],
    on_bound: Callable[[int, str, Proof], None],
) -> None:
    """Hand news on; of several orders the newest that are good, as each is meant to be better than the one before."""
    found = [message for message in messages if "result" not in message]
    for news in reversed([news for news in found if news.get("orders") is not None]):
        if on_orders(orders_from_json(news["orders"]), news["source"]):
            break
    for news in found:
        if news.get("bound_ns") is not None:
            on_bound(news["bound_ns"], news["source"], news.get("proof", {}))


def _exit_code(child: subprocess.Popen[bytes]) -> int | None:
    """Exit code of a child that has fallen silent; None if it hangs all the same."""
    try:
        return child.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        return None


def _last_line(complaints: IO[bytes]) -> str | None:
    complaints.seek(0)
    lines = [text for text in complaints.read().decode(errors="replace").splitlines() if text.strip()]
    return lines[-1].strip()[:MOST_WORDS] if lines else None


def _read(pipe: IO[bytes], news: queue.SimpleQueue[News | None]) -> None:
    """Pass each message on, and None once there will be no more, whatever the child writes."""
    try:
        for text in pipe:
            if (message := _message(text)) is not None:
                news.put(message)
    finally:
        news.put(None)


def _message(text: bytes) -> News | None:
    """Read a line; None where it is none of ours: half of one, or what something else in the process prints."""
    try:
        message = json.loads(text) if text.endswith(b"\n") else None
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


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
    own = str(Path(__file__).resolve().parents[2])
    rest = os.environ.get("PYTHONPATH")
    return own if not rest else os.pathsep.join([own, rest])
