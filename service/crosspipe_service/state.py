"""What the endpoints share: the settings, the solver and the places to work at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request

    from crosspipe_service.schedules.service import Solver
    from crosspipe_service.settings import Settings
    from crosspipe_service.turns import Turns


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of one application.

    Attributes
    ----------
    settings
        As given at the start.
    solver
        Solves within them.
    solves, checks
        Places for solves, and apart from them for checks, which are short and must not wait behind solves.
    """

    settings: Settings
    solver: Solver
    solves: Turns
    checks: Turns

    def close(self) -> None:
        """Start nothing new and ask what runs to stop."""
        self.solves.close()
        self.checks.close()


def state_of(request: Request) -> ServiceState:
    """Find the state of the application that serves a request."""
    state: ServiceState = request.app.state.crosspipe
    return state
