"""The list of sessions beside the conversation: when each was, and what helps where one cannot be opened."""

import re
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from playwright.async_api import Page, Route, expect

from discussion_helper.registry import Sessions
from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.text import Manager, MemoryThreads, Step, TextDelta
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.web import Wish, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
LOCAL = "No talk on the server's machine: microphone missing."
PHONE = {"width": 390, "height": 844}
MANY = """async () => {
  for (let at = 0; at < 15; at += 1) await fetch('/sessions', { method: 'POST', body: '{"kind": "text"}' });
}"""
TIME = re.compile(r"\d:\d\d")


@dataclass
class Finding:
    """A part that is missing."""

    part: str
    uses: tuple[str, ...]
    ok: bool = False
    found: str = "none"
    fix: str = "Connect one."


def app_of(*missing: Finding) -> Any:
    def opened(wish: Wish) -> Any:
        return fake_remote_talk((), policy=wish.policy, thread=wish.thread)

    provider = ScriptedProvider([TextDelta("Hello")])
    manager = Manager(MemoryThreads(), provider, lambda _: Step(), sessions=Sessions[Any]())
    return create_app(token=TOKEN, manager=manager, open_remote=opened, examine=lambda: missing)


async def written(page: Page) -> None:
    await page.click("#open-text")
    await expect(page.locator("#empty-what")).to_have_text("Write a message")
    await page.fill("#text", "Good morning")
    await page.press("#text", "Enter")
    await expect(page.locator(".turn.agent:not(.live)")).to_have_count(1)


@pytest.mark.slow
async def test_open_and_kept_sessions_are_listed_with_their_times(serving: Any, browsing: Any) -> None:
    async with serving(app_of()) as served, browsing(served) as (open_page, _):
        page = await open_page()
        await expect(page.locator("#unusable")).to_be_hidden()
        await written(page)
        await expect(page.locator("#sessions .about")).to_have_text(re.compile(r"In writing, since .*\d:\d\d"))
        await page.click("#end")
        await expect(page.locator("#threads .title")).to_have_text("Good morning")
        await expect(page.locator("#threads .about")).to_have_text(TIME)


@pytest.mark.parametrize(
    ("uses", "told"),
    [
        (("voice",), "What helps. Talking in this browser works."),
        pytest.param(
            ("voice", "remote"), "No talk in this browser: microphone missing. What helps.", marks=pytest.mark.slow
        ),
    ],
)
async def test_what_cannot_be_had_is_said_with_a_link_to_the_fix(
    serving: Any, browsing: Any, uses: tuple[str, ...], told: str
) -> None:
    async with serving(app_of(Finding("microphone", uses))) as served, browsing(served) as (open_page, _):
        page = await open_page()
        await expect(page.locator("#unusable")).to_have_text(f"{LOCAL} {told}")
        await expect(page.locator(".openers + #unusable")).to_be_visible()  # beside what it is about
        await expect(page.locator("#open-local")).to_be_disabled()
        await expect(page.locator("#open-browser")).to_be_enabled(enabled="remote" not in uses)
        async with page.context.expect_page() as opening:
            await page.click("#unusable a")
        assert f"{served.url}/health" == (await opening.value).url


async def test_what_has_no_title_yet_is_called_what_it_is(serving: Any, browsing: Any) -> None:
    async with serving(app_of()) as served, browsing(served) as (open_page, _):
        page = await open_page()
        await page.click("#open-text")
        await expect(page.locator("#sessions .title")).to_have_text(re.compile(r"New text, .*\d:\d\d"))
        await page.evaluate("fetch('/sessions', {method: 'POST', body: '{\"transport\": \"remote\"}'})")
        await page.click("#refresh")
        await expect(page.locator("#sessions .title").first).to_have_text(re.compile(r"New talk, .*\d:\d\d"))
        await page.fill("#text", "Good morning")
        await page.press("#text", "Enter")
        await expect(page.locator("#sessions .title").last).to_have_text("Good morning")
        await served.app.state.sessions.aclose()


async def test_until_the_server_has_told_it_is_not_said_that_nothing_was_said(serving: Any, browsing: Any) -> None:
    async with serving(app_of()) as served, browsing(served) as (open_page, watch):
        watch.expected = ("ERR_",)  # what the browser itself logs
        page = await open_page()
        held = anyio.Event()

        async def hold(route: Route) -> None:
            await held.wait()
            await route.continue_()

        await page.route("**/events*", hold)
        await page.click("#open-text")
        await expect(page.locator("#floor-text")).to_have_text("Connecting")
        await expect(page.locator("#empty-what")).to_have_text("One moment")
        held.set()
        await expect(page.locator("#empty-what")).to_have_text("Write a message")


async def test_on_a_phone_the_headline_is_in_sight_after_a_choice_and_after_a_reload(
    serving: Any, browsing: Any
) -> None:
    async with serving(app_of()) as served, browsing(served, viewport=PHONE, has_touch=True) as (open_page, _):
        page = await open_page()
        await page.evaluate(MANY)
        await page.click("#refresh")
        await expect(page.locator("#sessions li")).to_have_count(15)
        await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        await page.locator("#sessions button").last.click()
        await expect(page.locator("#floor-text")).to_have_text("Your turn")
        assert 0 == await page.evaluate("window.scrollY")
        await expect(page.locator("#floor-text")).to_be_in_viewport(ratio=1)
        await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        assert 0 < await page.evaluate("window.scrollY")
        await page.reload()
        await expect(page.locator("#floor-text")).to_have_text("Your turn")
        assert 0 == await page.evaluate("window.scrollY")
