"""Runs the service until it is told to end."""

from __future__ import annotations

import signal
import sys
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.config import LOGGING_CONFIG

from crosspipe.errors import OptionError
from crosspipe_service.app import create_app
from crosspipe_service.settings import settings_from

if TYPE_CHECKING:
    from types import FrameType

    from crosspipe_service.state import ServiceState

BAD_SETTING = 2
GRACE_S = 10
"""Time to answer what is being solved with the best found so far, after a signal to end."""


class Server(uvicorn.Server):
    """Uvicorn that asks running solves to stop as soon as it is told to end, so that they still answer."""

    def __init__(self, config: uvicorn.Config, state: ServiceState) -> None:
        super().__init__(config)
        self._state = state

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Close the service and let uvicorn wind down."""
        self._state.close()
        super().handle_exit(sig, frame)


def main(host: str | None = None, port: int | None = None) -> None:
    """Serve; what is None comes from the environment.

    Raises
    ------
    SystemExit
        With 2 if a setting is out of range, 3 if the port cannot be bound.
    """
    try:
        settings = settings_from(host=host, port=port)
    except OptionError as error:
        sys.stderr.write(f"error [{error.code}]\n" + "".join(f"  {fault}\n" for fault in error.faults))
        raise SystemExit(BAD_SETTING) from None
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=_log_config(settings.log_level),
        log_level=settings.log_level,
        timeout_graceful_shutdown=GRACE_S,
        server_header=False,
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        # Uvicorn raises the signal again once it has wound down; ending on request is no failure.
        signal.signal(number, _ended)
    Server(config, app.state.crosspipe).run()


def _log_config(level: str) -> dict[str, Any]:
    """Log what the service itself says where uvicorn logs."""
    config = deepcopy(LOGGING_CONFIG)
    config["loggers"]["crosspipe_service"] = {"handlers": ["default"], "level": level.upper(), "propagate": False}
    return config


def _ended(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the server has already ended."""
