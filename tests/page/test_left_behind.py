"""What was begun in one session stays with it when another one is followed, and addresses that are no session's."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from playwright.async_api import Page, Route, expect
from starlette.applications import Starlette

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.web import Wish, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
OPEN = """async transport => {
  const body = JSON.stringify({ transport });
  return (await (await fetch('/sessions', { method: 'POST', body })).json()).id;
}"""
CHOSEN = """async () => {
  let answer;
  const devices = ['left', 'right'].map(deviceId => ({ kind: 'audioinput', deviceId, label: deviceId }));
  const enumerateDevices = () => new Promise(resolve => { answer = () => resolve(devices); });
  Object.defineProperty(navigator, 'mediaDevices', { value: { enumerateDevices, addEventListener() {} } });
  const { AudioPanel } = await import('/page/audio_panel.js');
  const panel = new AudioPanel({ join() {}, use() {}, record() {} });
  let listed = panel.list();
  answer();
  await listed;
  const select = document.getElementById('device');
  listed = panel.list();
  select.value = 'right';
  answer();
  await listed;
  return panel.device;
}"""


class Ear(ScriptedListener):
    """A microphone that can be closed, and takes its time."""

    def __init__(self) -> None:
        super().__init__((), stays_open=True)
        self.mutes: list[bool] = []
        self.waits = anyio.Event()

    async def mute(self, on: bool) -> None:
        await self.waits.wait()
        self.mutes.append(on)
        assert self._reporter is not None
        self._reporter.report("device", which="microphone", state="muted" if on else "open")


def app_of() -> Starlette:
    @asynccontextmanager
    async def open_voice(wish: Wish) -> AsyncIterator[Session]:
        async with anyio.create_task_group():
            yield Session(Ear(), EchoResponder(), SilentVoice(0.01), wish.policy)

    def open_fake(wish: Wish) -> Session:
        return Session(ScriptedListener((), stays_open=True), EchoResponder(), SilentVoice(0.01), wish.policy)

    return create_app(token=TOKEN, open_voice=open_voice, open_fake=open_fake)


class Held:
    """Requests that wait until a test lets them go."""

    def __init__(self) -> None:
        self.asked = anyio.Event()
        self._goes = anyio.Event()
        self._done = anyio.Event()

    async def __call__(self, route: Route) -> None:
        self.asked.set()
        await self._goes.wait()
        await route.continue_()
        self._done.set()

    async def release(self) -> None:
        self._goes.set()
        await self._done.wait()


@pytest.fixture
def pair(serving: Any, browsing: Any) -> Callable[..., Any]:
    """`async with pair(transport) as (page, ids, app, watch)`: the page follows the first of two sessions."""

    @asynccontextmanager
    async def opening(transport: str = "fake") -> AsyncIterator[Any]:
        app = app_of()
        async with serving(app) as served, browsing(served) as (open_page, watch):
            page = await open_page()
            ids = [await page.evaluate(OPEN, transport) for _ in range(2)]
            await go(page, ids[0])
            yield page, ids, app, watch

    return opening


async def go(page: Page, session_id: str) -> None:
    await page.evaluate("id => { location.hash = id }", session_id)
    await expect(page.locator(f"[data-id='{session_id}'][aria-current]")).to_have_count(1)
    await expect(page.locator("#connection")).to_have_text("Live")
    await expect(page.locator("#text")).to_be_enabled()


async def test_each_session_keeps_its_own_draft(pair: Any) -> None:
    async with pair() as (page, (first, second), _, _):
        box = page.locator("#text")
        await box.fill("for the first one")
        await go(page, second)
        await expect(box).to_have_value("")
        await box.fill("for the second one")
        await go(page, first)
        await expect(box).to_have_value("for the first one")
        await box.press("Enter")
        await expect(page.locator(".turn.user .words")).to_have_text("for the first one")
        await expect(box).to_have_value("")
        await go(page, second)
        await expect(box).to_have_value("for the second one")
        await expect(page.locator(".turn")).to_have_count(0)


@pytest.mark.slow
async def test_a_message_that_is_on_its_way_when_another_session_is_chosen_is_gone_from_its_own_draft_alone(
    pair: Any,
) -> None:
    async with pair() as (page, (first, second), _, _):
        box, say = page.locator("#text"), Held()
        await page.route(f"**/sessions/{first}/say", say)
        await box.fill("the same words")
        await box.press("Enter")
        await say.asked.wait()
        await go(page, second)
        await box.fill("the same words")
        async with page.expect_response(f"**/sessions/{first}/say"):
            await say.release()
        await expect(box).to_have_value("the same words")
        await box.press("Enter")
        await expect(page.locator(".turn.user .words")).to_have_text("the same words")
        await go(page, first)
        await expect(page.locator(".turn.user .words")).to_have_text("the same words")
        await expect(box).to_have_value("")


@pytest.mark.slow
async def test_what_went_wrong_in_a_session_that_was_left_is_not_told_beside_another(pair: Any) -> None:
    async with pair() as (page, (first, second), app, watch):
        watch.expected = ("status of 409",)  # what the browser itself logs
        box, say = page.locator("#text"), Held()
        await page.route(f"**/sessions/{first}/say", say)
        await box.fill("too late")
        await box.press("Enter")
        await say.asked.wait()
        await go(page, second)
        await app.state.sessions.get(first).stop()
        async with page.expect_response(f"**/sessions/{first}/say"):
            await say.release()
        await box.fill("in time")
        await box.press("Enter")
        await expect(page.locator(".turn.user .words")).to_have_text("in time")
        await expect(page.locator("#alert")).to_be_hidden()


@pytest.mark.slow
async def test_a_download_has_the_name_of_the_session_it_was_asked_in(pair: Any) -> None:
    async with pair() as (page, (first, second), _, _):
        asked = Held()
        await page.route(f"**/sessions/{first}", asked)
        async with page.expect_download() as saving:
            await page.click("#save-json")
            await asked.asked.wait()
            await page.evaluate("id => { location.hash = id }", second)
            await asked.release()
        assert f"conversation-{first[:8]}.json" == (await saving.value).suggested_filename


@pytest.mark.slow
async def test_two_clicks_on_mute_close_the_microphone_of_this_machine_and_open_it_again(pair: Any) -> None:
    async with pair("local") as (page, (first, _), app, _):
        ear = app.state.sessions.get(first).discussion.listener
        async with page.expect_response("**/mute"):
            await page.evaluate("for (const _ of [1, 2]) document.getElementById('mute').click()")
            ear.waits.set()
        async with app.state.sessions.get(first).events("device") as events:
            while len(ear.mutes) < 2:
                await anext(events)
        await expect(page.locator("#mute")).to_have_text("Mute")
        assert [True, False] == ear.mutes


@pytest.mark.slow
async def test_a_device_that_is_chosen_while_they_are_listed_stays_chosen(pair: Any) -> None:
    async with pair() as (page, _, _, _):
        assert "right" == await page.evaluate(CHOSEN)


@pytest.mark.slow
async def test_the_link_that_skips_to_what_is_said_stays_in_the_session(pair: Any) -> None:
    async with pair() as (page, (first, _), _, _):
        await page.focus("#skip")
        await page.keyboard.press("Enter")
        assert "said" == await page.evaluate("document.activeElement.id")
        assert f"#{first}" == await page.evaluate("location.hash")
        await expect(page.locator("#connection")).to_have_text("Live")


async def test_what_is_no_id_leads_nowhere(pair: Any) -> None:
    async with pair() as (page, (first, _), _, _):
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        for wrong in ("..", ".", "a/b", "%2e%2e", "../health", f"{first}/../../health", "a?b=c", "x" * 1_000, "ä" * 8):
            await page.evaluate("id => { location.hash = id }", wrong)
            await expect(page.locator("#floor-text")).to_have_text("There is no session of that id")
            await expect(page.locator("#connection")).to_have_text("Gone")
            await expect(page.locator("#text")).to_be_disabled()
            await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        await go(page, first)
        paths = {url.split("/", 3)[3].partition("?")[0] for url in asked}
        allowed = ("page/icon.svg", "sessions", "health", "threads", f"sessions/{first}", f"sessions/{first}/events")
        assert [] == [path for path in paths if path not in allowed and not path.startswith("sessions/")]
        assert [] == [path for path in paths if ".." in path or "%" in path or "b" == path]
