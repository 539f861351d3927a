"""`crosspipe` and `python -m crosspipe`: the command line."""

import os
import signal
from importlib import import_module

INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it; Ctrl-C while it loads just ends the process."""
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    app = import_module("crosspipe.cli.main").app  # takes a moment, in which a traceback would help nobody
    signal.signal(signal.SIGINT, before)
    app(prog_name="crosspipe")


if __name__ == "__main__":
    main()
