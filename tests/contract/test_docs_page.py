from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from tests.service.serving import ServiceClient, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

EXTERNAL = re.compile(r"https?://[^\s\"')]+")
NAMESPACES = "http://www.w3.org/"
"""Names of XML namespaces in pictures inside the style sheet; nothing is loaded from there."""


@pytest.fixture(scope="module")
def client() -> Iterator[ServiceClient]:
    with serving() as client:
        yield client


class Loaded(HTMLParser):
    """The addresses a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value for name, value in attrs if name in ("href", "src") and value]


def test_the_page_loads_only_what_the_service_serves(client: ServiceClient) -> None:
    response = client.get("/docs")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert not EXTERNAL.search(response.text)
    loaded = Loaded()
    loaded.feed(response.text)
    assert len(loaded.addresses) == 4
    assert not any(address.startswith("/") for address in loaded.addresses)
    for address in loaded.addresses:
        assert client.get(f"/{address}").status_code == 200


def test_the_browser_is_told_to_refuse_other_hosts(client: ServiceClient) -> None:
    policy = client.get("/docs").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert "*" not in policy
    assert "unsafe-inline" not in policy.split("style-src")[0]


def test_the_page_starts_with_the_document_of_the_service(client: ServiceClient) -> None:
    script = client.get("/docs/static/start.js").text
    assert 'url: "openapi.json"' in script
    assert "validatorUrl: null" in script
    assert not EXTERNAL.search(script)
    assert client.get("/openapi.json").json()["info"]["title"] == "CrossPipe"


def test_the_style_sheet_loads_nothing(client: ServiceClient) -> None:
    style = client.get("/docs/static/swagger-ui.css").text
    assert "@import" not in style
    targets = re.findall(r"url\(\s*[\"']?([^\"')\s]{1,20})", style)
    assert targets
    assert all(target.startswith("data:") for target in targets)
    assert all(found.startswith(NAMESPACES) for found in EXTERNAL.findall(style))


def test_the_licence_of_the_page_s_parts_is_served_with_them(client: ServiceClient) -> None:
    assert "Apache License" in client.get("/docs/static/LICENSE.txt").text
    assert "SmartBear" in client.get("/docs/static/NOTICE.txt").text


def test_the_bare_address_leads_to_the_page(client: ServiceClient) -> None:
    response = client.get("/", follow_redirects=False)
    assert response.status_code == 307
    assert client.get("/", follow_redirects=True).url.path == "/docs"
