"""From an expanded spec to problems, one for each placement that the spec leaves open."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.errors import Fault, SpecError, TooLargeError
from crosspipe.problem.assembly import Assembly
from crosspipe.problem.extent import require_small_amounts, require_small_sums
from crosspipe.problem.network import Network
from crosspipe.problem.placement import StageMap, stage_maps
from crosspipe.problem.problem import Device, Problem, StageInfo
from crosspipe.problem.ranks import copies_of, ranks_of
from crosspipe.spec.stages import Microbatches, StagesModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.operations import IntArray
    from crosspipe.spec.model import Spec
    from crosspipe.spec.stages import Stage

MOST_OPERATIONS = 1_000_000
"""Largest problem compiled; beyond it an answer in useful time is not to be had."""


def compile_spec(spec: Spec, digest: str) -> tuple[Problem, ...]:
    """Compile an expanded spec (stages form, everything resolved) for each candidate placement.

    Raises
    ------
    SpecError
        If no placement of that number of stages exists, or nothing joins places that sum gradients.
    TooLargeError
        If a problem would exceed `MOST_OPERATIONS`, or its sums 64 bits.
    """
    if not isinstance(spec.model, StagesModel) or not isinstance(spec.model.stages, list):
        raise SpecError([Fault("/model", "only an expanded spec (a list of stages) compiles")])
    stages, multipliers = spec.model.stages, _multipliers(spec)
    replicas = _replicas(spec)
    count = len(stages) * len(multipliers) * replicas * 5
    if count > MOST_OPERATIONS:
        raise TooLargeError(
            [
                Fault(
                    "/training",
                    f"stages x microbatches x replicas x 5 must stay within {MOST_OPERATIONS}",
                    f"{len(stages)} x {len(multipliers)} x {replicas} x 5 = {count}",
                    f"{MOST_OPERATIONS // (len(stages) * replicas * 5)} microbatches",
                )
            ]
        )
    maps = stage_maps(spec, stages, ranks_of(spec))
    return tuple(_compile(spec, digest, stages, multipliers, stage_map) for stage_map in maps)


def _compile(
    spec: Spec, digest: str, stages: Sequence[Stage], multipliers: Sequence[Decimal], stage_map: StageMap
) -> Problem:
    ranks, replicas = ranks_of(spec), _replicas(spec)
    assembly = Assembly(spec, stages, multipliers, stage_map.device_of_stage, ranks, replicas, Network(spec))
    assembly.build()
    operations, precedences = assembly.builder.operations(), assembly.builder.precedences()
    _require_few(len(operations))
    holdings, lanes = assembly.builder.holdings(), assembly.lanes.lanes()
    require_small_sums(operations, precedences, assembly.choices, lanes, replicas * len(ranks))
    require_small_amounts(assembly.pools, holdings, assembly.choices)
    return Problem(
        digest=digest,
        traversal=stage_map.traversal,
        stages=tuple(
            StageInfo(stage.layers, device) for stage, device in zip(stages, stage_map.device_of_stage, strict=True)
        ),
        multipliers=tuple(str(m.normalize()) for m in multipliers),
        replicas=replicas,
        merged_replicas=assembly.merged,
        devices=tuple(
            Device(rank.name, rank.site, replica, assembly.stages_on(index))
            for replica in range(replicas)
            for index, rank in enumerate(ranks)
        ),
        lanes=lanes,
        operations=operations,
        precedences=precedences,
        pools=tuple(assembly.pools),
        holdings=holdings,
        hops=tuple(assembly.hops),
        chains=_chains(assembly, multipliers, spec),
        chains_required=_fixed(spec),
        choices=tuple(assembly.choices),
        extras=tuple(assembly.extras),
        between_sites=assembly.between_sites,
        due_ns=assembly.due_ns(operations),
        tokens_per_step=_tokens(spec, len(multipliers)),
        robust=assembly.lanes.robust,
        worst_phases=assembly.lanes.worst_phases(),
    )


def _require_few(operations: int) -> None:
    """Require that routes over several links have not made the problem too large."""
    if operations > MOST_OPERATIONS:
        rule = f"operations, those of every link on the way of a message counted, must stay within {MOST_OPERATIONS}"
        raise TooLargeError([Fault("/links", rule, str(operations))])


def _chains(assembly: Assembly, multipliers: Sequence[Decimal], spec: Spec) -> tuple[IntArray, ...]:
    """Index order per class: free to assume where microbatches are alike, required where the spec fixes it."""
    if len(set(multipliers)) > 1 and not _fixed(spec):
        return ()
    rows = [row[row >= 0] for block in (*assembly.blocks.values(), *assembly.sent) for row in block]
    return tuple(np.asarray(row, dtype=np.int64) for row in rows if len(row) > 1)


def _fixed(spec: Spec) -> bool:
    given = spec.training.microbatches
    return isinstance(given, Microbatches) and given.order == "fixed"


def _multipliers(spec: Spec) -> list[Decimal]:
    given = spec.training.microbatches
    if isinstance(given, Microbatches):
        return list(given.multipliers)
    if given is None:
        raise SpecError([Fault("/training/microbatches", "an expanded spec states its microbatches")])
    return [Decimal(1)] * given


def _replicas(spec: Spec) -> int:
    return copies_of(spec) if spec.parallel.replica_messages == "separate" else 1


def _tokens(spec: Spec, microbatches: int) -> int | None:
    training, data = spec.training, spec.parallel.data
    if training.sequence_length is None:
        return None
    if training.global_batch is not None:
        return training.global_batch * training.sequence_length
    copies = data if isinstance(data, int) else 1
    return microbatches * (training.microbatch_size or 1) * copies * training.sequence_length


__all__ = ["MOST_OPERATIONS", "compile_spec"]
