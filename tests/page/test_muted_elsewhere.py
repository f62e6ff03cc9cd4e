"""A browser's microphone that somebody else mutes, that is muted without a connection, refused, or stands still."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from playwright.async_api import Page, expect

from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.web import Wish, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
DEVICES = (Path(__file__).parent / "fake_devices.js").read_text(encoding="utf-8")
RATE = 48_000
KEEPS_TRACKS = """
window.streams = [];
window.sockets = [];
const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async wanted => {
  if (window.refuses) throw new DOMException('no', 'NotAllowedError');
  const stream = await ask(wanted);
  window.streams.push(stream);
  return stream;
};
window.live = () => streams.flatMap(stream => stream.getTracks()).filter(track => track.readyState === 'live').length;
window.WebSocket = class extends WebSocket {
  constructor(url, protocol) {
    const isAudio = url.endsWith('/audio');
    super(isAudio && window.away ? url.replace('/audio', '/nowhere') : url, protocol);
    if (isAudio) window.sockets.push(this);
  }
};
"""
LIVE = """
  const following = await world.begin();
  following.join({ device: '', record: true });
  await world.answerAll();
  const { audio } = following;
  const [socket] = world.here();
  const seen = () => [audio.muted, world.live().length, socket.closed, socket.muted];
"""


@pytest.fixture
def told(serving: Any, browsing: Any) -> Any:
    """`await told(steps)`: what JavaScript returns that has a `following` of fake devices, and their `world`."""

    async def telling(steps: str) -> Any:
        async with serving(create_app(token=TOKEN)) as served, browsing(served) as (open_page, _):
            page = await open_page()
            await page.evaluate(DEVICES)
            return await page.evaluate(f"async () => {{ const {{ world }} = window; {LIVE} {steps} }}")

    return telling


async def test_who_is_muted_by_somebody_else_has_the_device_closed_until_either_opens_it_again(told: Any) -> None:
    found = await told(
        """
        const found = [];
        const holds = on => () => socket.holds(on);
        for (const step of [holds(true), holds(false), holds(true), () => audio.mute(false)]) {
          step();
          await world.answerAll();
          found.push(seen());
        }
        return found;"""
    )

    assert [[True, 0, False, True], [False, 1, False, False]] * 2 == found


async def test_what_was_done_without_a_connection_is_told_when_it_is_back(told: Any) -> None:
    found = await told(
        """
        const found = [];
        const again = async (step) => {
          world.here().at(-1).drops();
          await world.settle();
          const can = following.canMute;
          step();
          await world.answerAll();
          const now = world.here().at(-1);
          found.push([can, audio.state, audio.muted, world.live().length, now.closed, now.muted]);
        };
        await again(() => audio.mute(true));
        await again(() => audio.mute(false));
        world.here().at(-1).holds(true);
        await world.settle();
        await again(() => {});
        await again(() => audio.mute(false));
        return found;"""
    )

    muted, heard, held = [True, 0, True, True], [False, 1, False, False], [True, 0, False, True]
    assert [[True, "live", *state] for state in (muted, heard, held, heard)] == found


async def test_while_the_sound_stands_still_nobody_reconnects_until_it_goes_on(told: Any) -> None:
    found = await told(
        """
        const [context] = world.contexts;
        const found = [];
        context.state = 'suspended';
        context.onstatechange();
        found.push([audio.state, audio.paused, world.here().length]);
        socket.ends(4008);
        await world.answerAll();
        found.push([audio.state, audio.paused, world.here().length, world.live().length]);
        context.state = 'running';
        context.onstatechange();
        await world.answerAll();
        found.push([audio.state, audio.paused, world.here().length, world.live().length]);
        return found;"""
    )

    assert [["live", True, 1], ["paused", True, 0, 0], ["live", False, 1, 1]] == found


async def test_a_device_that_is_refused_behind_one_that_was_unplugged_is_told_as_that(told: Any) -> None:
    found = await told(
        """
        world.unplug();
        const unplugged = [audio.open, audio.refused];
        following.join({ device: 'right' });
        for (const one of world.asked.splice(0)) one.refuse();
        await world.settle();
        return [unplugged, [audio.open, audio.refused]];"""
    )

    assert [[False, False], [False, True]] == found


@pytest.mark.slow
async def test_pages_say_what_the_server_hears_whoever_mutes_it(
    serving: Any, talker: Callable[[Path], Any], tmp_path: Path
) -> None:
    """The real thing: Chromium's own devices and a server."""

    def opened(wish: Wish) -> Any:
        return fake_remote_talk((), policy=wish.policy, thread=wish.thread)

    soundfile.write(tmp_path / "quiet.wav", np.random.default_rng(1).normal(0.0, 1e-4, 60 * RATE), RATE)
    app = create_app(token=TOKEN, open_remote=opened)
    async with serving(app) as served, talker(tmp_path / "quiet.wav")(served) as (open_page, watch):
        watch.expected = ("WebSocket connection to",)  # what the browser itself logs
        page = await open_page()
        await page.add_init_script(KEEPS_TRACKS)
        await page.reload()
        await page.click("#open-browser")
        await _shows(page, "Listening", "Mute", tracks=1)
        session = app.state.sessions.get(await page.evaluate("location.hash.slice(1)"))
        await session.mute(True)
        await _shows(page, "Muted", "Unmute", tracks=0)
        other = await open_page(session.id)
        await expect(other.locator("#floor-text")).to_have_text("Another tab has the microphone, muted")
        await page.click("#mute")
        await _shows(page, "Listening", "Mute", tracks=1)
        assert "open" == session.microphone
        await page.evaluate("away = true; sockets.at(-1).close(4999)")
        await expect(page.locator("#floor-text")).to_have_text("Connection lost")
        await page.keyboard.press("m")
        await _shows(page, "Connection lost", "Unmute", tracks=0)
        await page.evaluate("away = false")
        await _shows(page, "Muted", "Unmute", tracks=0)
        await expect(other.locator("#floor-text")).to_have_text("Another tab has the microphone, muted")
        await page.click("#mute")
        await _shows(page, "Listening", "Mute", tracks=1)
        await session.mute(True)
        await _shows(page, "Muted", "Unmute", tracks=0)
        await other.click("#act")
        await expect(other.locator("#floor-text")).to_have_text("Muted")
        await page.close()
        assert "muted" == session.microphone
        await app.state.sessions.aclose()


async def _shows(page: Page, headline: str, button: str, *, tracks: int) -> None:
    await expect(page.locator("#floor-text")).to_have_text(headline)
    await expect(page.locator("#mute")).to_have_text(button)
    await page.wait_for_function("tracks => window.live() === tracks", arg=tracks)
