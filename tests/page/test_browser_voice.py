"""Talks in a browser whose microphone is a file with human voices, over the socket, in real time."""

import json
import struct
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import soxr
from playwright.async_api import Page, WebSocket, expect
from starlette.applications import Starlette

from discussion_helper.audio.frames import Samples
from discussion_helper.commands.serve_parts import ServeParts
from discussion_helper.settings import Settings
from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.web import Wish, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser, pytest.mark.devices]

TOKEN = "a-token-for-the-page"
CLIPS = Path(__file__).parents[2] / "audio" / "speech"
RATE = 48_000
LONG = "one two three four five six seven eight nine ten eleven twelve"
VOICED = 10 ** (-40 / 20) * 32768
"""Peak of a block with a voice in it."""
SLOW_MS = 20_000
KEEPS_SOCKETS = """
window.sockets = [];
window.WebSocket = class extends WebSocket {
  constructor(...given) { super(...given); window.sockets.push(this); }
};"""


def clip(name: str) -> Samples:
    samples, rate = soundfile.read(CLIPS / name, dtype="float32", always_2d=True)
    return np.asarray(soxr.resample(samples[:, 0], rate, RATE), np.float32)


def quiet(seconds: float) -> Samples:
    return np.random.default_rng(1).normal(0.0, 1e-4, int(seconds * RATE)).astype(np.float32)


def microphone(file: Path, *parts: Samples) -> Path:
    soundfile.write(file, np.concatenate(parts), RATE, subtype="PCM_16")
    return file


class Line:
    """What goes over a page's sockets for audio, with the browser's own times."""

    def __init__(self, page: Page) -> None:
        self.voiced_s: list[float] = []
        """When the microphone had a voice."""
        self.played: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        page.on("websocket", self._follow)

    def _follow(self, socket: WebSocket) -> None:
        if not socket.url.endswith("/audio"):
            return  # of the session's events
        socket.on("framesent", self._take)
        socket.on("framereceived", self._hear)

    def _hear(self, data: str | bytes) -> None:
        if isinstance(data, str):
            self.told.append(json.loads(data))

    def _take(self, data: str | bytes) -> None:
        if isinstance(data, str):
            message = json.loads(data)
            (self.played if message["type"] == "played" else self.sent).append(message)
        elif np.abs(np.frombuffer(data, "<i2", offset=24).astype(int)).max() > VOICED:
            self.voiced_s.append(struct.unpack_from("<d", data, 16)[0])

    def first(self, **fields: Any) -> dict[str, Any]:
        return next(message for message in self.played if fields.items() <= message.items())


def app_of(*heard: str) -> Starlette:
    def opened(wish: Wish) -> Any:
        return fake_remote_talk(heard, policy=wish.policy, thread=wish.thread)

    return create_app(token=TOKEN, open_remote=opened)


@asynccontextmanager
async def talking(serving: Any, browsing: Any, *heard: str, app: Starlette | None = None) -> Any:
    """A page that was clicked on to talk in it, its line, and how to open another one."""
    async with serving(app or app_of(*heard)) as served, browsing(served) as (open_page, watch):
        watch.expected = ("WebSocket connection",)
        page = await open_page()
        await page.add_init_script(KEEPS_SOCKETS)
        await page.reload()
        line = Line(page)
        await page.click("#open-browser")
        await expect(page.locator("#audio-state")).to_contain_text("Connected", timeout=SLOW_MS)
        yield page, line, open_page


async def test_a_spoken_turn_is_answered_and_an_interruption_cuts_the_answer(
    serving: Any, talker: Callable[[Path], Any], tmp_path: Path
) -> None:
    first, second = clip("asterisk_en_vm-newpassword.wav"), clip("cmu_arctic_a0009.wav")
    file = microphone(tmp_path / "voice.wav", quiet(1.5), first, quiet(2.5), second, quiet(20.0))
    async with talking(serving, talker(file), LONG, "stop that now please") as (page, line, _):
        await page.check("#record")
        await expect(page.locator(".turn.agent .cut")).to_have_text("interrupted", timeout=SLOW_MS)
        await expect(page.locator(".turn.user:not(.live) .words").nth(1)).to_have_text(
            "stop that now please", timeout=SLOW_MS
        )
        heard = await page.locator(".turn.agent:not(.live) .words").first.text_content()
        async with page.expect_download() as saving:
            await page.click("#save-wav")
        recorded, rate = soundfile.read(await (await saving.value).path())

    begins = [later for sooner, later in zip(line.voiced_s, line.voiced_s[1:], strict=False) if later - sooner > 1.0]
    cut = line.first(state="stopped")
    answered_s = line.first(state="playing")["at"] - max(at for at in line.voiced_s if at < begins[0])
    cut_s = cut["at"] - begins[0]
    turned_down_s = line.first(state="paused")["at"] - begins[0]
    print(f"voice to voice {answered_s:.3f} s, turned down {turned_down_s:.3f} s, cut {cut_s:.3f} s")
    share = cut["sample"] / line.told[0]["rate"] / (len(LONG.split()) / 2.5)
    assert 0 < answered_s < 3.0
    assert 0 < turned_down_s < 1.0
    assert turned_down_s < cut_s < 3.0
    assert heard is not None
    assert heard.startswith("one two")
    assert 0.2 < share < 1.0
    assert {"onset"} <= {message["type"] for message in line.sent}
    assert not [message for message in line.told if message["type"] == "error"]
    assert (2, 2) == (recorded.ndim, recorded.shape[1])
    assert all(np.abs(recorded[:, channel]).max() > 0.01 for channel in (0, 1))
    assert rate >= 16_000


@pytest.mark.slow
@pytest.mark.models
async def test_a_human_voice_is_understood_and_answered_by_the_real_models(
    serving: Any, talker: Callable[[Path], Any], tmp_path: Path
) -> None:
    file = microphone(tmp_path / "voice.wav", quiet(6.0), clip("asterisk_en_vm-newpassword.wav"), quiet(40.0))
    app = create_app(token=TOKEN, open_remote=ServeParts(Settings()).open_remote)
    async with talking(serving, talker(file), app=app) as (page, line, _):
        await expect(page.locator(".turn.user:not(.live) .words")).to_contain_text("new password", timeout=SLOW_MS)
        await expect(page.locator(".turn.agent:not(.live)")).to_have_count(1, timeout=2 * SLOW_MS)
        await expect(page.locator("#latency-key li")).to_have_count(4)

    answered_s = line.first(state="playing")["at"] - max(line.voiced_s)
    print(f"voice to voice with the real models {answered_s:.3f} s")
    assert 0 < answered_s < 15
    assert "done" == line.played[-1]["state"]


@pytest.mark.slow
async def test_a_reply_goes_on_after_the_connection_broke(
    serving: Any, talker: Callable[[Path], Any], tmp_path: Path
) -> None:
    file = microphone(tmp_path / "voice.wav", quiet(1.5), clip("asterisk_en_vm-newpassword.wav"), quiet(30.0))
    async with talking(serving, talker(file), LONG) as (page, line, _):
        await expect(page.locator("#floor-text")).to_have_text("Speaking", timeout=SLOW_MS)
        await page.wait_for_timeout(1500)
        await page.evaluate("sockets.at(-1).close(4999)")
        await expect(page.locator("#audio-state")).to_contain_text("Connection lost")
        await expect(page.locator("#audio-state")).to_contain_text("Connected")
        await expect(page.locator(".turn.agent:not(.live) .words")).to_have_text(LONG, timeout=SLOW_MS)
        assert 0 == await page.locator(".turn.agent .cut").count()

    places = [message["sample"] for message in line.played if message["state"] == "playing"]
    assert sorted(places) == places  # it went on where it was, and nothing was played twice
    assert 2 == sum(message["type"] == "hello" for message in line.sent)


@pytest.mark.slow
async def test_one_tab_has_the_microphone_and_another_may_take_it(
    serving: Any, talker: Callable[[Path], Any], tmp_path: Path
) -> None:
    file = microphone(tmp_path / "voice.wav", quiet(60.0))
    async with talking(serving, talker(file)) as (page, _, open_page):
        session_id = await page.evaluate("location.hash.slice(1)")
        other = await open_page(session_id)
        await other.click("#join")
        await expect(other.locator("#device option", has_text="Fake")).not_to_have_count(0)
        await other.select_option("#device", index=1)
        await expect(other.locator("#audio-state")).to_contain_text("Another tab or program has the microphone")
        await other.click("#take")
        await expect(other.locator("#audio-state")).to_contain_text("Connected")
        await expect(page.locator("#audio-state")).to_contain_text("took the microphone")
        await other.click("#mute")
        await expect(other.locator("#audio-state")).to_contain_text("Muted")
        await page.click("#take")
        await expect(page.locator("#audio-state")).to_contain_text("Connected")
        await expect(other.locator("#audio-state")).to_contain_text("took the microphone")
