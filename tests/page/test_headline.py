"""The headline of a session: never "Listening" where nobody can be heard, with what helps beside it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from playwright.async_api import expect

from discussion_helper.governor import SHEDS
from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.web import Wish, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
PHONE = {"width": 390, "height": 844}
RATE = 48_000
HEADLINES = """async scenes => {
  const { ACTS, headlineOf } = await import('/page/headline.js');
  return scenes.map(([session, connection, audio]) => {
    const { text, act, heard } = headlineOf(session, { what: '', ...connection }, audio);
    return [text, ACTS[act] ?? '', heard];
  });
}"""
SHED_WORDS = "async () => (await import('/page/floor.js')).SHED"
OPEN = """async body => {
  const answer = await fetch('/sessions', { method: 'POST', body: JSON.stringify(body) });
  return (await answer.json()).id;
}"""
INSECURE = "Object.defineProperty(window, 'isSecureContext', { value: false })"
LIVE = {"state": "live"}
HERE = {"state": "live", "live": True, "open": True, "muted": False}
CONNECT, TAKE = "Connect the microphone", "Take the microphone"


def voice(**more: Any) -> dict[str, Any]:
    return {"kind": "voice", "running": True, "floor": "listening", "turn_policy": "automatic", **more}


def away(state: str) -> dict[str, Any]:
    return {"state": state, "live": False, "open": False, "muted": False}


REMOTE, LOCAL = voice(transport="remote", microphone="open"), voice(transport="local", microphone="open")
HAS = {"client": "here"}
SCENES: list[tuple[Any, dict[str, str], Any, list[Any]]] = [
    (REMOTE, LIVE, HERE, ["Listening", "", True]),
    (LOCAL, LIVE, None, ["Listening", "", True]),
    (voice(transport="fake"), LIVE, None, ["Listening", "", True]),
    (REMOTE | {"microphone": "muted"}, LIVE, None, ["Microphone not connected", CONNECT, False]),
    (REMOTE, LIVE, None, ["Another tab has the microphone", TAKE, False]),
    (REMOTE, LIVE, away("off"), ["Microphone not connected", CONNECT, False]),
    (REMOTE, LIVE, away("connecting"), ["Connecting the microphone", "", False]),
    (REMOTE, LIVE, away("owned"), ["Another tab has the microphone", TAKE, False]),
    (REMOTE, LIVE, away("taken"), ["Another tab took the microphone", TAKE, False]),
    (REMOTE | {"client": "away"}, LIVE, away("taken"), ["Microphone not connected", CONNECT, False]),
    (REMOTE | {"client": "away"}, LIVE, away("owned"), ["Microphone not connected", CONNECT, False]),
    (REMOTE | {"client": "away"}, LIVE, None, ["Microphone not connected", CONNECT, False]),
    (REMOTE, LIVE, away("refused"), ["The server refuses the microphone", CONNECT, False]),
    (REMOTE, LIVE, away("lost"), ["Connection lost", "", False]),
    (REMOTE, LIVE, away("lost") | {"muted": True}, ["Connection lost", "", False]),
    (REMOTE, LIVE, HERE | {"muted": True, "open": False}, ["Muted", "Unmute", False]),
    (REMOTE, LIVE, HERE | {"open": False}, ["Microphone unplugged", CONNECT, False]),
    (REMOTE, LIVE, HERE | {"open": False, "opening": True}, ["Opening the microphone", "", False]),
    (REMOTE, LIVE, HERE | {"paused": True}, ["The browser paused the sound", "Go on", False]),
    (REMOTE | {"microphone": "muted"}, LIVE, HERE, ["Opening the microphone", "", False]),
    (REMOTE, LIVE, HERE | {"open": False, "refused": True}, ["Microphone not opened", CONNECT, False]),
    (REMOTE, LIVE, away("paused"), ["The browser paused the sound", "Go on", False]),
    (REMOTE | HAS | {"microphone": "open"}, LIVE, None, ["Another tab has the microphone", TAKE, False]),
    (REMOTE | HAS | {"microphone": "muted"}, LIVE, None, ["Another tab has the microphone, muted", TAKE, False]),
    (
        REMOTE | HAS | {"microphone": "muted"},
        LIVE,
        away("owned"),
        ["Another tab has the microphone, muted", TAKE, False],
    ),
    (REMOTE | {"microphone": "silent"}, LIVE, HERE, ["Microphone silent", "", False]),
    (REMOTE | {"floor": "speaking"}, LIVE, away("off"), ["Speaking. Microphone not connected", CONNECT, False]),
    (LOCAL | {"microphone": "muted"}, LIVE, None, ["Muted", "Unmute", False]),
    (LOCAL | {"microphone": "lost"}, LIVE, None, ["Microphone lost", "", False]),
    (LOCAL | {"microphone": "hanging"}, LIVE, None, ["Microphone does not answer", "", False]),
    (LOCAL | {"turn_policy": "push_to_talk"}, LIVE, None, ["Hold to talk", "", False]),
    (LOCAL | {"turn_policy": "push_to_talk", "attention": "pressed"}, LIVE, None, ["Listening", "", True]),
    (LOCAL | {"turn_policy": "wake_word"}, LIVE, None, ["Waiting for the wake word", "", False]),
    (LOCAL | {"turn_policy": "wake_word", "attention": "awake"}, LIVE, None, ["Listening", "", True]),
    (LOCAL, {"state": "lost"}, None, ["Connection lost", "Try now", False]),
    (LOCAL, {"state": "lost", "what": "The server stopped"}, None, ["The server stopped", "Try now", False]),
    (LOCAL, {"state": "gone", "what": "This session is gone"}, None, ["This session is gone", "", False]),
    (None, {"state": "none"}, None, ["Choose or open a session", "", False]),
    (None, {"state": "connecting"}, None, ["Connecting", "", False]),
    (LOCAL | {"running": False}, {"state": "over"}, None, ["Ended", "", False]),
    (
        LOCAL | {"running": False},
        {"state": "over", "what": "The server stopped"},
        None,
        ["The server stopped", "", False],
    ),
    ({"kind": "text", "running": True, "floor": "listening"}, LIVE, None, ["Your turn", "", False]),
]


@pytest.fixture
def app() -> Any:
    """Sessions in a browser, without models."""

    def opened(wish: Wish) -> Any:
        return fake_remote_talk((), policy=wish.policy, thread=wish.thread)

    return create_app(token=TOKEN, open_remote=opened)


async def test_listening_is_said_only_where_somebody_is_heard(serving: Any, browsing: Any, app: Any) -> None:
    async with serving(app) as served, browsing(served) as (open_page, _):
        page = await open_page()
        told = await page.evaluate(HEADLINES, [scene[:3] for scene in SCENES])
        words = await page.evaluate(SHED_WORDS)

    assert [scene[3] for scene in SCENES] == told
    assert set(SHEDS) == set(words)
    assert not set(SHEDS) & set(words.values())


async def test_without_a_microphone_no_session_is_opened(serving: Any, browsing: Any, app: Any) -> None:
    async with serving(app) as served, browsing(served) as (open_page, _):
        page = await open_page()
        await page.click("#open-browser")
        await expect(page.locator("#alert")).to_contain_text("microphone")
        await page.add_init_script(INSECURE)
        await page.reload()
        await page.click("#open-browser")
        await expect(page.locator("#alert")).to_contain_text("Open this page under https")
        assert [] == await page.evaluate("async () => (await fetch('/sessions')).json()")


async def test_a_microphone_that_nobody_connected_is_offered_above_the_fold_of_a_phone(
    serving: Any, browsing: Any, app: Any
) -> None:
    async with (
        serving(app) as served,
        browsing(served, viewport=PHONE, has_touch=True, is_mobile=True) as (
            open_page,
            _,
        ),
    ):
        page = await open_page()
        await expect(page.locator(".with-fingers")).to_be_visible()
        await expect(page.locator(".with-keys")).to_be_hidden()
        page = await open_page(await page.evaluate(OPEN, {"transport": "remote"}))
        await expect(page.locator("#floor-text")).to_have_text("Microphone not connected")
        await expect(page.locator("#act")).to_have_text(CONNECT)
        await expect(page.locator("#act")).to_be_in_viewport(ratio=1)
        await page.click("#act")  # this browser has none
        await expect(page.locator("#state-note")).to_contain_text("microphone")
        await expect(page.locator("#state-note")).to_be_in_viewport(ratio=1)
        await page.set_viewport_size({"width": 1280, "height": 800})
        await expect(page.locator("#drawer")).to_have_attribute("open", "")
        await app.state.sessions.aclose()


async def test_a_page_that_is_not_the_microphone_says_what_can_be_done_there(
    serving: Any, browsing: Any, app: Any
) -> None:
    async with serving(app) as served, browsing(served) as (open_page, _):
        page = await open_page()
        body = {"transport": "remote", "turn_policy": "push_to_talk"}
        page = await open_page(await page.evaluate(OPEN, body))
        note = page.locator("#state-note")
        await expect(note).to_have_text("Here you can read and write. To talk here, connect the microphone.")
        session = app.state.sessions.get(await page.evaluate("location.hash.slice(1)"))
        session.discussion._record.report(
            "device", which="microphone", state="silent", fix="Check the mute switch of the microphone."
        )
        await expect(page.locator("#floor-text")).to_have_text("Another tab has the microphone")
        await expect(note).to_have_text("Here you can read and write. To talk here, take the microphone.")
        busy = ["interim", "speculation"]
        for what in busy:
            session.discussion._record.report("shed", what=what, state="shed", why="loop")
        await expect(note).to_contain_text(
            "The machine is busy. For now your words are shown only after you have said them and answers come a little"
            " later."
        )
        await app.state.sessions.aclose()


@pytest.mark.slow
async def test_a_session_that_ended_with_its_server_is_told_so(serving: Any, browsing: Any, app: Any) -> None:
    async with serving(app) as served, browsing(served) as (open_page, watch):
        watch.expected = ("ERR_",)  # what the browser itself logs
        page = await open_page()
        page = await open_page(await page.evaluate(OPEN, {"transport": "remote"}))
        served.server.should_exit = True
        await expect(page.locator("#floor-text")).to_have_text("The server stopped")
        await expect(page.locator("#state-note")).to_have_text("Start it again.")


@pytest.mark.slow
async def test_after_a_reload_and_beside_another_tab_the_headline_offers_the_microphone(
    serving: Any, talker: Callable[[Path], Any], app: Any, tmp_path: Path
) -> None:
    quiet = np.random.default_rng(1).normal(0.0, 1e-4, 60 * RATE)
    soundfile.write(tmp_path / "quiet.wav", quiet, RATE, subtype="PCM_16")
    async with serving(app) as served, talker(tmp_path / "quiet.wav")(served, viewport=PHONE) as (open_page, _):
        page = await open_page()
        headline, act = page.locator("#floor-text"), page.locator("#act")
        await page.click("#open-browser")
        await expect(headline).to_have_text("Listening")
        await expect(page.locator("#empty-what")).to_have_text("Say something")
        await page.reload()
        await expect(headline).to_have_text("Microphone not connected")
        await act.click()
        await expect(headline).to_have_text("Listening")
        await page.click("#mute")
        await expect(headline).to_have_text("Muted")
        await act.click()
        await expect(headline).to_have_text("Listening")
        other = await open_page(await page.evaluate("location.hash.slice(1)"))
        await expect(other.locator("#floor-text")).to_have_text("Another tab has the microphone")
        await other.click("#act")
        await expect(other.locator("#floor-text")).to_have_text("Listening")
        await expect(headline).to_have_text("Another tab took the microphone")
        await expect(page.locator("#state-note")).to_contain_text("To talk here, take the microphone.")
        await other.reload()
        await expect(headline).to_have_text("Microphone not connected")
        await expect(page.locator("#audio-state")).to_have_text("Not connected")
        await act.click()
        await expect(headline).to_have_text("Listening")
        await expect(other.locator("#floor-text")).to_have_text("Another tab has the microphone")
        await app.state.sessions.aclose()
