"""Cuts by the rules that others use: where they apply they are candidates, so that the answer is never worse."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crosspipe.costs.assignment import Assignment
from crosspipe.costs.estimate import EstimatedModel
from crosspipe.costs.layers import MeasuredLayers
from crosspipe.costs.pins import keeps

if TYPE_CHECKING:
    from crosspipe.costs.preparation import Preparation

EMBEDDING = re.compile(r"emb|wte|tok", re.IGNORECASE)
HEAD = re.compile(r"head|output|logit", re.IGNORECASE)

EVEN = "even by time"
TORCHTITAN = "torchtitan: layers alike, embedding and head one layer each"
MEGATRON = "Megatron: layers alike, as many on every stage"
MEGATRON_ENDS = "Megatron: embedding and head counted as a layer each"


@dataclass(frozen=True, slots=True)
class RuleCut:
    """The cut of a rule, or why the rule has none."""

    rule: str
    assignment: Assignment | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """The items of a chain as these rules see them: how many go before the layers, the layers, how many after."""

    before: int
    layers: int
    after: int


def rule_cuts(preparation: Preparation) -> tuple[RuleCut, ...]:
    """Cut by every rule, on the devices in the user's order."""
    even = preparation.even()
    stages, chain = len(even.ends), _chain(preparation)
    found = [RuleCut(EVEN, even)]
    for rule, counts in (
        (TORCHTITAN, _torchtitan(chain.layers, stages)),
        (MEGATRON, _alike(chain.layers, stages, ends=0)),
        (MEGATRON_ENDS, _alike(chain.layers, stages, ends=2)),
    ):
        if isinstance(counts, str):
            found.append(RuleCut(rule, None, counts))
        else:
            found.append(_possible(_cut(rule, counts, chain, even), preparation))
    return tuple(found)


def _cut(rule: str, layers: list[int], chain: Chain, even: Assignment) -> RuleCut:
    counts = list(layers)
    counts[0] += chain.before
    counts[-1] += chain.after
    if min(counts) < 1:
        return RuleCut(rule, None, "it leaves a stage without layers")
    ends = tuple(sum(counts[: number + 1]) for number in range(len(counts)))
    return RuleCut(rule, Assignment(ends, even.devices, even.recompute))


def _possible(cut: RuleCut, preparation: Preparation) -> RuleCut:
    """Write the cut of a rule in items; say why there is none where it parts a group or moves a pinned layer."""
    source, found = preparation.source, cut.assignment
    if found is None or not isinstance(source, MeasuredLayers):
        return cut
    ends = source.item_ends(found.ends)
    if ends is None:
        return RuleCut(cut.rule, None, "it parts the layers of a group")
    placed = replace(found, ends=ends)
    names = [preparation.devices[device][0] for device in placed.devices]
    if not keeps(source.pins(), placed.runs, names):
        return RuleCut(cut.rule, None, "it puts a layer elsewhere than it is pinned")
    return RuleCut(cut.rule, placed)


def _chain(preparation: Preparation) -> Chain:
    source = preparation.source
    if isinstance(source, EstimatedModel):
        # The embedding comes with the first layer; what follows the layers predicts tokens.
        return Chain(0, source.model.layers, source.item_count - source.model.layers)
    if not isinstance(source, MeasuredLayers):
        return Chain(0, source.item_count, 0)
    names = [numbered.layer.name or "" for numbered in source.layers]
    before = 1 if len(names) > 1 and EMBEDDING.search(names[0]) else 0
    after = 1 if len(names) > before + 1 and HEAD.search(names[-1]) else 0
    return Chain(before, len(names) - before - after, after)


def _torchtitan(layers: int, stages: int) -> list[int]:
    """Deal out layers + 2 evenly, the first stages taking the rest; embedding and head then take one share each.

    As torchtitan's `generate_llm_fqn_per_model_part` with its weights of 1.
    """
    each, rest = divmod(layers + 2, stages)
    counts = [each + (1 if number < rest else 0) for number in range(stages)]
    counts[0] -= 1
    counts[-1] -= 1
    return counts


def _alike(layers: int, stages: int, ends: int) -> list[int] | str:
    """Give every stage as many layers, `ends` of them standing for embedding and head; say why where it cannot be.

    As Megatron-LM with `account_for_embedding_in_pipeline_split` and `account_for_loss_in_pipeline_split` for 2.
    """
    if (layers + ends) % stages:
        return f"{layers + ends} layers are no multiple of {stages} stages"
    counts = [(layers + ends) // stages] * stages
    if ends:
        counts[0] -= 1
        counts[-1] -= 1
    return counts
