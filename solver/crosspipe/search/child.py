"""The solving process: `python -m crosspipe.search.child`.

Reads one request line on stdin, then solves and writes news as JSON lines on stdout: `{"orders": ..., "source": ...}`,
`{"bound_ns": ..., "source": ..., "proof": ...}`, `{"method": ...}`, and at last `{"result": ...}`. A further line on
stdin, or its end (the parent is gone), stops it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from dataclasses import fields
from typing import IO, Any, NoReturn

from crosspipe.problem.problem import Objective
from crosspipe.problem.wire import problem_from_json
from crosspipe.search.engine import Effort, run_engine
from crosspipe.search.shared import Shared
from crosspipe.search.wire import OUT_OF_MEMORY, line, orders_from_json, orders_to_json

PATIENCE_S = 2.0
"""Time a solve has to end by itself once the parent is gone."""

FAILED = 1
"""Exit code after an error, which stands on stderr."""

ORPHANED = 3
"""Exit code where nobody is left to tell."""


def main(source: IO[bytes], sink: IO[bytes]) -> None:
    """Solve one request."""
    request: dict[str, Any] = json.loads(source.readline())
    stop = threading.Event()
    threading.Thread(target=_watch, args=(source, stop), daemon=True).start()
    lock = threading.Lock()

    def send(message: dict[str, Any]) -> None:
        with lock:
            try:
                sink.write(line(message))
                sink.flush()
            except BrokenPipeError:
                os._exit(ORPHANED)

    limits = request["limits"]
    shared = Shared(
        problem_from_json(request["problem"]),
        Objective(request["objective"]),
        None if request["incumbent"] is None else orders_from_json(request["incumbent"]),
        request["lower_bound_ns"],
        (limits["time_s"], limits["relative_gap"]),
        on_orders=lambda orders, source: send({"orders": orders_to_json(orders), "source": source}),
        on_bound=lambda bound_ns, source, proof: send({"bound_ns": bound_ns, "source": source, "proof": proof}),
        should_stop=stop.is_set,
    )
    shared.on_method = lambda method: send({"method": method})
    effort = Effort(**{field.name: limits[field.name] for field in fields(Effort)})
    send({"result": {"status": run_engine(shared, effort)}})


def _watch(source: IO[bytes], stop: threading.Event) -> None:
    """Stop at the next line; if there is none because the parent is gone, leave without waiting for long."""
    told = source.readline()
    stop.set()
    if not told:
        threading.Event().wait(PATIENCE_S)
        os._exit(ORPHANED)


def run() -> NoReturn:
    """Be the solving process, on the standard streams."""
    # Whatever else the process prints, native libraries included, must not mix with its messages.
    messages = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    code = 0
    try:
        main(sys.stdin.buffer, messages)
    except MemoryError:
        code = OUT_OF_MEMORY
    except Exception:
        traceback.print_exc()
        code = FAILED
    sys.stderr.flush()
    os._exit(code)  # the usual way out would abort: a thread is still reading stdin


if __name__ == "__main__":
    run()
