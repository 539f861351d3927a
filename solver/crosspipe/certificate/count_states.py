"""Count states and case split: no schedule by the target T, so the bound is T + 1 ns.

A case split is a binary tree. A node names two operations of one machine, "a before b" is its first child, "b before a"
its second: every schedule is in one of them. All leaves refuted, the target is. The tree is listed depth first, first
children first: `[class of a, index, class of b, index]` for a node, 0 for a leaf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosspipe.certificate.chain import chain_of
from crosspipe.certificate.fixpoint import Count
from crosspipe.certificate.reading import integer, rows, text, whole
from crosspipe.certificate.verdict import PYTHON_STEP, RefusedError
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from crosspipe.certificate.fixpoint import Windows
    from crosspipe.certificate.reading import Part
    from crosspipe.certificate.subject import Subject

COUNT_FIELDS = ("where", "target_ns")
SPLIT_FIELDS = ("where", "target_ns", "tree")
WHERE = "all devices and lanes together"
MOST_NODES = 2 * 10**5
DEEPEST = 2000
"""Nodes of one branch; the windows of each are kept while its second child waits."""

LEAF = 0

Decision = tuple[tuple[int, int], tuple[int, int]]


def count_states(subject: Subject, part: Part) -> int:
    """Derive that the target is refuted without any decision."""
    count = _count(subject, part)
    windows = count.start()
    if not count.refuted(windows, set(range(len(count.machines)))):
        raise RefusedError(f"counting states does not refute {count.target} ns")
    return count.target + 1


def case_split(subject: Subject, part: Part) -> int:
    """Derive that the target is refuted in every branch."""
    tree = rows(part, "tree", MOST_NODES)
    count = _count(subject, part)
    windows = count.start()
    waiting: list[tuple[Windows, Decision]] = []
    place, complete = 0, False
    stands = not count.refuted(windows, set(range(len(count.machines))))
    while place < len(tree):
        if stands:
            entry = tree[place]
            place += 1
            if entry == LEAF:
                raise RefusedError(f"leaf {place - 1} of the tree is not refuted")
            first, second = _decision(count, entry)
            if len(waiting) >= DEEPEST:
                raise RefusedError(f"a branch of the tree has more than {DEEPEST} decisions")
            subject.budget.spend(PYTHON_STEP + 4 * windows.r.size)
            waiting.append((windows.copy(), (second, first)))
        else:
            place = _skipped(count, tree, place)
            if not waiting:
                complete = True
                break
            windows, (first, second) = waiting.pop()
        stands = not count.refuted(windows, {count.put_before(windows, first, second)})
    if not complete or place < len(tree):
        raise RefusedError("the tree is not complete, or goes on after its end")
    return count.target + 1


def _count(subject: Subject, part: Part) -> Count:
    if subject.objective is not Objective.MAKESPAN:
        raise RefusedError("count states say nothing of the span")
    if text(part, "where") != WHERE:
        raise RefusedError(f"the argument speaks of {WHERE}")
    target = integer(part, "target_ns")
    if integer(part, "bound_ns") != target + 1:
        raise RefusedError("the bound must be 1 ns above the target")
    return Count(subject.problem, chain_of(subject.problem, subject.waits), subject.held, target, subject.budget)


def _decision(count: Count, entry: Any) -> Decision:
    if not isinstance(entry, list | tuple) or len(entry) != 4:
        raise RefusedError("a node of the tree must be [class, index, class, index], a leaf 0")
    found = []
    for name, index in (entry[:2], entry[2:]):
        if not isinstance(name, str) or name not in count.place:
            raise RefusedError("a node of the tree names a class that there is none of")
        place = count.place[name]
        if whole(index, "an index of the tree") >= count.chain.links[place].count:
            raise RefusedError(f"{name} has no operation {index}")
        found.append((place, int(index)))
    first, second = found
    machine = count.machine_of.get(first[0])
    if machine is None or machine != count.machine_of.get(second[0]) or first[0] == second[0]:
        raise RefusedError("a node of the tree names operations that do not meet on one device or lane")
    return first, second


def _skipped(count: Count, tree: list[Any], place: int) -> int:
    """Pass over the rest of a branch that is refuted already, from its first entry on."""
    open_branches = 1
    while open_branches:
        if place >= len(tree):
            raise RefusedError("the tree is not complete")
        if tree[place] != LEAF:
            _decision(count, tree[place])
            open_branches += 2
        open_branches -= 1
        place += 1
    return place
