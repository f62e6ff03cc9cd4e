"""A WebSocket at a real server: the same door as for every request, and what a new token ends."""

import json
import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.web import Limits, Wish
from discussion_helper.web.audio_wire import SUBPROTOCOL

pytestmark = pytest.mark.anyio

AppOf = Callable[..., Starlette]
TOKEN = "a-token-for-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def remote_app(app_of: AppOf, **options: Any) -> Starlette:
    def opened(wish: Wish) -> Any:
        return fake_remote_talk((), policy=wish.policy, thread=wish.thread)

    return app_of(open_remote=opened, token=TOKEN, **options)


async def path_of(served: Any) -> str:
    answer = await served.client.post("/sessions", json={"transport": "remote"})
    return f"{answer.json()['url']}/audio"


@pytest.mark.parametrize("what", ["names", "pages"])
async def test_other_names_and_other_sites_pages_are_refused(app_of: AppOf, serving: Any, what: str) -> None:
    cases: dict[str, list[tuple[str, dict[str, Any], int]]] = {
        "names": [
            ("127.0.0.1", {"additional_headers": {}}, 401),
            ("evil.example", {}, 403),
            ("localhost.evil.example", {}, 403),
            ("evil.example", {"additional_headers": BEARER | {"X-Forwarded-Host": "127.0.0.1"}}, 403),
        ],
        "pages": [
            ("127.0.0.1", {"origin": "http://evil.example"}, 403),
            ("127.0.0.1", {"origin": "http://127.0.0.1:1"}, 403),
            ("127.0.0.1", {"origin": "null"}, 403),
            ("127.0.0.1", {"additional_headers": BEARER | {"Sec-Fetch-Site": "cross-site"}}, 403),
        ],
    }
    async with serving(remote_app(app_of), headers=BEARER) as served:
        path, port = await path_of(served), served.url.rpartition(":")[2]
        usual = {"subprotocols": [SUBPROTOCOL], "proxy": None, "additional_headers": BEARER, "host": "127.0.0.1"}
        for name, options, status in cases[what]:
            with pytest.raises(InvalidStatus) as refused:
                async with connect(f"ws://{name}:{port}{path}", **(usual | options), port=int(port)):
                    pass
            assert (name, options, status) == (name, options, refused.value.response.status_code)


async def test_a_new_token_closes_it_and_its_microphone_and_nothing_else_does(app_of: AppOf, serving: Any) -> None:
    app = remote_app(app_of, limits=Limits(headers_s=0.05, body_s=0.05))
    async with serving(app, headers=BEARER) as served:
        address = served.url.replace("http", "ws", 1) + await path_of(served)
        options: dict[str, Any] = {"subprotocols": [SUBPROTOCOL], "proxy": None, "origin": served.url}
        async with connect(address, additional_headers=BEARER, **options) as socket:
            await socket.send(json.dumps({"type": "hello", "rate": 16_000, "name": "a browser of mine"}))
            assert "welcome" == json.loads(await socket.recv())["type"]
            until_s = time.monotonic() + 0.2  # longer than its headers and a body might take
            while time.monotonic() < until_s:
                await socket.send(json.dumps({"type": "mute", "on": False}))
                await anyio.lowlevel.checkpoint()
            await served.client.post("/token/rotate")
            with anyio.fail_after(5):
                await socket.wait_closed()
        told = [entry for entry in reversed(app.state.audit.entries) if entry["kind"].startswith("microphone")]

    assert 1008 == socket.close_code
    assert ["microphone_opened", "microphone_closed"] == [entry["kind"] for entry in told]
    assert {("remote", "a browser of mine")} == {(entry["where"], entry["name"]) for entry in told}
