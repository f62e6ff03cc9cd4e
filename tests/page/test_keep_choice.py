"""The box beside the buttons that open a session: whether what is said by voice is kept."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Page, expect
from starlette.applications import Starlette

from discussion_helper.registry import Sessions
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.text import Manager, MemoryThreads, Step, TextDelta
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.web import Wish, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
SILENT_MICROPHONE = """() => {
  const silent = async () => new AudioContext().createMediaStreamDestination().stream;
  navigator.mediaDevices.getUserMedia = silent;
}"""


@asynccontextmanager
async def open_voice(wish: Wish) -> AsyncIterator[Session]:
    """A session on "this machine"."""
    listener = ScriptedListener((), stays_open=True)
    yield Session(listener, EchoResponder(), SilentVoice(0.01), wish.policy, thread=wish.thread)


def open_remote(wish: Wish) -> Any:
    """A session in the browser."""
    return fake_remote_talk((), policy=wish.policy, thread=wish.thread)


def app_of(*, stores: bool = True, keep: bool = False) -> Starlette:
    provider = ScriptedProvider([TextDelta("Hello")])
    manager = Manager(MemoryThreads(), provider, lambda _: Step(), sessions=Sessions[Any]()) if stores else None
    return create_app(token=TOKEN, manager=manager, open_voice=open_voice, open_remote=open_remote, keep=keep)


async def talk(page: Page, text: str) -> None:
    """Open a session on this machine, say this, and end it."""
    await page.click("#open-local")
    await expect(page.locator("#connection")).to_have_text("Live")
    await page.fill("#text", text)
    await page.press("#text", "Enter")
    await expect(page.locator(".turn.agent:not(.live)")).to_have_count(1)
    await expect(page.locator("#sessions [aria-current] .title")).to_have_text(text)


@pytest.mark.slow
async def test_what_is_said_is_kept_where_it_is_ticked(serving: Any, browsing: Any) -> None:
    async with serving(app_of()) as served, browsing(served) as (open_page, _):
        page = await open_page()
        await expect(page.get_by_label("Keep what is said")).not_to_be_checked()
        await talk(page, "Of this nothing stays")
        await expect(page.locator("#sessions .about")).not_to_contain_text("kept")
        await page.click("#end")
        await expect(page.locator("#sessions li")).to_have_text(["None is open"])
        await expect(page.locator("#threads li")).to_have_text(["None is kept"])
        await page.get_by_label("Keep what is said").check()
        await talk(page, "What is the time?")
        await expect(page.locator("#sessions .about")).to_contain_text(", kept")
        await expect(page.locator("#threads li")).to_have_text(["None is kept"])  # it is open
        await page.click("#end")
        await expect(page.locator("#threads .title")).to_have_text(["What is the time?"])


async def test_the_box_is_as_the_server_would_have_it_and_not_there_where_nothing_is_stored(
    serving: Any, browsing: Any
) -> None:
    for app, shown in ((app_of(keep=True), True), (app_of(stores=False), False)):
        async with serving(app) as served, browsing(served) as (open_page, _):
            page = await open_page()
            await expect(page.locator("#open-text")).to_be_enabled(enabled=shown)
            await expect(page.locator("#keep-choice")).to_be_visible(visible=shown)
            await expect(page.locator("#keep")).to_be_checked(checked=shown)


async def test_what_is_kept_is_gone_on_with_by_voice(serving: Any, browsing: Any) -> None:
    app = app_of()
    async with serving(app) as served, browsing(served) as (open_page, _):
        page = await open_page()
        await page.evaluate(SILENT_MICROPHONE)
        await page.get_by_label("Keep what is said").check()
        await talk(page, "What is the time?")
        await page.click("#end")
        await page.get_by_role("button", name="Go on by voice: What is the time?").click()
        await expect(page.locator("#empty-what")).to_have_text("Say something")
        await expect(page.locator("#empty-how")).to_contain_text("The agent remembers what was kept.")
        await expect(page.locator("#threads li")).to_have_text(["None is kept"])  # it is open
        await page.fill("#text", "And now?")
        await page.press("#text", "Enter")
        await expect(page.locator(".turn.agent:not(.live)")).to_have_count(1)
        [thread] = await page.evaluate("fetch('/threads').then(answer => answer.json())")
        turns = await page.evaluate("id => fetch(`/threads/${id}`).then(answer => answer.json())", thread["id"])

    said = [part["content"] for turn in turns["turns"] if turn["role"] == "user" for part in turn["artifacts"]]
    assert ["What is the time?", "And now?"] == said
