"""How the page follows a session, with answers that a test writes: cursors, gaps, and what does not come whole."""

import json
from typing import Any

import pytest

from discussion_helper.web import create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

STAGE = """
  const { Stream } = await import('/page/stream.js');
  const asked = [], ways = [], told = [], states = [];
  const real = [window.fetch, window.WebSocket];
  const tick = () => new Promise(resolve => setTimeout(resolve));
  const next = () => answers[asked.length] ?? { status: 404, chunks: [] };
  const take = (way, cursor) => {
    const answer = next();
    ways.push(way);
    asked.push(cursor ?? '');
    return answer;
  };
  window.fetch = async (path, { method, headers }) => {
    if (method === 'HEAD' && next().status === 200) return new Response(null);
    const { status, chunks } = take('fetch', headers['Last-Event-ID']);
    if (status === 0) throw new TypeError('no network');
    const body = new ReadableStream({
      async start(controller) {
        for (const chunk of chunks) {
          controller.enqueue(Uint8Array.from(chunk));
          await tick();
        }
        controller.close();
      },
    });
    return new Response(status === 204 ? null : body, { status });
  };
  window.WebSocket = class {
    static OPEN = 1;
    readyState = 0;
    constructor(address) {
      if (opens) this.play(take('socket', new URL(address).searchParams.get('after')));
      else tick().then(() => this.onclose({ code: 1006 }));
    }
    async play({ messages, code }) {
      await tick();
      this.readyState = 1;
      this.onopen();
      for (const data of messages) {
        await tick();
        this.onmessage({ data });
      }
      await tick();
      this.readyState = 3;
      this.onclose({ code });
    }
    close() { this.readyState = 3; }
  };
  let over;
  const done = new Promise(resolve => { over = resolve; });
  const stream = new Stream('a-session', event => told.push(event.kind), state => {
    states.push(state);
    if (state === 'gone' || state === 'over') over();
  });
  stream.start();
"""
END = """
  await done;
  [window.fetch, window.WebSocket] = real;
  return { asked, ways, told, states };
}"""
FOLLOW = "async ([answers, opens]) => {" + STAGE + END
AGAIN = (
    "async ([answers, opens]) => {"
    + STAGE
    + """
  while (!told.length) await tick();
  stream.stop();
  opens = true;
  stream.start();
  stream.stop();
  stream.start();
"""
    + END
)
ALIVE = (b":\n\n", "{}")
WAYS = pytest.mark.parametrize("way", ["socket", "fetch"])


def event(kind: str, place: str = "", **fields: Any) -> tuple[bytes, str]:
    """As it is in a stream, and as a message."""
    data = {"kind": kind, **fields}
    number = f"id: {place}\n" if place else ""
    framed = f"{number}event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
    return framed, json.dumps({**({"id": place} if place else {}), "event": kind, "data": data})


def answer(*events: tuple[bytes, str], status: int = 200, size: int = 10_000, code: int = 1006) -> dict[str, Any]:
    """`code`: what a socket is closed with."""
    whole = b"retry: 1000\n\n" + b"".join(framed for framed, _ in events)
    chunks = [list(whole[at : at + size]) for at in range(0, len(whole), size)]
    return {"status": status, "chunks": chunks, "messages": [message for _, message in events], "code": code}


@pytest.fixture
def follow(serving: Any, browsing: Any) -> Any:
    """`await follow(way, answers)`: the cursors that were asked with, the events, and the states of the connection."""

    async def following(way: str, *answers: dict[str, Any], script: str = FOLLOW) -> Any:
        async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
            return await (await open_page()).evaluate(script, [list(answers), way == "socket"])

    return following


@WAYS
async def test_it_comes_back_with_its_cursor_and_after_a_gap_without(follow: Any, way: str) -> None:
    found = await follow(
        way,
        answer(event("snapshot", "e-1"), event("floor", "e-2"), ALIVE),
        answer(status=0),
        answer(event("utterance", "e-3"), event("gap", missed=7), event("floor", "e-9")),
        answer(event("snapshot", "e-9"), event("ended", "e-10")),
    )

    assert ["", "e-2", "e-2", ""] == found["asked"]
    assert [way, "fetch", way, way] == found["ways"]
    assert ["snapshot", "floor", "utterance", "snapshot", "ended"] == found[
        "told"
    ]  # nothing of what was behind the gap
    assert ["connecting", "live", "lost", "lost", "live", "live", "over"] == found["states"]


async def test_events_in_pieces_of_any_size_are_whole_and_nothing_comes_twice(follow: Any) -> None:
    events = [event("partial", f"e-{n}", text="Straße 水 😀\n") for n in range(3)]
    found = await follow("fetch", answer(*events, size=1), answer(status=204))

    assert ["partial"] * 3 == found["told"]
    assert ["", "e-2"] == found["asked"]
    assert "over" == found["states"][-1]


@pytest.mark.slow
@WAYS
async def test_a_server_that_is_busy_is_asked_again_and_one_that_knows_nothing_is_not(follow: Any, way: str) -> None:
    found = await follow(way, answer(status=503), answer(status=429), answer(status=404))

    assert ["", "", ""] == found["asked"]
    assert ["connecting", "lost", "lost", "gone"] == found["states"]


@pytest.mark.parametrize(
    ("code", "states"),
    [(1000, ["over"]), (4404, ["gone"]), (4002, ["lost", "live", "over"]), (4503, ["lost", "live", "over"])],
)
async def test_what_a_socket_is_closed_with_says_whether_to_come_back(
    follow: Any, code: int, states: list[str]
) -> None:
    found = await follow("socket", answer(event("snapshot", "e-1"), code=code), answer(event("ended", "e-2")))

    assert ["connecting", "live", *states] == found["states"]
    assert ["", "e-1"][: len(found["asked"])] == found["asked"]


async def test_where_no_socket_gets_through_it_is_tried_again_when_the_page_begins_anew_and_one_alone_goes_on(
    follow: Any,
) -> None:
    begun, more = answer(event("snapshot", "e-1")), answer(event("floor", "e-2"), event("ended", "e-3"))
    found = await follow("fetch", begun, more, script=AGAIN)

    assert (["fetch", "socket"], ["", "e-1"]) == (found["ways"], found["asked"])
    assert ["snapshot", "floor", "ended"] == found["told"]
