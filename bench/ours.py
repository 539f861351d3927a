"""CrossPipe as a contender."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.cuts import cut_note
from bench.history import State
from bench.measurement import Measurement
from bench.pipelines import Work, pipeline_spec
from bench.quantities import BYTES_PER_MB, NS_PER_MS, ns
from crosspipe.answer.solve import solve
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from bench.contest import Contest
    from crosspipe.search.progress import Progress


def run(contest: Contest) -> Measurement:
    """Solve the instance; times are CrossPipe's own, from the validated spec on, in a warm process."""
    _warm_up()

    def on_progress(progress: Progress) -> None:
        contest.tell(State(progress.seconds, progress.value_ns, progress.bound_ns, progress.source))

    answer = solve(
        parse_spec(contest.spec),
        time_limit_s=contest.limit_s,
        objective=contest.objective,
        workers=contest.threads,
        detail="summary",
        on_progress=on_progress,
    )
    value_ns, bound_ns = ns(answer.objective.value_ms), ns(answer.objective.lower_bound_ms)
    seconds = answer.provenance.seconds
    contest.tell(State(seconds, value_ns, bound_ns, "answer"))
    return Measurement(
        status=answer.status,
        value_ns=value_ns,
        bound_ns=bound_ns,
        total_s=seconds,
        value_from=answer.provenance.schedule_from,
        bound_from=answer.objective.bound_from,
        notes={"stop_reason": answer.stop_reason, "solver": answer.provenance.solver, **cut_note(answer)},
    )


def _warm_up() -> None:
    """Load what a first solve loads."""
    work = Work(NS_PER_MS, NS_PER_MS, NS_PER_MS, BYTES_PER_MB, 0)
    solve(pipeline_spec("warm-up", [work] * 2, devices=2, microbatches=2, memory_bytes=10**9), time_limit_s=0)
