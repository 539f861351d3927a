"""Starts the service, lets it solve an example, shows the answer and stays up until Ctrl-C."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from crosspipe.answer.models import Answer
from crosspipe.answer.summary import summary
from crosspipe_service.demo.port import free_port, port_from
from crosspipe_service.demo.process import service_process
from crosspipe_service.demo.stop import FailedError, StoppedError, raise_on_signals

HOST = "127.0.0.1"
EXAMPLE = Path("examples/two-sites-1.5b-32gb.yaml")
TIME_LIMIT_S = 10


def show(example: Path, time_limit_s: int, *, once: bool) -> None:
    """Solve the example by the service and, unless `once`, keep the service up.

    Raises
    ------
    FailedError, OSError
        If it cannot be started or does not answer.
    StoppedError
        When a signal ends it.
    """
    spec = example.read_bytes()
    port = free_port(HOST, port_from(os.environ.get("CROSSPIPE_PORT")))
    with service_process(HOST, port) as service:
        say(f"POST {service.address}/v1/schedules?time_limit_s={time_limit_s} with {example}")
        for line in summary(Answer.model_validate_json(service.solve(spec, time_limit_s))):
            say(line)
        if not once:
            say(f"Open {service.address}/docs (Ctrl-C ends the service)")
            service.wait()


def say(line: str) -> None:
    """Show a line at once, also where the output is a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Run the demo: 0 where it ended as asked, 1 where something failed."""
    parser = argparse.ArgumentParser(prog="python -m crosspipe_service.demo", description=__doc__)
    parser.add_argument("--once", action="store_true", help="end after the answer")
    parser.add_argument("--example", type=Path, default=EXAMPLE, help="spec to solve [default: %(default)s]")
    parser.add_argument("--time-limit-s", type=int, default=TIME_LIMIT_S, help="for the solve [default: %(default)s]")
    options = parser.parse_args()
    raise_on_signals()
    try:
        show(options.example, options.time_limit_s, once=options.once)
    except StoppedError:
        say("Stopped.")
    except (FailedError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
