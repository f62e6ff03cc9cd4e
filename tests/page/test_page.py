"""The page in a browser: what it shows is what the server has, and everything can be done from it."""

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from playwright.async_api import Page, expect
from starlette.applications import Starlette

from discussion_helper.session import Session, Sessions
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text import Manager, MemoryThreads, Step, TextDelta
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.web import Wish, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
TIMES = ("started_s", "ended_s")
LINK = "Open the newest link that the server printed."
LONG = "one two three four five six seven eight nine ten"


class Ear(ScriptedListener):
    """A microphone that can be closed, with a key; what it "hears" is reported by the test."""

    def __init__(self) -> None:
        super().__init__((), stays_open=True)
        self.presses: list[str] = []

    def tell(self, kind: str, **data: Any) -> None:
        assert self._reporter is not None
        self._reporter.report(kind, **data)

    async def mute(self, on: bool) -> None:
        self.tell("device", which="microphone", state="muted" if on else "open")

    async def press(self) -> None:
        self.presses.append("press")
        self.tell("attention", state="pressed", why="key")

    async def release(self) -> None:
        self.presses.append("release")
        self.tell("attention", state="released", why="key")


def app_of(voice_s: float = 0.01) -> Starlette:
    """Sessions on "this machine" have an Ear; written ones answer "Hello world"."""

    @asynccontextmanager
    async def open_voice(wish: Wish) -> AsyncIterator[Session]:
        async with anyio.create_task_group():
            yield Session(Ear(), EchoResponder(), SilentVoice(voice_s), wish.policy)

    def open_fake(wish: Wish) -> Session:
        return Session(ScriptedListener((), stays_open=True), EchoResponder(), SilentVoice(voice_s), wish.policy)

    provider = ScriptedProvider([TextDelta("Hello"), TextDelta(" world")])
    manager = Manager(MemoryThreads(), provider, lambda _: Step(), sessions=Sessions[Any]())
    return create_app(token=TOKEN, manager=manager, open_voice=open_voice, open_fake=open_fake)


async def session_in(page: Page, **body: Any) -> str:
    opening = "async body => (await (await fetch('/sessions', {method: 'POST', body: JSON.stringify(body)})).json()).id"
    return str(await page.evaluate(opening, body))


async def say(page: Page, text: str) -> None:
    await page.fill("#text", text)
    await page.press("#text", "Enter")


async def states(page: Page) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the page has, and what the server says: without what goes on beside the transcript."""
    own = await page.evaluate("async () => (await import('/page/main.js')).following.state.session")
    told = await page.evaluate("async id => (await fetch(`/sessions/${id}`)).json()", own["id"])
    for state in (own, told):
        for name in ("elapsed_s", "live", "decisions"):
            state.pop(name, None)
    return own, told


def ear_of(served: Any, session_id: str) -> Ear:
    ear = served.app.state.sessions.get(session_id).discussion.listener
    assert isinstance(ear, Ear)
    return ear


@pytest.fixture
def talk(serving: Any, browsing: Any) -> Callable[..., Any]:
    """`async with talk(voice_s=..., body=..., **options) as (page, open_page, served, id, watch)`."""

    @asynccontextmanager
    async def opening(voice_s: float = 0.01, body: dict[str, Any] | None = None, **options: Any) -> AsyncIterator[Any]:
        async with serving(app_of(voice_s)) as served, browsing(served, **options) as (open_page, watch):
            page = await open_page()
            session_id = await session_in(page, **(body or {"transport": "fake"}))
            await page.evaluate("id => { location.hash = id }", session_id)
            await expect(page.locator("#connection")).to_have_text("Live")
            yield page, open_page, served, session_id, watch

    return opening


async def test_a_typed_turn_is_answered_and_two_tabs_know_what_the_server_knows(talk: Any) -> None:
    async with talk() as (page, open_page, _, session_id, _):
        other = await open_page(session_id)
        await say(page, "<img src=x onerror=alert(1)> & so on")
        for tab in (page, other):
            await expect(tab.locator(".turn:not(.live)")).to_have_count(2)
            await expect(tab.locator(".turn.user .words")).to_have_text("<img src=x onerror=alert(1)> & so on")
            await expect(tab.locator("#floor-text")).to_have_text("Listening")
            await expect(tab.locator("#latency-key li")).to_have_count(4)
        await expect(page.locator("#text")).to_have_value("")
        for own, told in [await states(page), await states(other)]:
            assert told == own
            assert 1 == len(own["timings"])
        # Whoever reloads, or comes later, sees the same.
        await page.reload()
        await expect(page.locator(".turn.agent")).to_have_count(1)
        await expect(page.locator("#sessions .title")).to_have_text("<img src=x onerror=alert(1)> & so on")
        await page.click("#end")
        for tab in (page, other):
            await expect(tab.locator("#connection")).to_have_text("Ended")
            await expect(tab.locator("#text")).to_be_disabled()


async def test_an_interrupt_shows_what_was_heard_and_what_never_was(talk: Any) -> None:
    async with talk(voice_s=2.0) as (page, _, _, _, _):
        await say(page, LONG)
        await expect(page.locator("#floor-text")).to_have_text("Speaking")
        await page.wait_for_timeout(500)
        await page.keyboard.press("Escape")
        await expect(page.locator(".turn.agent .cut")).to_have_text("interrupted")
        own, told = await states(page)
        heard = own["utterances"][1]["text"]
        unheard = await page.locator(".turn.agent .unheard").text_content()

        assert told == own
        assert LONG == f"{heard} {unheard}".strip()
        assert 1.0 == own["interruption_rate"]


async def test_what_is_heard_so_far_is_shown_and_decisions_when_they_are_asked_for(talk: Any) -> None:
    async with talk(body={"transport": "local"}) as (page, _, served, session_id, _):
        ear = ear_of(served, session_id)
        ear.tell("partial", speaker="user", text="What is the weather", stable="What is")
        ear.tell("level", dbfs=-20.0)
        ear.tell("decision", what="ignored", why="echo", text="the weather", score=0.9)
        await expect(page.locator(".turn.live .unsure")).to_have_text(" the weather")
        await expect(page.locator("#decision-count")).to_have_text("1")
        await expect(page.locator("#decision-list li")).to_have_count(0)
        await page.click("#decisions summary")
        await expect(page.locator("#decision-list li")).to_contain_text(
            "Not taken as a turn: it was the agent's own voice."
        )
        assert "0.667" == await page.evaluate("document.querySelector('#level').style.getPropertyValue('--level')")


async def test_the_microphone_of_this_machine_is_muted_and_the_space_bar_is_its_key(talk: Any) -> None:
    body = {"transport": "local", "turn_policy": "push_to_talk"}
    async with talk(body=body) as (page, _, served, session_id, _):
        ear = ear_of(served, session_id)
        await page.focus("#said")
        await page.keyboard.down("Space")
        await expect(page.locator("#state-note")).to_have_text("You have the floor until you let go.")
        await page.keyboard.up("Space")
        await expect(page.locator("#state-note")).to_have_text("Hold the space bar or the key to talk.")
        await page.keyboard.press("m")
        await expect(page.locator("#mute")).to_have_text("Unmute")
        own, told = await states(page)
        await page.fill("#text", "")
        await page.locator("#text").press_sequentially("a m b")
        written = await page.input_value("#text")

        assert ["press", "release"] == ear.presses
        assert "muted" == told["microphone"]
        assert told == own
        assert "a m b" == written  # in a field keys are letters
        await page.reload()
        await expect(page.locator("#mute")).to_have_text("Unmute")


async def test_a_screen_reader_is_told_final_turns_and_not_what_a_voice_says(talk: Any) -> None:
    async with talk(voice_s=30.0, body={"transport": "local"}) as (page, _, served, session_id, _):
        ear_of(served, session_id).tell("partial", speaker="user", text="Hel", stable="")
        await say(page, "Hello")
        await expect(page.locator("#floor-text")).to_have_text("Speaking")
        while_it_speaks = await page.evaluate(
            "['floor-text', 'announcer'].map(id => document.getElementById(id).innerText)"
        )
        await page.keyboard.press("Escape")
        await expect(page.locator(".turn.agent:not(.live)")).to_have_count(1)
        await expect(page.locator("#announcer")).to_have_text("You: Hello")
        assert ["Speaking", ""] == while_it_speaks
        await page.click("#open-text")
        await expect(page.locator("#floor-text")).to_have_text("Your turn")
        await say(page, "In writing")
        await expect(page.locator("#announcer")).to_have_text("You: In writingAgent: Hello world")


async def test_a_written_session_looks_and_works_the_same(talk: Any) -> None:
    async with talk(body={"kind": "text"}) as (page, _, _, _, _):
        await say(page, "Hello")
        await expect(page.locator(".turn.agent:not(.live) .words")).to_have_text("Hello world")
        await expect(page.locator("#floor-text")).to_have_text("Your turn")
        await expect(page.locator("#latency-key li")).to_have_count(4)
        await expect(page.locator("#sessions .title")).to_have_text("Hello")
        await expect(page.locator("#mute")).to_be_hidden()
        own, told = await states(page)
        times = [[turn.pop(name) for turn in state["utterances"] for name in TIMES] for state in (own, told)]
        assert times[0] == pytest.approx(times[1], abs=0.25)
        own["timings"], told["timings"] = len(own["timings"]), len(told["timings"])  # a millisecond of rounding
        assert told == own


async def test_the_page_says_that_it_does_not_know_and_goes_on_where_it_was(serving: Any, browsing: Any) -> None:
    app = app_of()
    async with serving(app) as served, browsing(served) as (open_page, watch):
        watch.expected = ("ERR_", "status of 40")  # what the browser itself logs
        page = await open_page()
        session_id = await session_in(page, transport="fake")
        await page.evaluate("id => { location.hash = id }", session_id)
        await say(page, "Before")
        await expect(page.locator(".turn:not(.live)")).to_have_count(2)
        served.server.should_exit = True
        await expect(page.locator("#connection")).to_have_text("Connection lost, trying again")
        await expect(page.locator("#floor-text")).to_have_text("The server stopped")
        await page.route("**/events*", lambda route: route.abort())  # it is let in before it asks
        async with serving(create_app(app.state.sessions, token="another-token"), served.port):
            await page.unroute("**/events*")
            await expect(page.locator("#floor-text")).to_have_text("This browser is not let in any more")
            await expect(page.locator("#state-note")).to_have_text(LINK)
        restarted = create_app(app.state.sessions, token=TOKEN)
        async with serving(restarted, served.port):
            await _let_in(page, served.url)
            await page.unroute("**/events*")
            await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # back in this tab
            await expect(page.locator("#connection")).to_have_text("Live")
            await say(page, "After")
            await expect(page.locator(".turn:not(.live)")).to_have_count(4)
            own, told = await states(page)
            assert told == own
            await page.evaluate("location.hash = 'nobody-knows-this-one'")
            await expect(page.locator("#connection")).to_have_text("Gone")
            await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
            await expect(page.locator("#connection")).to_have_text("Gone")


async def _let_in(page: Page, url: str) -> None:
    """A server that is started again has another cookie: the link is opened in another tab."""
    link = await page.context.new_page()
    await link.goto(f"{url}/?token={TOKEN}")
    await link.close()


async def test_what_was_said_is_downloaded_with_the_times_of_the_server(talk: Any) -> None:
    async with talk() as (page, _, _, session_id, _):
        await say(page, "Hello")
        await expect(page.locator(".turn.agent:not(.live)")).to_have_count(1)
        texts = {}
        for kind in ("json", "srt", "vtt"):
            async with page.expect_download() as saving:
                await page.click(f"#save-{kind}")
            saved = await saving.value
            assert f"conversation-{session_id[:8]}.{kind}" == saved.suggested_filename
            texts[kind] = (await saved.path()).read_text(encoding="utf-8")

        assert ["Hello", "Hello"] == [one["text"] for one in json.loads(texts["json"])["utterances"]]
        assert texts["srt"].startswith("1\n00:00:0")
        assert "You: Hello" in texts["srt"]
        assert texts["vtt"].startswith("WEBVTT\n\n00:00:0")
        assert "<v Agent>Hello" in texts["vtt"]
        await expect(page.locator("#save-wav")).to_be_disabled()
        await expect(page.locator("#save-wav")).to_have_accessible_description(re.compile("recorded here"))


async def test_all_can_be_done_with_the_keyboard(serving: Any, browsing: Any) -> None:
    async with serving(app_of(2.0)) as served, browsing(served) as (open_page, _):
        page = await open_page()
        await expect(page.locator("#open-text")).to_be_enabled()
        reached = []
        for _ in range(16):
            await page.keyboard.press("Tab")
            reached.append(await page.evaluate("document.activeElement.id || document.activeElement.tagName"))
            if reached[-1] == "open-text":
                await page.keyboard.press("Enter")
                break
        await expect(page.locator("#connection")).to_have_text("Live")
        await expect(page.locator("#text")).to_be_enabled()
        await page.keyboard.press("/")
        await page.keyboard.type("Hello")
        await page.keyboard.press("Enter")
        await expect(page.locator(".turn.agent:not(.live)")).to_have_count(1)
        outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")

        assert "open-local" in reached
        assert "solid" == outline
