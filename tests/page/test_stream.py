"""How the page follows a session, with answers that a test writes: cursors, gaps, and what does not come whole."""

import json
from typing import Any

import pytest

from discussion_helper.web import create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

FOLLOW = """async answers => {
  const { Stream } = await import('/page/stream.js');
  const asked = [], told = [], states = [];
  const real = window.fetch;
  let over;
  const done = new Promise(resolve => { over = resolve; });
  window.fetch = async (path, { headers, signal }) => {
    asked.push(headers['Last-Event-ID'] ?? '');
    const { status, chunks } = answers[asked.length - 1] ?? { status: 404, chunks: [] };
    if (status === 0) throw new TypeError('no network');
    const bytes = new TextEncoder();
    const body = new ReadableStream({
      async start(controller) {
        for (const chunk of chunks) {
          controller.enqueue(Uint8Array.from(chunk));
          await new Promise(resolve => setTimeout(resolve));
        }
        controller.close();
      },
    });
    return new Response(status === 204 ? null : body, { status });
  };
  const stream = new Stream('a-session', event => told.push(event.kind), state => {
    states.push(state);
    if (state === 'gone' || state === 'over') over();
  });
  stream.start();
  await done;
  window.fetch = real;
  return { asked, told, states };
}"""


def event(kind: str, place: str = "", **fields: Any) -> bytes:
    number = f"id: {place}\n" if place else ""
    return f"{number}event: {kind}\ndata: {json.dumps({'kind': kind, **fields}, ensure_ascii=False)}\n\n".encode()


def answer(*events: bytes, status: int = 200, size: int = 10_000) -> dict[str, Any]:
    whole = b"retry: 1000\n\n" + b"".join(events)
    return {"status": status, "chunks": [list(whole[at : at + size]) for at in range(0, len(whole), size)]}


@pytest.fixture
def follow(serving: Any, browsing: Any) -> Any:
    """`await follow(answers)`: the cursors that were asked with, the events, and the states of the connection."""

    async def following(*answers: dict[str, Any]) -> Any:
        async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
            return await (await open_page()).evaluate(FOLLOW, list(answers))

    return following


async def test_it_comes_back_with_its_cursor_and_after_a_gap_without(follow: Any) -> None:
    found = await follow(
        answer(event("snapshot", "e-1"), event("floor", "e-2"), b":\n\n"),
        answer(status=0),
        answer(event("utterance", "e-3"), event("gap", missed=7), event("floor", "e-9")),
        answer(event("snapshot", "e-9"), event("ended", "e-10")),
    )

    assert ["", "e-2", "e-2", ""] == found["asked"]
    assert ["snapshot", "floor", "utterance", "snapshot", "ended"] == found[
        "told"
    ]  # nothing of what was behind the gap
    assert ["connecting", "live", "lost", "lost", "live", "live", "over"] == found["states"]


async def test_events_in_pieces_of_any_size_are_whole_and_nothing_comes_twice(follow: Any) -> None:
    events = [event("partial", f"e-{n}", text="Straße 水 😀\n") for n in range(3)]
    found = await follow(answer(*events, size=1), answer(status=204))

    assert ["partial"] * 3 == found["told"]
    assert ["", "e-2"] == found["asked"]
    assert "over" == found["states"][-1]


@pytest.mark.slow
async def test_a_server_that_is_busy_is_asked_again_and_one_that_knows_nothing_is_not(follow: Any) -> None:
    found = await follow(answer(status=503), answer(status=429), answer(status=404))

    assert ["", "", ""] == found["asked"]
    assert ["connecting", "lost", "lost", "gone"] == found["states"]
