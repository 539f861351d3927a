"""Profiles as the planner Metis (SamsungLabs/Metis) keeps them: one JSON file per accelerator, tensor degree and batch.

A file `DeviceType.<GPU>_tp<k>_bs<b>.json` holds, per layer, the time of F and B together, the memory of one accelerator
and the size of the parameters; and the measured time of the whole step. It says nothing of messages.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crosspipe.costs.profiles.metis_file import Measured, read_metis
from crosspipe.costs.profiles.metis_memory import memory_rows
from crosspipe.costs.profiles.profile import NO_BOUNDARY, Profile, refused
from crosspipe.costs.profiles.rows import like_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.costs.profiles.shares import Shares

NAME: Final = re.compile(
    r"DeviceType\.(?P<gpu>[\w .+-]{1,60})_tp(?P<tensor>[1-9]\d{0,3})_bs(?P<batch>[1-9]\d{0,5})\.json"
)
"""How the files of such a folder are called."""

PER_CENT = 100


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What one file was measured with."""

    gpu: str
    tensor: int
    batch: int

    def __str__(self) -> str:
        return f"{self.gpu} tp{self.tensor} bs{self.batch}"


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
