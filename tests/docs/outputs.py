"""Compares what a document shows with what the program says now, and brings it up to date.

`python -m tests.docs.outputs [PAGE ...]` runs every console block and writes the output that follows each command anew
where it no longer agrees. A line `...` in a block stands for any lines.

Blocks are compared exactly, but for times in seconds and names of occurrences. In a block `console search` another
machine may find other schedules, or less in the same time: there the first word of each line must agree, and value and
bound must not contradict those shown.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from docs.generate.pages import all_pages
from tests.docs.claims import claim_in, contradict
from tests.docs.fences import Fence, fences
from tests.docs.session import PROMPT, Session, commands_of, warm_up
from tests.service.serving import serving

SEARCH = "search"
ANY_LINES = "..."
VARYING = (
    (re.compile(r"\d+\.\d+ s\b"), "N s"),
    (re.compile(r"urn:uuid:[0-9a-f-]+"), "urn:uuid:..."),
)
LEFT_OUT_LATE = "links"
"""A line of the summary that is left out where the time is over."""


def agrees(shown: list[str], printed: str, mode: str) -> bool:
    """Whether a document's output is what the program prints."""
    got = printed.splitlines()
    if ANY_LINES in shown:
        place = shown.index(ANY_LINES)
        rest = len(shown) - place - 1
        got = [*got[:place], ANY_LINES, *got[max(len(got) - rest, place) :]]
    if mode == SEARCH:
        shown, got = ([line for line in lines if _first_word(line) != LEFT_OUT_LATE] for lines in (shown, got))
        return len(shown) == len(got) and all(map(_compatible, shown, got))
    return [_stable(line) for line in shown] == [_stable(line) for line in got]


def _compatible(shown: str, printed: str) -> bool:
    claims = claim_in(shown), claim_in(printed)
    if claims[0] is not None and claims[1] is not None:
        return not contradict(*claims)
    return _first_word(shown) == _first_word(printed)


def _first_word(line: str) -> str:
    return (line.split() or [""])[0]


def _stable(line: str) -> str:
    """Keep of a line what must agree."""
    for varying, word in VARYING:
        line = varying.sub(word, line)
    return line.rstrip()


def refresh(page: Path, address: str) -> bool:
    """Write a page's outputs anew where they do not agree or could claim more; return whether any did not."""
    source = page.read_text(encoding="utf-8")
    text, moved = source, 0
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder), address)
        for fence in fences(page):
            session.save(fence)
            if fence.language == "console":
                new = _block(session, fence)
                text = text[: fence.start + moved] + new + text[fence.end + moved :]
                moved += len(new) - len(fence.text)
    if text != source:
        page.write_text(text, encoding="utf-8")
    return text != source


def _block(session: Session, fence: Fence) -> str:
    return "".join(_rewritten(session, command, shown, fence.mode) for command, shown in commands_of(fence.text))


def _rewritten(session: Session, command: str, shown: list[str], mode: str) -> str:
    printed = session.output(command)
    if agrees(shown, printed, mode) and not _claims_more(printed.splitlines(), shown):
        return "\n".join([PROMPT + command, *shown, ""])
    return f"{PROMPT}{command}\n" + "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


def _claims_more(lines: list[str], than: list[str]) -> bool:
    """Whether a search now says more than a document does."""
    found, told = ([claim for line in part if (claim := claim_in(line))] for part in (lines, than))
    return any(new.width < old.width for new, old in zip(found, told, strict=False))


def main() -> None:
    """Bring the pages named, or all, up to date."""
    pages = [Path(name).resolve() for name in sys.argv[1:]] or all_pages()
    warm_up()
    with serving() as client:
        for page in pages:
            if refresh(page, str(client.base_url)):
                sys.stderr.write(f"{page}: outputs written anew\n")


if __name__ == "__main__":
    main()
