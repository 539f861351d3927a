"""What the methods inside one solving process share: the best schedule, the bound, and when to end."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from crosspipe.errors import DeadlockError, NeverOpensError
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.timed import timed
from crosspipe.search.progress import relative_gap

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.lattice.machines import Lattice
    from crosspipe.model.result import Status
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders, Schedule


Proof = dict[str, Any]
"""What a bound's argument needs to be derived again, besides its value; plain data."""


class Shared:
    """Best schedule and bound of one problem; methods run in threads of their own.

    `on_orders` and `on_bound` hear of every improvement, with the method it came from; `on_method`, once set, of every
    method that sets to work.
    """

    def __init__(
        self,
        problem: Problem,
        objective: Objective,
        incumbent: Orders | None,
        bound_ns: int,
        until: tuple[float, float],
        on_orders: Callable[[Orders, str], None],
        on_bound: Callable[[int, str, Proof], None],
        should_stop: Callable[[], bool],
    ) -> None:
        self.problem, self.objective = problem, objective
        self._deadline = time.monotonic() + until[0]
        self._gap = until[1]
        self._on_orders, self._on_bound, self._should_stop = on_orders, on_bound, should_stop
        self._lock = threading.Lock()
        self.bound_ns = bound_ns
        self.lattice: Lattice | None = None
        self.on_method: Callable[[str], None] = lambda _: None
        self._methods: set[str] = set()
        self.infeasible = False
        self.schedule: Schedule | None = None
        self.value_ns: int | None = None
        if incumbent is not None:
            self.schedule = timed(problem, incumbent, objective)
            self.value_ns = value_ns(problem, self.schedule, objective)

    def begin(self, method: str) -> None:
        """Tell that a method has set to work, once."""
        with self._lock:
            if method not in self._methods:
                self._methods.add(method)
                self.on_method(method)

    @property
    def left_s(self) -> float:
        """Seconds until the process must have its last word."""
        return max(0.0, self._deadline - time.monotonic())

    def ended(self) -> bool:
        """Whether there is nothing left to do, no time left, or a wish to stop."""
        return self.infeasible or self._should_stop() or self.left_s == 0 or self._closed()

    def _closed(self) -> bool:
        gap = relative_gap(self.value_ns, self.bound_ns)
        return gap is not None and gap <= self._gap

    def offer(self, orders: Orders, source: str, *, equal: bool = False) -> bool:
        """Time the orders and keep them if they fit and are better (or, with `equal`, as good); says whether kept."""
        try:
            schedule = timed(self.problem, orders, self.objective)
        except (DeadlockError, NeverOpensError):
            return False  # orders made without regard to windows may never run
        value = value_ns(self.problem, schedule, self.objective)
        if not fits(self.problem, schedule):
            return False
        # What is found is told before it can end the process: another thread acts on it at once. Once the gap is closed
        # nothing more is taken: methods notice the end some time later, and what they find until then is chance.
        with self._lock:
            if self._closed():
                return False
            if self.value_ns is not None and (value > self.value_ns or (value == self.value_ns and not equal)):
                return False
            if self.value_ns is None or value < self.value_ns:
                self._on_orders(orders, source)
            self.schedule, self.value_ns = schedule, value
        return True

    def raise_bound(self, bound_ns: int, source: str, proof: Proof | None = None) -> None:
        """Keep a bound if it is better."""
        with self._lock:
            if bound_ns > self.bound_ns and not self._closed():
                self._on_bound(bound_ns, source, proof or {})
                self.bound_ns = bound_ns

    def verdict(self) -> Status:
        """Say what has become of the search.

        Waits for news that a method is just telling, so that no last word can go out before what it stands on.
        """
        with self._lock:
            if self.value_ns is None:
                return "infeasible" if self.infeasible else "unknown"
            return "optimal" if self.bound_ns >= self.value_ns else "feasible"
