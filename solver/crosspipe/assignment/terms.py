"""What one stage, with the least that stands before and after it, says of the makespan of any schedule.

With F, B and W of one microbatch on the stage's device, m microbatches, the head h (the earliest a first activation can
arrive), the tail t (what must follow the last B on the stages before), the round trip R (from the end of F to the start
of B, through all later stages), at most c microbatches between F and the end of B, and at most k between F and the end
of W:

- the device works on everything after h: h + m (F + B + W);
- after the last B comes the tail, and at least m - k of its W come before it: h + m (F + B) + (m - k) W + t;
- before the first B at most c F fit: h + F + R + (m - c) F + m (B + W), and with the tail in place of the late W;
- every F waits for the B of c microbatches before: h + (1 + (m - 1) div c) (F + R + B) + t;
- when the last F starts, m - c B and m - k W are done: h + m F + (m - c) B + (m - k) W + R + B + t.

Each holds on its own; unlike microbatches put their sum in the first and their least in the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.space import Run


def least_makespan(
    head: IntArray,
    head_and_tail: IntArray,
    round_trip: IntArray,
    times: tuple[IntArray, IntArray, IntArray],
    load: IntArray,
    counts: tuple[IntArray, IntArray],
    microbatches: int,
) -> IntArray:
    """Bound the makespan from one stage, in nanoseconds; all arrays broadcast against each other.

    Parameters
    ----------
    head, head_and_tail, round_trip
        h, h + t and R as above.
    times
        F, B and W.
    load
        m (F + B + W).
    counts
        c and k, at least 1.
    microbatches
        m.
    """
    forward, backward, weight = times
    in_flight, held = counts
    m = microbatches
    trip = forward + round_trip + backward
    late = (m - held) * weight
    most = head + load
    for term in (
        head_and_tail + m * (forward + backward) + late,
        head + forward + round_trip + (m - in_flight) * forward + m * (backward + weight),
        head_and_tail + forward + round_trip + (m - in_flight) * forward + m * backward + late,
        head_and_tail + (1 + (m - 1) // in_flight) * trip,
        head + (1 + (m - 1) // held) * (trip + weight),
        head_and_tail + m * forward + (m - in_flight) * backward + late + round_trip + backward,
    ):
        most = np.maximum(most, term)
    return most


def least_of_runs(runs: Sequence[Run], hops: Sequence[tuple[int, int]], microbatches: int, *, trains: bool) -> int:
    """Bound the makespan of one assignment in nanoseconds: its runs, and the hop after each, there and back.

    `trains` says whether every run has a backward; if not, heads and loads alone are looked at.
    """
    trips, trip = [0] * len(runs), 0
    for number in reversed(range(len(runs) - 1)):
        trip += sum(hops[number]) + runs[number + 1].forward_ns + runs[number + 1].backward_ns
        trips[number] = trip
    most, head, tail = 0, 0, 0
    for number, run in enumerate(runs):
        if number:
            head, tail = head + hops[number - 1][0], tail + hops[number - 1][1]
        one = [head, head + (tail if trains else 0), trips[number] if trains else 0]
        numbers = [np.array(value) for value in (*one, run.forward_ns, run.backward_ns, run.weight_ns, run.load_ns)]
        counts = np.array(run.in_flight), np.array(run.held)
        times = numbers[3], numbers[4], numbers[5]
        value = least_makespan(numbers[0], numbers[1], numbers[2], times, numbers[6], counts, microbatches)
        most = max(most, int(value))
        head += run.forward_ns
        tail += run.backward_ns + (run.weight_ns if number == 0 else 0)
    return most
