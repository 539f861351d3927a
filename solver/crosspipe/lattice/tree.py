"""The tree of a refuted target in the words of certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.lattice.dive import Trace
    from crosspipe.lattice.machines import Lattice
    from crosspipe.lattice.nodes import Node


def tree_of(lattice: Lattice, trace: Trace) -> list[list[str | int] | int]:
    """Write the tree of a refuted target: `[class, index, class, index]`, the first before the second at first, or 0.

    Depth first, each decision followed by the branches of its two orders; 0 is a refuted branch. Classes are named `F
    3`, `B 3`, `activation 2`, `gradient 2` (over the second link on its way `gradient 2 leg 1`), `W 1` (all W of
    device 1), `extra 17` (those joined with operation 17).
    """
    names = [_name(lattice, node) for node in lattice.nodes]
    tree: list[list[str | int] | int] = []
    for machine, u, i, v, j in trace.tolist():
        nodes = lattice.machines[machine].nodes
        tree.append(0 if machine < 0 else [names[nodes[u]], i, names[nodes[v]], j])
    return tree


def _name(lattice: Lattice, node: Node) -> str:
    if node.kind is Kind.W:
        return f"W {lattice.machines[node.machine].resource}"
    if node.kind is Kind.EXTRA:
        return f"extra {min(node.members)}"
    what = {Kind.ACTIVATION: "activation", Kind.GRADIENT: "gradient", Kind.BW: "B"}.get(node.kind, node.kind.name)
    return f"{what} {node.stages[0]} leg {node.leg}" if node.leg else f"{what} {node.stages[0]}"
