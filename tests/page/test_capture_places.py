"""The places of a microphone's blocks, where a browser that is late tells one of its own twice, or leaves some out."""

import itertools
from typing import Any

import pytest

from discussion_helper.web import create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

BLOCK = 480
"""Samples of a frame at 24 kHz."""
PROCESSED = """async quanta => {
  const told = [];
  Object.assign(window, { sampleRate: 24000, AudioWorkletProcessor: class {
    port = { postMessage: message => told.push(message) };
  }, registerProcessor: (_, made) => { window.Capture = made; } });
  await import('/page/capture-worklet.js');
  const capture = new window.Capture();
  for (const quantum of quanta) {
    window.currentFrame = 128 * quantum;
    capture.process([[new Float32Array(128)]]);
  }
  return told.filter(one => 'sample' in one).map(({ sample }) => sample);
}"""


async def test_no_block_begins_before_the_end_of_the_one_before(serving: Any, browsing: Any) -> None:
    quanta = [*range(40), 39, *range(40, 80), *range(90, 130)]
    async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
        places = await (await open_page()).evaluate(PROCESSED, quanta)

    steps = [later - sooner for sooner, later in itertools.pairwise(places)]
    assert BLOCK == min(steps)
    assert BLOCK < max(steps)  # what was left out is a gap
