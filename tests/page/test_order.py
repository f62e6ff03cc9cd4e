"""Turns in the order in which they began, and delays of the turns that had a sound."""

from typing import Any

import pytest
from playwright.async_api import expect

from discussion_helper.web import create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

DRAWN = """async ({ utterances, notes }) => {
  const { Transcript } = await import('/page/transcript.js');
  const { blank } = await import('/page/state.js');
  const session = { id: 'a-session', kind: 'voice', running: true, utterances };
  new Transcript().draw({ ...blank(), session, notes }, { state: 'live' }, true);
}"""
CAPTIONS = "async utterances => (await import('/page/captions.js')).vttOf(utterances)"
DELAYS = """async timings => {
  const { Latency } = await import('/page/latency.js');
  new Latency().draw(timings);
}"""
STAGES = {"endpoint_s": 0.3, "recognise_s": 0.2, "think_s": 0.2, "speak_s": 0.1}
UTTERANCES = [
    {"speaker": "user", "text": "one", "said": "", "interrupted": False, "started_s": 12.0, "ended_s": 13.0},
    {"speaker": "agent", "text": "three", "said": "", "interrupted": False, "started_s": 26.0, "ended_s": 27.0},
    {"speaker": "user", "text": "two", "said": "", "interrupted": False, "started_s": 19.0, "ended_s": 25.0},
]


def app_of() -> Any:
    return create_app(token="a-token-for-the-page")


async def test_times_in_the_transcript_and_in_captions_never_run_backwards(serving: Any, browsing: Any) -> None:
    async with serving(app_of()) as served, browsing(served) as (open_page, _):
        page = await open_page()
        await page.evaluate(DRAWN, {"utterances": UTTERANCES, "notes": [{"after": 2, "text": "about three"}]})
        await expect(page.locator("#transcript .when")).to_have_text(["0:12", "0:19", "0:26"])
        await expect(page.locator("#transcript > li").last).to_have_text("about three")
        captions = await page.evaluate(CAPTIONS, UTTERANCES)
        assert captions.index("one") < captions.index("two") < captions.index("three")


async def test_a_reply_without_a_sound_has_no_delay(serving: Any, browsing: Any) -> None:
    cut = STAGES | {"think_s": 3.0, "speak_s": 0.0}
    heard = STAGES | {"to_first_audio_s": 0.8}
    async with serving(app_of()) as served, browsing(served) as (open_page, _):
        page = await open_page()
        await page.evaluate(DELAYS, [cut])
        await expect(page.locator("#latency-now")).to_have_text("No turn was answered yet")
        await page.evaluate(DELAYS, [heard, cut, heard, cut | {"to_first_audio_s": None}])
        await expect(page.locator("#latency-now")).to_have_text("0.80 s, usually 0.80 s")
        await expect(page.locator("#latency-rows tr")).to_have_count(2)
