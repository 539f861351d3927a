"""The cuts of others' rules."""

from __future__ import annotations

from tests.unit.assignment.opened import opened

from crosspipe.assignment.rules import EVEN, MEGATRON, MEGATRON_ENDS, TORCHTITAN, rule_cuts


def test_each_rule_cuts_or_says_why_not() -> None:
    cuts = {cut.rule: cut for cut in rule_cuts(opened(layers=5).preparation)}
    assert cuts[EVEN].assignment is not None
    assert cuts[EVEN].assignment.counts in ((2, 3), (3, 2))
    assert cuts[TORCHTITAN].assignment is not None
    assert cuts[TORCHTITAN].assignment.counts == (3, 2)
    for rule in (MEGATRON, MEGATRON_ENDS):
        assert cuts[rule].assignment is None
        assert "no multiple of 2 stages" in str(cuts[rule].reason)
