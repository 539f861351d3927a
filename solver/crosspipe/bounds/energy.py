"""Energy: heads and tails that count the work which must run before, or after, on the same device.

An operation of a device starts after everything that must come before it there. That runs one at a time, each part no
earlier than its own head; so for any time t the operation starts no earlier than `t + (work with a head of t or more)`.

What must come before it. Microbatches are identical, so some best schedule runs every class in index order, and what
precedes an operation through precedences, that order and the order that memory forces (`memory_order.py`) is a first
part of every class (`reached.py`). Memory asks for more: when F(j) of stage s starts, let f_l, b_l, x_l be the numbers
of forwards started (its own counted), backwards ended and weight halves ended of each stage l on the device. What they
hold fits the room C:

    sum of a_l f_l - d_l b_l - w_l x_l  <=  C,

a taken by F, d given back by the backward (less what it took for W), w by W. With more forwards than must have started
still more must be given back, so take f_l for those. Of the backwards N beside those that must have ended, and of the
weight halves X, then `N d + X w` covers what is missing, d and w the largest of any stage, and X is at most the number
of backwards ended without their W. For each N the least X follows, and whichever they are, no later end of them all can
be had than with the first released ones, of the shortest duration. N is not known: the least over all N holds. (With
more than suffice alone a set only grows.) At the start of a backward the same is asked, with what it takes for itself.
F takes time, so what it takes is held at its start; an operation of no length asks for nothing.

What must come after it, mirrored: just before the end of an operation, what is given back later is held still, but for
what forwards not yet started will take. So if p_l forwards, r_l backwards and y_l weight halves end after it,

    sum of d_l r_l + w_l y_l - a_l p_l  <=  C  (its own end counted in r or y),

and r and y at least those that must come after it make forwards wait: at least so many as cover the rest, each a at
most, chosen with the least tails. The mirrored sum bounds the tail.

Heads and tails are carried along all precedences and the sums taken again until nothing moves. With them the bound of
one machine (`one_machine.py`) holds for every device and lane; it is never below head + duration + tail of any one
operation. (P. Brucker, B. Jurisch and B. Sievers, Discrete Applied Mathematics 49, 1994, raise heads and tails of
job-shop operations by what must come before and after them on a machine in the same way, without memory.)

Works for any number of stages per device and for unlike stages. Conditions: `machines` in `energy_machine.py`.

For the span the same sums are taken over heads from the first start, and tails to the last end, of compute on a device
that is held (`device_timing`): an operation without such a head may lie before that start, so its work is not counted.
The load of that device, or of any other device or lane in that time (`span_load.py`), then bounds the time it is held.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crosspipe.bounds.device_load import device_load, lane_load
from crosspipe.bounds.energy_machine import machines
from crosspipe.bounds.energy_times import energy_times
from crosspipe.bounds.span_load import span_loads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crosspipe.bounds.bound import Bound
    from crosspipe.bounds.graph import Graph
    from crosspipe.bounds.timing import Timing


def energy(graph: Graph, times: Timing) -> Bound | None:
    """Bound the makespan by the device or lane that comes out worst; None where the conditions do not hold.

    Data as for a load: `head_ns + work_ns + tail_ns` is the value, counted are operations with such a head and tail.
    """
    found = machines(graph)
    if found is None:
        return None
    problem = graph.problem
    raised = energy_times(graph, times, found, problem.lanes)
    loads = [device_load(graph, raised, device) for device in range(problem.devices_per_replica)]
    loads += [lane_load(graph, raised, lane) for lane in range(len(problem.devices), problem.resources)]
    return _worst(loads, None)


def span_energy(graph: Graph, times: Timing, held: int) -> Bound | None:
    """Bound the span by the time that device `held` is held, `times` being those of that device; None as above."""
    found = machines(graph)
    if found is None:
        return None
    raised = energy_times(graph, times, found, ())
    return _worst([device_load(graph, raised, held), *span_loads(graph, raised, held)], held)


def _worst(loads: Iterable[Bound | None], held: int | None) -> Bound | None:
    best = max((load for load in loads if load is not None), key=lambda load: load.value_ns, default=None)
    return None if best is None else replace(best, name="energy", data=best.data | {"held": held})
