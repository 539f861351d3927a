"""The rules between fields: each a small pure function that yields the faults it finds.

A rule of a part (`PART_RULES`) sees one model alone; a rule of the whole (`WHOLE_RULES`) sees several sections of the
spec, and is asked only when those are sound.
"""

from __future__ import annotations
