"""The cuts of others' rules."""

from __future__ import annotations

from tests.unit.assignment.opened import opened

from crosspipe.assignment.rules import EVEN, MEGATRON, MEGATRON_ENDS, TORCHTITAN, rule_cuts


def test_each_rule_cuts_or_says_why_not() -> None:
    cuts = {cut.rule: cut for cut in rule_cuts(opened(layers=5).preparation)}
    counts = {rule: cut.assignment.counts for rule, cut in cuts.items() if cut.assignment is not None}
    assert counts.keys() == {EVEN, TORCHTITAN}
    assert counts[EVEN] in ((2, 3), (3, 2))
    assert counts[TORCHTITAN] == (3, 2)
    for rule in (MEGATRON, MEGATRON_ENDS):
        assert "no multiple of 2 stages" in str(cuts[rule].reason)
