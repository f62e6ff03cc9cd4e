"""A browser that is not let in any more, as after a new token: what it is told to do is what helps."""

from typing import Any

import pytest
from playwright.async_api import expect

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.web import Wish, create_app
from discussion_helper.web.passwords import Password

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
OPEN = "async body => (await (await fetch('/sessions', {method: 'POST', body})).json()).id"


def open_fake(wish: Wish) -> Session:
    return Session(ScriptedListener((), stays_open=True), EchoResponder(), SilentVoice(0.01), wish.policy)


@pytest.mark.parametrize(
    ("password", "way"),
    [
        (None, "Open the newest link that the server printed."),
        ("a-password-of-many-words", "Log in at /login, or open the newest link that the server printed."),
    ],
    ids=["link", "password"],
)
async def test_after_a_new_token_the_newest_link_is_named_and_the_form_where_there_is_one(
    serving: Any, browsing: Any, password: str | None, way: str
) -> None:
    app = create_app(token=TOKEN, open_fake=open_fake, password=Password(password) if password else None)
    async with serving(app) as served, browsing(served) as (open_page, watch):
        watch.expected = ("status of 40", "WebSocket connection to")  # what the browser itself logs
        page = await open_page()
        page = await open_page(await page.evaluate(OPEN, '{"transport": "fake"}'))
        app.state.door.keys.rotate()  # as the signal does
        await expect(page.locator("#floor-text")).to_have_text("This browser is not let in any more")
        await expect(page.locator("#state-note")).to_have_text(way)
        await expect(page.locator("#empty-how")).to_have_text("What helps stands above.")
        await expect(page.locator("#send")).to_be_disabled()
        await page.click("#refresh")
        await expect(page.locator("#alert")).to_have_text(f"This browser is not let in any more. {way}")
        await app.state.sessions.aclose()
