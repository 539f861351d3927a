"""What an answer must say of its own limits: features not yet optimised, and what was assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.answer.units import to_ms
from crosspipe.problem.operations import Kind
from crosspipe.spec.stages import StagesModel

if TYPE_CHECKING:
    from crosspipe.assignment.opening import Opening
    from crosspipe.costs.expand import Expansion
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule
    from crosspipe.spec.model import Spec

CHOSEN = "chosen by rule, not searched over: "
"""How the note on what was decided before the search begins."""


def chosen_by_rule(spec: Spec, expansion: Expansion, opening: Opening | None) -> list[str]:
    """Say what was decided before the search: then even `optimal` and `infeasible` are for that decision only."""
    if isinstance(spec.model, StagesModel):
        return []
    pools = [pool for site in spec.sites.values() for pool in (site.pools or [site])]
    degrees = [
        f"{assumption.pointer[1:].replace('/', '.')} = {assumption.value}"
        for assumption in expansion.assumptions
        if assumption.pointer.startswith("/parallel/") and any(pool.gpus is not None for pool in pools)
    ]
    each = expansion.spec.placement.stages_per_device
    by_rule = isinstance(spec.placement.layers_per_stage, str) and opening is None
    cut = ["the cut of the layers into stages"] if by_rule else []
    held = [] if spec.placement.stages_per_device == "auto" else [f"placement.stages_per_device = {each}"]
    chosen = [*cut, *held, *degrees]
    if not chosen:
        return []
    return [f"{CHOSEN}{', '.join(chosen)}; status and bound hold for this choice, another may fit or be better"]


def notes_on(problem: Problem) -> list[str]:
    """List what the search does not yet optimise of this problem, and how it was read."""
    found = []
    if problem.choices:
        found.append(
            "recompute options: the known schedules and the greedy choose among them by rule, the solver keeps the"
            " choice of the best schedule; the lower bound holds for every choice"
        )
    found += [f"routes: {text}" for text in routed(problem)]
    if any(window.rate_bps for lane in problem.lanes for window in lane.windows):
        found.append(
            "slower windows: count states know them; CP-SAT takes the lane at its full rate, which keeps bounds valid,"
            " and what it finds is timed again; all times told are exact"
        )
    if problem.robust:
        found.append(
            "clock-anchored windows: every transfer reserves the longest time that any phase can make it take, so the"
            " schedule holds for all phases; the value is that of this plan, not of the best reaction to a known phase"
        )
    if problem.merged_replicas > 1:
        found.append(
            f"{problem.merged_replicas} replicas run the same schedule; on links that they share, their messages of one"
            " stage pair travel as one (parallel.replica_messages: merged)"
        )
    if problem.identical and len(problem.multipliers) > 1:
        found.append("microbatches are alike, so they keep their order on every stage, which loses nothing")
    return found


def routed(problem: Problem) -> list[str]:
    """Name the links over which messages go that no link alone can carry."""
    ways: dict[str, list[str]] = {}
    for hop in problem.hops:
        if len(hop.legs) > 1 and hop.link is not None:
            ends = f"{problem.devices[hop.sender].name} to {problem.devices[hop.receiver].name}"
            ways.setdefault(hop.link, []).append(ends)
    return [f"{', '.join(dict.fromkeys(pairs))}: over {link}, one after the other" for link, pairs in ways.items()]


def outside_compute(problem: Problem, schedule: Schedule) -> list[str]:
    """Say how much of the step extra operations take before the first and after the last compute."""
    compute = problem.operations.kind <= Kind.BW
    if not problem.extras or not compute.any():
        return []
    before = int(schedule.start_ns[compute].min())
    behind = int(schedule.end_ns.max()) - int(schedule.end_ns[compute].max())
    return [
        f"extra operations: {to_ms(before)} ms of the step pass before the first compute, {to_ms(behind)} ms after the"
        " last; the rest of them runs beside compute"
    ]


def kept_gathered(expansion: Expansion) -> list[str]:
    """Say that more stages are gathered on a device than PyTorch's runtime keeps."""
    return [
        f"gradients.sharding: {assumption.value}; {assumption.why}"
        for assumption in expansion.assumptions
        if assumption.pointer == "/gradients/sharding"
    ]


CONVENTIONS = (
    "activation memory is taken at the start of F and given back at the end of B and of W; the gradient leaves at the"
    " end of B, or of BW; transfers occupy lanes, latency occupies nothing; the optimizer step is not included"
)
