"""All rules between fields, and when each is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from crosspipe.spec.cluster import Link, Pool
from crosspipe.spec.gradients import Gradients
from crosspipe.spec.model import ExtraOperation, Placement, Training
from crosspipe.spec.rules import (
    across,
    channels,
    extras,
    gradients,
    layers,
    limits,
    links,
    model,
    placement,
    sites,
    training,
    windows,
    work,
)
from crosspipe.spec.stages import HuggingFaceModel, Layer, LayersModel, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crosspipe.errors import Fault
    from crosspipe.spec.base import SpecModel
    from crosspipe.spec.faults import Path
    from crosspipe.spec.model import Spec

    PartRule = Callable[[Any, Path], Iterator[Fault]]
    """Yields the faults of one model at a place."""

PART_RULES: Final[tuple[tuple[type[SpecModel], tuple[PartRule, ...]], ...]] = (
    (Work, (work.one_form_of_backward, work.frozen_recomputes_nothing, work.retained_is_part_of_activation)),
    (Layer, (layers.one_pin, layers.frozen_has_no_options)),
    (LayersModel, (layers.groups_are_neighbours, layers.pins_of_a_group_agree)),
    (HuggingFaceModel, (model.experts_are_chosen,)),
    (Training, (training.microbatches_are_known,)),
    (Pool, (sites.pool_is_counted_once,)),
    (
        Link,
        (
            links.one_way_to_name_the_ends,
            links.ends_differ,
            links.one_latency,
            links.regions_differ,
            links.one_transfer_time,
            links.group_alone_carries_no_messages,
            links.lane_needs_group_and_direction,
            links.group_name_is_plain,
            links.table_rises,
            windows.closed_or_open,
            windows.intervals_run_forward,
            windows.repeats_need_windows,
            windows.windows_need_a_transfer_time,
            windows.slow_is_slower,
        ),
    ),
    (Placement, (placement.map_or_traversal, placement.unidirectional_has_one_stage_each)),
    (Gradients, (gradients.tied_size_has_stages, gradients.tied_stages_differ)),
    (ExtraOperation, (extras.one_length, extras.one_resource)),
)
"""Rules of one model alone; those of a class hold for its subclasses."""


@dataclass(frozen=True, slots=True)
class WholeRule:
    """A rule that reads several sections of a spec.

    Attributes
    ----------
    find
        Yields the faults.
    reads
        The sections it reads; it is asked only when all of them are sound.
    """

    find: Callable[[Spec], Iterator[Fault]]
    reads: frozenset[str]


def _rule(find: Callable[[Spec], Iterator[Fault]], *reads: str) -> WholeRule:
    return WholeRule(find, frozenset(reads))


WHOLE_RULES: Final[tuple[WholeRule, ...]] = (
    _rule(model.frozen_comes_first, "model"),
    _rule(model.devices_for_all_stages_or_none, "model"),
    _rule(layers.pins_exist, "model", "sites", "parallel"),
    _rule(layers.tied_sizes_are_known, "model", "gradients"),
    _rule(layers.recomputation_has_values, "model", "training"),
    _rule(training.batch_is_whole_microbatches, "training", "parallel"),
    _rule(training.context_cuts_sequences, "training", "parallel"),
    _rule(sites.site_names_are_plain, "sites"),
    _rule(sites.pipeline_has_devices, "sites", "parallel"),
    _rule(across.copies_are_spread_evenly, "parallel", "sites"),
    _rule(across.sites_are_alike, "parallel", "sites"),
    _rule(channels.no_link_to_nowhere, "links", "sites", "parallel"),
    _rule(channels.one_link_for_each_way, "links"),
    _rule(channels.group_names_are_new, "links"),
    _rule(channels.groups_agree, "links"),
    _rule(channels.windows_of_a_group_agree, "links"),
    _rule(placement.unused_devices_need_an_open_cut, "placement", "model"),
    _rule(placement.unused_devices_leave_no_numbers, "placement", "limits", "extra_operations", "gradients"),
    _rule(placement.cut_is_for_layers, "placement", "model"),
    _rule(placement.map_fits_stages, "placement", "model", "sites", "parallel"),
    _rule(placement.stage_devices_exist, "placement", "model", "sites", "parallel"),
    _rule(placement.stages_per_device_is_consistent, "placement", "model", "sites", "parallel"),
    _rule(placement.auto_microbatch_is_estimated, "model", "training"),
    _rule(gradients.sizes_are_known, "gradients", "model"),
    _rule(gradients.tied_size_is_known, "gradients", "model"),
    _rule(gradients.tied_stages_exist, "gradients", "model", "placement", "parallel"),
    _rule(gradients.sites_make_a_ring, "gradients", "parallel", "sites", "links"),
    _rule(gradients.names_of_collectives_are_free, "gradients", "extra_operations"),
    _rule(extras.names_differ, "extra_operations"),
    _rule(extras.device_exists, "extra_operations", "sites", "parallel"),
    _rule(extras.lane_exists, "extra_operations", "links"),
    _rule(extras.stages_exist, "extra_operations", "model", "placement", "parallel"),
    _rule(extras.no_circle, "extra_operations", "model"),
    _rule(extras.waits_for_a_backward, "extra_operations", "model"),
    _rule(limits.caps_for_every_stage, "limits", "model", "placement", "parallel"),
    _rule(limits.deadlines_of_existing_stages, "limits", "model", "placement", "parallel"),
)
"""Rules between sections."""
