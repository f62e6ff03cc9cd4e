"""Who asks for a WebSocket, or for anything else than HTTP/1.1."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette

from discussion_helper.web.security import HEADERS

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
Serving = Callable[..., Any]
WEBSOCKET = {
    "Connection": "keep-alive, Upgrade",
    "Upgrade": "WebSocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
TOKEN = "a-token-for-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


async def test_a_websocket_is_refused_in_one_line_and_nothing_is_printed(
    app_of: AppOf, serving: Serving, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serving(app_of(token=TOKEN), headers=BEARER) as served:
        url = (await served.client.post("/sessions", json={"transport": "fake"})).json()["url"]
        refused = [await served.client.get(path, headers=WEBSOCKET) for path in (url, "/health")]
        stranger = await served.client.get("/health", headers=WEBSOCKET | {"Authorization": "Bearer wrong"})
        after = await served.client.get(url)

    for answer in refused:
        assert (426, "HTTP/1.1") == (answer.status_code, answer.headers["upgrade"])
        assert {"error", "fix"} == answer.json().keys()
        assert "\n" not in answer.text.strip()
        assert "/events" in answer.json()["fix"]
        assert HEADERS == {name: answer.headers.get(name) for name in HEADERS}
    assert [401, 200] == [stranger.status_code, after.status_code]
    assert ("", "") == capsys.readouterr()


async def test_an_offer_of_another_protocol_is_left_alone(
    app_of: AppOf, serving: Serving, capsys: pytest.CaptureFixture[str]
) -> None:
    offer = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": ""}
    async with serving(app_of()) as served:
        answer = await served.client.get("/health", headers=offer)

    assert (200, "HTTP/1.1") == (answer.status_code, answer.http_version)
    assert ("", "") == capsys.readouterr()
