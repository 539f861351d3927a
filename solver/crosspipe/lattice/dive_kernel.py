"""The compiled search through orders of pairs: each node shrinks the windows of the last one to their fixpoint.

A decision "(a, i) before (b, j)" on one machine forbids its states with more than j of b and at most i of a, and moves
the two windows apart. `before[a, b, i]` is the least j with (a, i) before (b, j) decided or implied; classes run in
index order, so decisions make staircases. `forbidden` holds the depth at which a state was forbidden, 0 for never.
"""

from __future__ import annotations

from numba import njit

from crosspipe.lattice.kernel import fixpoint, np

LARGEST_MOVE, FORWARD, BACKWARD = 0, 1, 2
BY_LATEST, BY_EARLIEST, BY_SUM = 0, 1, 2
REFUTED, LEAF, GIVEN_UP = 0, 1, 2


@njit(cache=True, nogil=True)
def before_at_first(before, classes, first_class, chain, microbatches, weight_follows, width):  # type: ignore[no-untyped-def]
    """Fill in what the chain itself decides: an earlier node of a microbatch goes before a later one of it."""
    before[:] = width
    for machine in range(len(first_class) - 1):
        for u in range(first_class[machine], first_class[machine + 1]):
            for v in range(u + 1, first_class[machine + 1]):
                a, b = classes[u], classes[v]
                if b < chain or weight_follows[b]:
                    for i in range(microbatches):
                        before[a, b, i] = i


@njit(cache=True, nogil=True)
def decide(  # type: ignore[no-untyped-def]
    machine, u, i, v, j, depth, counts, forbidden, first_state, classes, first_class, duration, r, q, before, dirty
):
    """Put operation i of local class u before operation j of local class v."""
    a, b = classes[first_class[machine] + u], classes[first_class[machine] + v]
    for x in range(i, -1, -1):
        if before[a, b, x] <= j:
            break
        before[a, b, x] = j
    for s in range(first_state[machine], first_state[machine + 1]):
        if forbidden[s] == 0 and counts[s, v] > j and counts[s, u] <= i:
            forbidden[s] = depth
    r[b, j] = max(r[b, j], r[a, i] + duration[a])
    q[a, i] = max(q[a, i], q[b, j] + duration[b])
    dirty[machine] = True


@njit(cache=True, nogil=True)
def choose(target, rule, noise, lanes, classes, first_class, limit, duration, r, q, before, choice):  # type: ignore[no-untyped-def]
    """Choose an unresolved pair: `choice` becomes (machine, u, i, v, j); returns False if there is none.

    Refuting needs the orders of the lanes alone, mostly, and there are few: LARGEST_MOVE turns to devices when all
    lanes are decided.
    """
    found = False
    best = 0.0
    for machine in range(len(first_class) - 1):
        if rule == LARGEST_MOVE and machine == lanes and found:
            break
        size = first_class[machine + 1] - first_class[machine]
        for u in range(size):
            a = classes[first_class[machine] + u]
            for v in range(u + 1, size):
                b = classes[first_class[machine] + v]
                for i in range(limit[a]):
                    low, high = 0, min(before[a, b, i], limit[b])
                    while low < high and before[b, a, low] <= i:
                        low += 1
                    for step in range(high - low):
                        j = high - 1 - step if rule == BACKWARD else low + step
                        a_first = r[a, i] + duration[a] <= target - q[b, j] - duration[b]
                        b_first = r[b, j] + duration[b] <= target - q[a, i] - duration[a]
                        if not (a_first and b_first):
                            continue
                        if rule == LARGEST_MOVE:
                            one = max(0, r[a, i] + duration[a] - r[b, j]) + max(0, q[b, j] + duration[b] - q[a, i])
                            two = max(0, r[b, j] + duration[b] - r[a, i]) + max(0, q[a, i] + duration[a] - q[b, j])
                            score = -float(min(one, two)) - 1e-3 * (one + two)
                        elif rule == FORWARD:
                            score = float(max(r[a, i], r[b, j]))
                        else:
                            score = float(max(q[a, i], q[b, j]))
                        if noise > 0.0:
                            score += noise * np.random.random()
                        if not found or score < best:
                            found, best = True, score
                            choice[0], choice[1], choice[2], choice[3], choice[4] = machine, u, i, v, j
                        if rule != LARGEST_MOVE:
                            break
    return found


@njit(cache=True, nogil=True)
def prefers_second(target, rule, prefer, noise, a, i, b, j, duration, r, q):  # type: ignore[no-untyped-def]
    """Tell whether the second operation of a pair should be tried in front first."""
    late_a, late_b = target - q[a, i] - duration[a], target - q[b, j] - duration[b]
    if rule == LARGEST_MOVE:
        one = max(0, r[a, i] + duration[a] - r[b, j]) + max(0, q[b, j] + duration[b] - q[a, i])
        two = max(0, r[b, j] + duration[b] - r[a, i]) + max(0, q[a, i] + duration[a] - q[b, j])
        x, y = float(one), float(two)
    elif prefer == BY_LATEST:
        x, y = float(late_a), float(late_b)
    elif prefer == BY_EARLIEST:
        x, y = float(r[a, i]), float(r[b, j])
    else:
        x, y = float(late_a + r[a, i]), float(late_b + r[b, j])
    if noise > 0.0:
        x += noise * np.random.random()
        y += noise * np.random.random()
    return y < x


@njit(cache=True, nogil=True)
def dive(  # type: ignore[no-untyped-def]
    target,
    rule,
    prefer,
    noise,
    seed,
    most_failures,
    most_nodes,
    counts,
    successors,
    forbidden,
    first_state,
    classes,
    first_class,
    duration,
    lag,
    chain,
    microbatches,
    count,
    machine_of,
    links,
    hours,
    weight_follows,
    lanes,
    r,
    q,
    dirty,
    latest,
    earliest,
    new_r,
    new_end,
    passes,
    before,
    saved_r,
    saved_q,
    pairs,
    turns,
    nodes,
    trace,
    traced,
):
    """Search depth first for a leaf at a target; windows come in at the fixpoint and leave at the leaf.

    Returns REFUTED if every branch is (no schedule is as short), LEAF, or GIVEN_UP at a limit. `trace` lists the tree
    depth first as far as it has room: (machine, u, i, v, j) of a decision, -1 in front of a refuted branch; `traced`
    counts on.
    """
    np.random.seed(seed)
    before_at_first(before, classes, first_class, chain, microbatches, weight_follows, before.shape[2])
    choice = np.zeros(5, dtype=np.int64)
    depth, failures = 0, 0
    stands = True
    while True:
        if stands:
            if not choose(target, rule, noise, lanes, classes, first_class, count, duration, r, q, before, choice):
                return LEAF
            if depth == len(turns):
                return GIVEN_UP
            machine, u, i, v, j = choice[0], choice[1], choice[2], choice[3], choice[4]
            a, b = classes[first_class[machine] + u], classes[first_class[machine] + v]
            if prefers_second(target, rule, prefer, noise, a, i, b, j, duration, r, q):
                u, i, v, j = v, j, u, i
            if traced[0] < len(trace):
                t = trace[traced[0]]
                t[0], t[1], t[2], t[3], t[4] = machine, u, i, v, j
            traced[0] += 1
            saved_r[depth], saved_q[depth] = r, q
            pairs[depth, 0], pairs[depth, 1], pairs[depth, 2] = machine, u, i
            pairs[depth, 3], pairs[depth, 4] = v, j
            turns[depth] = 0
            depth += 1
        else:
            if traced[0] < len(trace):
                trace[traced[0], 0] = -1
            traced[0] += 1
            failures += 1
            while depth > 0 and turns[depth - 1] == 1:
                depth -= 1
            if depth == 0:
                return REFUTED
            if failures > most_failures:
                return GIVEN_UP
            for s in range(len(forbidden)):
                if forbidden[s] >= depth:
                    forbidden[s] = 0
            r[:], q[:] = saved_r[depth - 1], saved_q[depth - 1]
            before_at_first(before, classes, first_class, chain, microbatches, weight_follows, before.shape[2])
            for d in range(depth - 1):
                a = classes[first_class[pairs[d, 0]] + pairs[d, 1]]
                b = classes[first_class[pairs[d, 0]] + pairs[d, 3]]
                for x in range(pairs[d, 2], -1, -1):
                    if before[a, b, x] <= pairs[d, 4]:
                        break
                    before[a, b, x] = pairs[d, 4]
            turns[depth - 1] = 1
            u, i = pairs[depth - 1, 1], pairs[depth - 1, 2]
            pairs[depth - 1, 1], pairs[depth - 1, 2] = pairs[depth - 1, 3], pairs[depth - 1, 4]
            pairs[depth - 1, 3], pairs[depth - 1, 4] = u, i
        if nodes[0] >= most_nodes:
            return GIVEN_UP
        nodes[0] += 1
        dirty[:] = False
        p = pairs[depth - 1]
        decide(
            p[0],
            p[1],
            p[2],
            p[3],
            p[4],
            depth,
            counts,
            forbidden,
            first_state,
            classes,
            first_class,
            duration,
            r,
            q,
            before,
            dirty,
        )
        stands = fixpoint(
            target,
            counts,
            successors,
            forbidden,
            first_state,
            classes,
            first_class,
            duration,
            lag,
            chain,
            microbatches,
            count,
            machine_of,
            links,
            hours,
            r,
            q,
            dirty,
            latest,
            earliest,
            new_r,
            new_end,
            passes,
        )
