"""Profiles as the planner Metis (SamsungLabs/Metis) keeps them: one JSON file per accelerator, tensor degree and batch.

A file `DeviceType.<GPU>_tp<k>_bs<b>.json` holds, per layer, the time of F and B together, the memory of one accelerator
and the size of the parameters; and the measured time of the whole step. It says nothing of messages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from crosspipe.costs.profiles.metis_memory import memory_rows
from crosspipe.costs.profiles.profile import NO_BOUNDARY, Profile, refused
from crosspipe.costs.profiles.rows import json_tree, like_rows
from crosspipe.costs.split import LARGEST_ITEM_COUNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.costs.profiles.shares import Shares

NAME: Final = re.compile(
    r"DeviceType\.(?P<gpu>[\w .+-]{1,60})_tp(?P<tensor>[1-9]\d{0,3})_bs(?P<batch>[1-9]\d{0,5})\.json"
)
"""How the files of such a folder are called."""

LARGEST = Decimal(10) ** 12
PER_CENT = 100


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What one file was measured with."""

    gpu: str
    tensor: int
    batch: int

    def __str__(self) -> str:
        return f"{self.gpu} tp{self.tensor} bs{self.batch}"


@dataclass(frozen=True, slots=True)
class Measured:
    """What one file holds.

    Attributes
    ----------
    layers_ms
        F and B of each layer.
    memory_mb
        Memory of each layer on one accelerator.
    weights_bytes
        Parameters of each layer; empty where the file has none.
    step_ms, optimizer_ms
        Measured F and B of the whole model, and the optimizer's step; None where the file has none.
    filled
        Whether the memory of a middle layer was told once too seldom.
    """

    layers_ms: tuple[Decimal, ...]
    memory_mb: tuple[Decimal, ...]
    weights_bytes: tuple[Decimal, ...]
    step_ms: Decimal | None
    optimizer_ms: Decimal | None
    filled: bool


def key_of(file: str) -> Key | None:
    """Read what a file was measured with from its name, None if it is not called so."""
    found = NAME.fullmatch(file)
    return Key(found["gpu"], int(found["tensor"]), int(found["batch"])) if found else None


def metis_profile(
    files: Mapping[str, str],
    shares: Shares,
    *,
    gpu: str | None = None,
    tensor: int | None = None,
    batch: int | None = None,
) -> Profile:
    """Read a folder, given as text by file name, of which one accelerator, tensor degree and batch are taken.

    Of those asked for it is the accelerator with the most files, and then the least degree and batch.

    Raises
    ------
    ProfileError
        If there is no such file, or one is malformed.
    """
    names = {key: name for name in sorted(files) if (key := key_of(name)) is not None}
    if not names:
        rule = "must have files called DeviceType.<GPU>_tp<k>_bs<b>.json"
        raise refused("the folder", rule, f"{len(files)} other files" if files else "none")
    asked = [
        key
        for key in sorted(names)
        if gpu in (None, key.gpu) and tensor in (None, key.tensor) and batch in (None, key.batch)
    ]
    if not asked:
        there = ", ".join(map(str, sorted(names)))
        raise refused("the folder", f"must have the profile asked for; it has {there}", _wish(gpu, tensor, batch))
    files_of = Counter(key.gpu for key in names)
    chosen = max(asked, key=lambda key: files_of[key.gpu])
    measured = {key: read_metis(files[name], name) for key, name in names.items() if _comparable(key, chosen)}
    mine = measured[chosen]
    alike = [(key, one) for key, one in measured.items() if len(one.layers_ms) == len(mine.layers_ms)]
    other = next((pair for pair in alike if pair[0].gpu == chosen.gpu and pair[0].batch != chosen.batch), None)
    second = None if other is None else (other[0].batch, other[1].memory_mb)
    memory, told_memory = memory_rows(mine.memory_mb, mine.weights_bytes, chosen.tensor, chosen.batch, second)
    rows = [_row(number, mine, shares) | memory[number] for number in range(len(mine.layers_ms))]
    missing = (NO_BOUNDARY, "memory_gb of the sites: memory is not limited until you give it")
    told = (f"{chosen}: {len(rows)} layers", *_told(chosen, mine, alike, names))
    assumed = (shares.told, *told_memory, *_assumed(chosen, mine))
    return Profile({"layers": list(like_rows(rows))}, None, told, assumed, missing)


def read_metis(text: str, file: str) -> Measured:
    """Read one file.

    Raises
    ------
    ProfileError
        If it is malformed.
    """
    tree = json_tree(text, file)
    times = _section(tree, "execution_time", file)
    memory = _section(tree, "execution_memory", file)
    layers = _numbers(times, "layer_compute_total_ms", f"{file} execution_time")
    if min(layers) <= 0:
        raise refused(f"{file} execution_time/layer_compute_total_ms", "must be above 0", min(layers))
    sizes, filled = _numbers(memory, "layer_memory_total_mb", f"{file} execution_memory"), False
    if len(sizes) == len(layers) - 1 and len(set(sizes[1:-1])) == 1:
        sizes, filled = (*sizes[:-1], sizes[1], sizes[-1]), True
    if len(sizes) != len(layers):
        rule = f"must be as long as layer_compute_total_ms, {len(layers)}"
        raise refused(f"{file} execution_memory/layer_memory_total_mb", rule, sizes)
    weights: tuple[Decimal, ...] = ()
    model = tree.get("model")
    parameters = model.get("parameters") if isinstance(model, Mapping) else None
    if isinstance(parameters, Mapping) and "parameters_per_layer_bytes" in parameters:
        weights = _numbers(parameters, "parameters_per_layer_bytes", f"{file} model/parameters")
        if len(weights) != len(layers):
            rule = f"must be as long as layer_compute_total_ms, {len(layers)}"
            raise refused(f"{file} model/parameters/parameters_per_layer_bytes", rule, weights)
    step = _number(times, "forward_backward_time_ms", f"{file} execution_time")
    optimizer = _number(times, "optimizer_time_ms", f"{file} execution_time")
    return Measured(layers, sizes, weights, step, optimizer, filled)


def _row(number: int, measured: Measured, shares: Shares) -> dict[str, object]:
    last = len(measured.layers_ms) - 1
    name = "embedding" if number == 0 else "head" if number == last else "layer"
    row: dict[str, object] = {"name": name, **shares.split(measured.layers_ms[number])}
    if measured.weights_bytes:
        row["weights_mb"] = measured.weights_bytes[number] / 10**6
    return row


def _told(chosen: Key, mine: Measured, alike: Sequence[tuple[Key, Measured]], names: Mapping[Key, str]) -> list[str]:
    told = []
    total = sum(mine.layers_ms)
    if mine.step_ms:
        share = PER_CENT * total / mine.step_ms
        told.append(
            f"the layers add up to {total:.1f} ms, {share:.1f} % of the {mine.step_ms:.1f} ms measured for F and B of "
            f"the whole model: {mine.step_ms - total:.1f} ms are in no layer and not in the spec"
        )
    if mine.optimizer_ms:
        told.append(f"the optimizer's step of {mine.optimizer_ms:.1f} ms is not in the spec")
    for key, one in alike:
        if key.gpu != chosen.gpu and key.batch == chosen.batch:
            told.append(f"{key.gpu} takes {sum(one.layers_ms) / total:.3f} times as long: `time_factor` of its site")
    others = [str(key) for key in sorted(names) if key != chosen]
    if others:
        told.append(f"also there: {', '.join(others)} (`--gpu`, `--tensor`, `--microbatch`)")
    return told


def _assumed(chosen: Key, mine: Measured) -> list[str]:
    assumed = [
        f"a device of the spec is the tensor group of {chosen.tensor}, its memory that of one accelerator",
        "memory is in MB of 10^6 bytes (frameworks often print 2^20 as MB)",
        "the first entry is the embedding, the last the head",
    ]
    if mine.weights_bytes:
        assumed.append("weights_mb: the file's parameters, those of the whole tensor group")
    if mine.filled:
        assumed.append("the memory list is one short; all middle layers there are alike, so one was added")
    return assumed


def _comparable(key: Key, chosen: Key) -> bool:
    """Files of the same tensor degree: of the same accelerator, or with the same batch."""
    return key.tensor == chosen.tensor and (key.gpu == chosen.gpu or key.batch == chosen.batch)


def _wish(gpu: str | None, tensor: int | None, batch: int | None) -> str:
    asked = (("gpu", gpu), ("tensor", tensor), ("microbatch", batch))
    return ", ".join(f"{name} {value}" for name, value in asked if value is not None)


def _section(tree: Mapping[str, object], name: str, file: str) -> Mapping[str, object]:
    found = tree.get(name)
    if not isinstance(found, Mapping):
        raise refused(file, f"must have `{name}`, as Metis' profiles do")
    return found


def _numbers(section: Mapping[str, object], name: str, place: str) -> tuple[Decimal, ...]:
    found = section.get(name)
    if not isinstance(found, list) or len(found) < 3:  # embedding, a layer, head
        raise refused(place, f"must have `{name}`, a list of three or more", found)
    if len(found) > LARGEST_ITEM_COUNT:
        raise refused(f"{place}/{name}", f"must have at most {LARGEST_ITEM_COUNT} entries", len(found))
    return tuple(_plain(value, f"{place}/{name}/{number}") for number, value in enumerate(found))


def _number(section: Mapping[str, object], name: str, place: str) -> Decimal | None:
    found = section.get(name)
    return None if found is None else _plain(found, f"{place}/{name}")


def _plain(value: object, place: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 <= value <= LARGEST:
        raise refused(place, f"must be a number from 0 to {LARGEST:.0e}", value)
    return Decimal(value)
