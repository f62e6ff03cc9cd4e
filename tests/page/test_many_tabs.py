"""Many tabs of one browser, which has six connections to a server for all of them; and no WebSocket at all."""

import random
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from playwright.async_api import Page, expect
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.web import Wish, create_app
from discussion_helper.web.websockets1 import WebSockets1

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
SEEN = 10
"""More than a browser has connections."""
WHOLE = ".turn:not(.live)"


def app_of() -> Starlette:
    def open_fake(wish: Wish) -> Session:
        return Session(ScriptedListener((), stays_open=True), EchoResponder(), SilentVoice(0.01), wish.policy)

    return create_app(token=TOKEN, open_fake=open_fake)


class NoSockets:
    """ASGI: a proxy that lets no WebSocket through."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close"})
        else:
            await self._app(scope, receive, send)


async def opened(page: Page) -> str:
    opening = "async body => (await (await fetch('/sessions', {method: 'POST', body})).json()).id"
    return str(await page.evaluate(opening, '{"transport": "fake"}'))


async def known(page: Page) -> dict[str, Any]:
    """What the page has of the session, but for what goes on beside the transcript."""
    return _lasting(await page.evaluate("async () => (await import('/page/main.js')).following.state.session"))


def _lasting(state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in ("elapsed_s", "live", "decisions")}


async def test_ten_pages_that_are_seen_are_live_and_a_further_one_loads(
    serving: Callable[..., Any], browsing: Callable[..., Any]
) -> None:
    async with serving(app_of()) as served, browsing(served) as (open_page, _):
        first = await open_page()
        session_id = await opened(first)
        await first.evaluate("id => { location.hash = id }", session_id)
        pages = [first, *[await open_page(session_id) for _ in range(SEEN - 1)]]
        further = await open_page(session_id)
        for text in ("Hello", "Again"):
            await further.fill("#text", text)
            await further.press("#text", "Enter")
        for page in (*pages, further):
            assert not await page.evaluate("document.hidden")
            await expect(page.locator(WHOLE)).to_have_count(4)
            await expect(page.locator("#connection")).to_have_text("Live")
            await expect(page.locator("#floor-text")).to_have_text("Listening")
        told = _lasting(served.app.state.sessions.get(session_id).state)
        assert [told] * (SEEN + 1) == [await known(page) for page in (*pages, further)]
        assert SEEN + 1 == served.app.state.live.watchers(session_id)


@pytest.mark.slow
async def test_after_drops_and_returns_a_page_knows_what_the_server_knows(
    serving: Callable[..., Any], browsing: Callable[..., Any]
) -> None:
    pick = random.Random(7)
    async with serving(app_of()) as served, browsing(served) as (open_page, _):
        page = await open_page()
        session_id = await opened(page)
        await page.evaluate("id => { location.hash = id }", session_id)
        session = served.app.state.sessions.get(session_id)
        await expect(page.locator("#connection")).to_have_text("Live")
        dropped = 0
        for number in range(12):
            await session.say(f"turn {number}")
            if pick.random() < 0.6:
                dropped += _drop(served)
            if pick.random() < 0.5:
                await expect(page.locator(".turn.user")).to_have_count(number + 1)
        await expect(page.locator(WHOLE)).to_have_count(24)
        await expect(page.locator("#connection")).to_have_text("Live")
        with anyio.fail_after(20):
            while await known(page) != _lasting(session.state):
                await anyio.lowlevel.checkpoint()
        turns = await page.locator(".turn.user .words").all_text_contents()

    assert [f"turn {number}" for number in range(12)] == turns
    assert 3 <= dropped


def _drop(served: Any) -> int:
    """Break every WebSocket off, as a network does."""
    sockets = [it for it in served.server.server_state.connections if isinstance(it, WebSockets1)]
    for connection in sockets:
        connection.transport.abort()
    return len(sockets)


async def test_where_no_socket_gets_through_the_page_is_live_all_the_same(
    serving: Callable[..., Any], browsing: Callable[..., Any]
) -> None:
    app = app_of()
    app.add_middleware(NoSockets)
    async with serving(app) as served, browsing(served) as (open_page, watch):
        watch.expected = ("WebSocket connection to",)  # what the browser itself logs
        page = await open_page()
        session_id = await opened(page)
        await page.evaluate("id => { location.hash = id }", session_id)
        await expect(page.locator("#connection")).to_have_text("Live")
        await page.fill("#text", "Hello")
        await page.press("#text", "Enter")
        await expect(page.locator(WHOLE)).to_have_count(2)
        await expect(page.locator("#floor-text")).to_have_text("Listening")
        assert _lasting(app.state.sessions.get(session_id).state) == await known(page)
