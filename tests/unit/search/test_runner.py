from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.building import problem
from tests.processes import PATIENCE_S, exists, running, until
from tests.unit.search.children import ORDERS, PROBLEM, Started, Told, false_child

import crosspipe.search.runner as runner_module
from crosspipe.families.greedy import greedy
from crosspipe.families.settings import Settings
from crosspipe.problem.problem import Objective
from crosspipe.problem.wire import problem_to_json
from crosspipe.schedule.measure import makespan_ns
from crosspipe.schedule.replay import replay
from crosspipe.search.clock import Clock
from crosspipe.search.wire import OUT_OF_MEMORY, line, orders_from_json, orders_to_json

if TYPE_CHECKING:
    from pathlib import Path

HARD = problem(6, 12, limits={"in_flight": 3})
GOOD = json.dumps(orders_to_json(ORDERS))


@pytest.fixture(autouse=True)
def nothing_stays_behind(monkeypatch: pytest.MonkeyPatch) -> object:
    """Whatever a child does, neither process nor thread nor zombie outlives the run."""
    started, before = Started(monkeypatch), threading.active_count()
    yield started
    for child in started.all:
        assert child.returncode is not None
        assert not exists(child.pid)
        assert child.stdin is None or child.stdin.closed
        assert child.stdout is None or child.stdout.closed
    assert threading.active_count() == before


def test_a_real_child_solves_and_proves() -> None:
    told = Told()
    result = told.run()
    assert (result.status, result.exit_code, result.last_words) == ("optimal", None, None)
    best = min(makespan_ns(replay(PROBLEM, orders)) for orders in told.orders)
    assert best == max(told.bounds)
    assert set(told.sources) <= {"cp-sat", "count states", "case split", "greedy", "dive", "neighbourhood"}


def test_a_real_child_starts_from_nothing() -> None:
    told = Told()
    assert told.run(incumbent=None).status == "optimal"
    assert told.orders


def test_a_real_child_says_infeasible() -> None:
    stage = {"forward_ms": 1, "backward_input_ms": 1, "backward_weight_ms": 1, "activation_mb": 1}
    late = problem([stage] * 2, 2, limits={"deadline_ms": 5})
    assert Told().run(given=late, incumbent=None).status == "infeasible"


def test_orders_are_written_and_read_back() -> None:
    read = orders_from_json(json.loads(line(orders_to_json(ORDERS))))
    assert read.recomputed == ORDERS.recomputed
    assert len(read.sequences) == len(ORDERS.sequences)
    for one, other in zip(read.sequences, ORDERS.sequences, strict=True):
        assert one.dtype == np.int64
        assert one.tolist() == other.tolist()


def test_a_child_that_dies_is_told_with_code_and_last_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    false_child(monkeypatch, tmp_path, "sys.stderr.write('one line\\nBadThing: of a kind\\n\\n'); sys.exit(7)")
    result = Told().run()
    assert (result.status, result.exit_code, result.last_words) == ("died", 7, "BadThing: of a kind")


def test_what_a_killed_child_found_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    body = f"say({{'orders': {GOOD}}}); say({{'bound_ns': 5}}); os.kill(os.getpid(), signal.SIGKILL)"
    false_child(monkeypatch, tmp_path, body)
    told = Told()
    result = told.run()
    assert (result.status, result.exit_code, result.last_words) == ("died", -signal.SIGKILL, None)
    assert [orders_to_json(orders) for orders in told.orders] == [orders_to_json(ORDERS)]
    assert told.bounds == [5]


def test_a_real_child_that_is_killed_counts_as_dead(nothing_stays_behind: Started) -> None:
    def kill() -> None:
        until(lambda: nothing_stays_behind.all)
        time.sleep(0.5)
        os.kill(nothing_stays_behind.all[0].pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    result = Told().run(50, given=HARD, incumbent=None)
    killer.join()
    assert (result.status, result.exit_code) == ("died", -signal.SIGKILL)


def test_half_a_line_is_no_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    false_child(
        monkeypatch, tmp_path, "say({'bound_ns': 5, 'source': 'cp-sat'}); os.write(1, b'{\"bound_ns\": 6'); sys.exit(0)"
    )
    told = Told()
    assert told.run().status == "died"
    assert told.bounds == [5]


@pytest.mark.parametrize("text", ["not a message", "{", "\\xff\\xfe", "5", "null", "[]", ""])
def test_what_is_no_message_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    false_child(
        monkeypatch, tmp_path, f"os.write(1, b'{text}\\n'); say({{'bound_ns': 5, 'source': 'cp-sat'}}); sys.exit(4)"
    )
    told = Told()
    assert told.run().exit_code == 4
    assert told.bounds == [5]


def test_a_child_that_falls_silent_and_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    false_child(monkeypatch, tmp_path, "os.close(1); time.sleep(600)")
    began = time.monotonic()
    assert Told().run(300).status == "died"
    assert time.monotonic() - began < PATIENCE_S


DEAF = "for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\ntime.sleep(600)"


def test_a_child_that_hears_nothing_is_ended_in_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    false_child(monkeypatch, tmp_path, DEAF)
    told = Told()
    clock = Clock(1)
    assert told.run(1, clock=clock).status == "ended"
    assert clock.seconds < 3 * (1.1 * 1 + 0.5)
    assert told.ticks >= 1


def test_a_child_that_never_reads_a_large_problem_is_ended_in_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    large = problem(8, 64)
    assert len(json.dumps(problem_to_json(large))) > 2**16, "must not fit into a pipe"
    false_child(monkeypatch, tmp_path, DEAF)
    clock = Clock(1)
    assert Told().run(1, clock=clock, given=large, incumbent=None).status == "ended"
    assert clock.seconds < 3 * (1.1 * 1 + 0.5)


def test_a_stop_request_is_passed_on_and_the_last_word_heard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    last = "{'result': {'status': 'feasible'}}"
    better = f"{{'orders': {GOOD}, 'source': 'dive'}}); say({{'bound_ns': 4, 'source': 'cp-sat'}}"
    false_child(
        monkeypatch,
        tmp_path,
        "sys.stdin.readline(); say({'bound_ns': 3, 'source': 'cp-sat'}); assert sys.stdin.readline() == 'stop\\n';"
        f" say({better}); say({last})",
    )
    told = Told()
    result = told.run(300, clock=Clock(300, lambda: bool(told.bounds)))
    assert result.status == "feasible"
    assert told.bounds == [3, 4]
    assert len(told.orders) == 1


def test_enough_ends_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    false_child(monkeypatch, tmp_path, "say({'bound_ns': 3, 'source': 'cp-sat'}); time.sleep(600)")
    told = Told()
    told.enough = lambda: told.bounds == [3]
    began = time.monotonic()
    assert told.run(300).status == "ended"
    assert time.monotonic() - began < PATIENCE_S


def test_of_a_backlog_only_the_newest_good_orders_are_looked_at() -> None:
    """The last one is bad: then the one before counts; those before that are outdated."""
    news: queue.SimpleQueue[dict[str, object] | None] = queue.SimpleQueue()
    rows = orders_to_json(ORDERS)
    for number in range(50):
        news.put({"orders": {"sequences": rows["sequences"], "recomputed": [number]}, "source": "cp-sat"})
        news.put({"bound_ns": number, "source": "cp-sat"})
    told = Told(good=lambda orders: 49 not in orders.recomputed)
    messages = [message for message in runner_module._fresh(news) if message is not None]
    runner_module._tell(messages, told.on_orders, told.on_bound)
    assert [set(orders.recomputed) for orders in told.orders] == [{49}, {48}]
    assert told.bounds == list(range(50))


def test_a_child_that_cannot_be_started_counts_as_dead(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing here"))
    result = Told().run()
    assert (result.status, result.exit_code) == ("died", None)
    assert result.last_words is not None
    assert "nothing here" in result.last_words


def test_an_error_of_the_listener_ends_the_child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    false_child(monkeypatch, tmp_path, f"say({{'orders': {GOOD}, 'source': 'cp-sat'}}); time.sleep(600)")

    def fail(_: object) -> bool:
        raise RuntimeError("the listener failed")

    with pytest.raises(RuntimeError, match="the listener failed"):
        Told(good=fail).run(300)


def test_the_folder_of_the_caller_has_no_say_in_what_is_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('the wrong numpy')")
    monkeypatch.chdir(tmp_path)
    assert Told().run().status == "optimal"


def request(hard: bool) -> bytes:
    given = HARD if hard else PROBLEM
    incumbent = orders_to_json(greedy(HARD, Settings())) if hard else None
    limits = {"time_s": 50.0, "workers": 1, "seed": 0, "relative_gap": 0.0, "deterministic": False, "counted_s": 0.0}
    return line(
        {
            "problem": problem_to_json(given),
            "objective": Objective.MAKESPAN.value,
            "incumbent": incumbent,
            "lower_bound_ns": 0,
            "limits": limits,
        }
    )


def wait_for(key: str, pipe: IO[bytes]) -> dict[str, Any]:
    """Read messages until one has this key; its value."""
    for text in pipe:
        if key in (message := json.loads(text)):
            found: dict[str, Any] = message[key]
            return found
    raise AssertionError(f"the child ended without {key}")


def child_by_hand() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "crosspipe.search.child"]
    env = os.environ | {"PYTHONPATH": runner_module._search_path()}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=env)


@pytest.mark.parametrize("reads", [True, False])
def test_a_child_whose_parent_is_gone_ends(reads: bool) -> None:
    with child_by_hand() as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(request(hard=True))
        child.stdin.flush()
        wait_for("bound_ns", child.stdout)
        if not reads:
            child.stdout.close()
        child.stdin.close()
        until(lambda: child.poll() is not None)
        assert not running(child.pid)


def test_a_stop_line_makes_a_child_give_its_last_word() -> None:
    with child_by_hand() as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(request(hard=True))
        child.stdin.flush()
        wait_for("bound_ns", child.stdout)
        child.stdin.write(b"stop\n")
        child.stdin.flush()
        last = json.loads(child.stdout.read().splitlines()[-1])
        assert last["result"]["status"] == "feasible"
        assert child.wait(PATIENCE_S) == 0


def test_what_a_child_prints_besides_does_not_mix_with_its_messages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A library that writes to the standard output whenever it likes, without ends of lines."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, threading, time\n"
        "def chatter():\n"
        "    while True:\n"
        "        time.sleep(0.001)\n"
        "        os.write(1, b'chatter ')\n"
        "threading.Thread(target=chatter, daemon=True).start()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    told = Told()
    assert told.run().status == "optimal"
    assert told.bounds


def test_an_error_in_a_child_is_its_last_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import crosspipe.search.diving as diving\n"
        "def work(*_, **__):\n"
        "    raise RuntimeError('what a pity')\n"
        "diving.work_on_lattice = work\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = Told().run()
    assert (result.status, result.exit_code, result.last_words) == ("died", 1, "RuntimeError: what a pity")


def test_a_child_without_memory_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import crosspipe.search.diving as diving\n"
        "def work(*_, **__):\n"
        "    raise MemoryError\n"
        "diving.work_on_lattice = work\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = Told().run()
    assert (result.status, result.exit_code) == ("died", OUT_OF_MEMORY)
