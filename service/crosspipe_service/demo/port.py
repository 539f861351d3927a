"""Finds a port to listen on."""

from __future__ import annotations

import contextlib
import socket

from crosspipe_service.demo.stop import FailedError

PORTS_TRIED = 100


def free_port(host: str, first: int) -> int:
    """Find the first free port from `first` on.

    Raises
    ------
    FailedError
        If a hundred in a row are busy.
    """
    for port in range(first, min(first + PORTS_TRIED, 65536)):
        with socket.socket() as probe:
            # As servers do, so that a port whose last connection has only just closed counts as free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind((host, port))
                return port
    raise FailedError(f"no port is free from {first} on; set CROSSPIPE_PORT to another")


def port_from(text: str | None) -> int:
    """Read the port to try first, 8000 where none is given.

    Raises
    ------
    FailedError
        If it is no port.
    """
    if not text:
        return 8000
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise FailedError(f"CROSSPIPE_PORT must be a port from 1 to 65535, not {text!r}")
    return int(text)
