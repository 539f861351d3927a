"""The measured process: `python -m bench.measured` reads one request on stdin, runs the contender, tells on stdout.

Messages are JSON lines: `{"state": [seconds, value_ns, bound_ns, source]}` at each change, and at last
`{"result": ...}` or `{"failure": ...}`.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import IO, TYPE_CHECKING, Any

from bench.contenders import CONTENDERS
from bench.contest import Contest

if TYPE_CHECKING:
    from bench.history import State


def main(source: IO[str], sink: IO[str]) -> None:
    """Serve one request."""

    def send(message: dict[str, Any]) -> None:
        sink.write(json.dumps(message) + "\n")
        sink.flush()

    def tell(state: State) -> None:
        send({"state": [state.seconds, state.value_ns, state.bound_ns, state.source]})

    request = json.loads(source.read())
    contest = Contest(request["spec"], request["objective"], request["limit_s"], request["threads"], tell)
    if contest.threads == 1:
        _stay_on_one_core()
    try:
        result = CONTENDERS[request["contender"]](contest)
    except Exception as error:
        traceback.print_exc()
        send({"failure": f"{type(error).__name__}: {error}"})
        return
    send({"result": result.to_json()})


def _stay_on_one_core() -> None:
    """Pin this process and all it starts to one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


if __name__ == "__main__":
    # Whatever else the contender prints, native libraries included, must not mix with the messages.
    messages = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    main(sys.stdin, messages)
