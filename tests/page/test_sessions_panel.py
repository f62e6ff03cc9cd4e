"""The list of sessions beside the conversation: when each was, and what helps where one cannot be opened."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Page, expect

from discussion_helper.registry import Sessions
from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.text import Manager, MemoryThreads, Step, TextDelta
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.web import Wish, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
LOCAL = "No talk on the server's machine: microphone missing."
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
        async with page.context.expect_page() as opening:
            await page.click("#unusable a")
        assert f"{served.url}/health" == (await opening.value).url
