"""Every console block of README and docs runs and prints what the page shows."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from docs.generate.pages import ROOT, all_pages
from tests.docs.fences import fences
from tests.docs.outputs import agrees
from tests.docs.session import Session, commands_of, warm_up
from tests.service.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = [page for page in all_pages() if any(fence.language == "console" for fence in fences(page))]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Address of a running service, the search compiled."""
    warm_up()
    with serving() as client:
        yield str(client.base_url)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_shows_what_its_commands_print(page: Path, address: str, tmp_path: Path) -> None:
    if any("curl " in fence.text for fence in fences(page) if fence.language == "console") and not shutil.which("curl"):
        pytest.skip("the page uses curl, which is not installed")
    session = Session(tmp_path, address)
    for fence in fences(page):
        session.save(fence)
        if fence.language != "console":
            continue
        for command, shown in commands_of(fence.text):
            printed = session.output(command)
            assert agrees(shown, printed, fence.mode), (
                f"{fence.place}: $ {command}\nshown:\n" + "\n".join(shown) + f"\nprinted:\n{printed}"
                "\nrun: python -m tests.docs.outputs"
            )
