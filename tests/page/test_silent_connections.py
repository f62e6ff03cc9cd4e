"""A connection that dies without a word, in a page whose time a test lets pass."""

from itertools import pairwise
from typing import Any

import pytest

from discussion_helper.web import Limits, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TIME = """
  let now = 0, timers = [];
  const real = [window.setTimeout, window.clearTimeout, Date.now];
  window.setTimeout = (call, ms = 0) => timers.push({ call, at: now + ms, id: timers.length + 1 });
  window.clearTimeout = id => { const timer = timers.find(one => one.id === id); if (timer) timer.call = () => {}; };
  Date.now = () => now;
  const settle = () => new Promise(resolve => real[0].call(window, resolve, 5));
  const pass = async seconds => {
    const until = now + 1000 * seconds;
    for (;;) {
      await settle();
      const next = timers.filter(one => one.at <= until && !one.done).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      now = Math.max(now, next.at);
      next.done = true;
      next.call();
    }
    now = until;
  };
  const back = () => { [window.setTimeout, window.clearTimeout, Date.now] = real; };
"""
SOCKET = (
    "async () => {"
    + TIME
    + """
  const { Socket } = await import('/page/socket.js');
  const made = [], states = [], told = [];
  const real_socket = window.WebSocket;
  window.WebSocket = class {
    static OPEN = 1;
    constructor() { this.readyState = 0; this.bufferedAmount = 0; this.closes = 0; made.push(this); }
    send(data) { told.push(JSON.parse(data).type); }
    close() { this.closes += 1; }
    open() { this.readyState = 1; this.onopen(); }
    hears(message) { this.onmessage({ data: JSON.stringify(message) }); }
  };
  const socket = new Socket('a-session', {}, { state: state => states.push(state), audio() {}, message() {} });
  socket.open();
  made[0].open();
  made[0].hears({ type: 'welcome' });
  await pass(7);  // the first ping comes late
  made[0].hears({ type: 'ping', n: 1 });
  await pass(4);
  made[0].hears({ type: 'ping', n: 2 });
  const before = [...states];
  await pass(4.9);
  const quiet = [...states];
  await pass(0.2);
  const lost = [...states];
  await pass(0.5);
  const again = made.length;
  made[1].open();
  made[1].hears({ type: 'welcome' });
  const back_again = states.at(-1);
  await pass(11);  // no ping at all
  const deaf = states.at(-1);
  await pass(40);  // nothing opens any more
  back();
  window.WebSocket = real_socket;
  return { before, quiet, lost, again, back_again, deaf, end: states.at(-1), closes: made[0].closes, told };
}"""
)
NEVER_OPENED = (
    "async () => {"
    + TIME
    + """
  const { Socket } = await import('/page/socket.js');
  const states = [];
  const real_socket = window.WebSocket;
  window.WebSocket = class { static OPEN = 1; readyState = 0; close() {} };
  new Socket('a-session', {}, { state: (...told) => states.push(told), audio() {}, message() {} }).open();
  await pass(10.1);
  back();
  window.WebSocket = real_socket;
  return states.map(([state]) => state);
}"""
)
STREAM = (
    "async ([way, ends]) => {"
    + TIME
    + """
  const { Stream } = await import('/page/stream.js');
  const STATE = '{"kind":"snapshot","state":{}}';
  const states = [], bytes = new TextEncoder(), real_fetch = window.fetch, real_socket = window.WebSocket;
  let body, socket, made = 0;
  window.fetch = async (path, { method, signal }) => {
    if (made) throw new TypeError('no network');
    if (method === 'HEAD') return new Response(null);
    made += 1;
    const stream = new ReadableStream({ start(controller) { body = controller; } });
    queueMicrotask(() => body.enqueue(bytes.encode(`data: ${STATE}\n\n`)));
    signal.addEventListener('abort', () => { try { body.error(new Error('aborted')); } catch { /* it is closed */ } });
    return new Response(stream);
  };
  window.WebSocket = class {
    static OPEN = 1;
    readyState = 0;
    constructor() {
      socket = this;
      made += way === 'socket';
      if (way === 'refused') queueMicrotask(() => this.onclose({ code: 1006 }));
      if (way === 'socket') queueMicrotask(() => {
        this.readyState = 1;
        this.onopen();
        this.onmessage({ data: `{"event":"snapshot","data":${STATE}}` });
      });
    }
    close() { this.readyState = 2; }
  };
  const alive = () => way === 'socket' ? socket.onmessage({ data: '{}' }) : body.enqueue(bytes.encode(':\\n\\n'));
  const close = () => way === 'socket' ? socket.onclose({ code: 1001 }) : body.close();
  const stream = new Stream('a-session', () => {}, (state, what = '') => states.push([state, what]));
  stream.start();
  await pass(4.9);
  const early = states.length;
  await pass(0.2);
  for (let at = 0; at < 4; at += 1) { alive(); await pass(5); }
  const before = states.map(([state]) => state);
  if (ends) close();
  else await pass(8);
  await pass(2);
  stream.stop();
  back();
  [window.fetch, window.WebSocket] = [real_fetch, real_socket];
  return { early, before, after: states.at(-1) };
}"""
)

SLOW = (
    "async way => {"
    + TIME
    + """
  const { Stream } = await import('/page/stream.js');
  const states = [], told = [], was = [window.fetch, window.WebSocket];
  const state = '{"kind":"snapshot","state":"' + 'x'.repeat(1000) + '"}';
  const event = way === 'socket' ? `{"event":"snapshot","data":${state}}` : `data: ${state}\\n\\n`;
  let socket, body;
  window.fetch = async (path, { method }) =>
    new Response(method === 'HEAD' ? null : new ReadableStream({ start(controller) { body = controller; } }));
  window.WebSocket = class {
    static OPEN = 1;
    readyState = 0;
    constructor() {
      socket = this;
      if (way === 'socket') queueMicrotask(() => { this.readyState = 1; this.onopen(); });
      else queueMicrotask(() => this.onclose({ code: 1006 }));
    }
    close() { this.readyState = 2; }
  };
  const comes = (piece, sign) =>
    way === 'socket' ? socket.onmessage({ data: sign + piece }) : body.enqueue(new TextEncoder().encode(piece));
  const stream = new Stream('a-session', event => told.push(event.state.length), state => states.push(state));
  stream.start();
  await pass(1);
  for (let at = 0; at < 500; at += 100) {
    comes(event.slice(at, at + 100), '+');
    await pass(8);
  }
  const before = [...states];
  comes(event.slice(500), '.');
  await pass(1);
  stream.stop();
  back();
  [window.fetch, window.WebSocket] = was;
  return { before, after: states, told };
}"""
)
TRIED_AGAIN = (
    "async opens => {"
    + TIME
    + """
  const { Stream } = await import('/page/stream.js');
  const states = [], ways = [], told = [], was = [window.fetch, window.WebSocket];
  let works = false, body;
  window.fetch = async (path, { method, signal }) => {
    if (method === 'HEAD') return new Response(null);
    ways.push('fetch');
    const stream = new ReadableStream({ start(controller) {
      body = controller;
      controller.enqueue(new TextEncoder().encode('id: e-1\\ndata: {"kind":"snapshot","state":{}}\\n\\n'));
      signal.addEventListener('abort', () => controller.error(new Error('aborted')));
    } });
    return new Response(stream);
  };
  window.WebSocket = class {
    static OPEN = 1;
    readyState = 0;
    constructor(address) {
      ways.push(new URL(address).searchParams.get('after') ?? 'new');
      if (works) queueMicrotask(() => { this.readyState = 1; this.onopen(); this.onmessage({ data: '{}' }); });
      else if (opens === 'refused') queueMicrotask(() => this.onclose({ code: 1006 }));
    }
    close() { this.readyState = 2; }
  };
  const stream = new Stream('a-session', event => told.push(event.kind), state => states.push(state));
  stream.start();
  await pass(6);
  const first = [...ways];
  works = true;
  while (ways.length < 4 && now < 80000) {
    body.enqueue(new TextEncoder().encode(':\\n\\n'));
    await pass(5);
  }
  await pass(1);
  stream.stop();
  back();
  [window.fetch, window.WebSocket] = was;
  return { first, ways, states, told };
}"""
)
REFUSED = (
    "async () => {"
    + TIME
    + """
  const { Stream } = await import('/page/stream.js');
  const states = [], asked = [], was = [window.fetch, window.WebSocket];
  window.fetch = async () => new Response(null);
  window.WebSocket = class {
    static OPEN = 1;
    readyState = 0;
    constructor() {
      asked.push(now / 1000);
      queueMicrotask(() => {
        this.readyState = 1;
        this.onopen();
        this.onclose({ code: 4503, reason: '2 watchers follow this session, and no more may.' });
      });
    }
    close() { this.readyState = 2; }
  };
  const stream = new Stream('a-session', () => {}, (...told) => states.push(told));
  stream.start();
  await pass(60);
  stream.stop();
  back();
  [window.fetch, window.WebSocket] = was;
  return { states, asked };
}"""
)
REFUSED_SOUND = (
    "async ([status, content]) => {"
    + TIME
    + """
  const { Socket } = await import('/page/socket.js');
  const was = [window.fetch, window.WebSocket];
  const told = [];
  window.fetch = async () => {
    told.push('asked');
    if (!status) throw new TypeError('no network');
    return new Response(JSON.stringify(content), { status });
  };
  window.WebSocket = class {
    static OPEN = 1;
    constructor() { queueMicrotask(() => this.onclose({ code: 1006 })); }
    close() {}
  };
  await new Promise(resolve => {
    const state = (name, why) => {
      told.push(name + why);
      if (why) resolve();
    };
    new Socket('a-session', {}, { state, audio() {}, message() {} }).open();
  });
  back();
  [window.fetch, window.WebSocket] = was;
  return told;
}"""
)
ASKED_TO_WAIT = (
    "async () => {"
    + TIME
    + """
  const { Stream } = await import('/page/stream.js');
  const states = [], asked = [], was = window.fetch;
  window.fetch = async () => {
    asked.push(now / 1000);
    return new Response(null, { status: 429, headers: { 'Retry-After': '20' } });
  };
  const stream = new Stream('a-session', () => {}, (...told) => states.push(told));
  stream.start();
  await pass(50);
  stream.stop();
  back();
  window.fetch = was;
  return { states, asked };
}"""
)


@pytest.fixture
def told(serving: Any, browsing: Any) -> Any:
    """`await told(script, *arguments)` in a page of its own: what each gives, one after another."""

    async def telling(script: str, *arguments: Any) -> Any:
        async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
            page = await open_page()
            return [await page.evaluate(script, argument) for argument in arguments or (None,)]

    return telling


async def test_a_socket_without_pings_is_lost_after_5_s_and_made_anew(told: Any) -> None:
    [found] = await told(SOCKET)

    assert ["connecting", "live"] == found["before"] == found["quiet"]
    assert "lost" == found["lost"][2]
    assert 2 == found["again"]
    assert ["live", "lost", "off"] == [found[name] for name in ("back_again", "deaf", "end")]
    assert 1 == found["closes"]
    assert ["hello", "pong", "pong", "hello"] == found["told"]


@pytest.mark.slow
async def test_a_server_that_takes_a_socket_and_says_nothing_is_no_refusal(told: Any) -> None:
    assert ["connecting", "lost"] == (await told(NEVER_OPENED))[0]


@pytest.mark.parametrize("way", ["socket", "refused", "hung"])
async def test_a_stream_without_a_sign_of_life_is_lost_and_a_server_that_left_is_told_as_stopped(
    told: Any, way: str
) -> None:
    silent, left = await told(STREAM, [way, False], [way, True])

    assert ["connecting", "live"] == silent["before"] == left["before"]
    assert (1 if way == "hung" else 2) == silent["early"]  # a proxy that holds the socket is waited for 5 s
    assert ["lost", ""] == silent["after"]
    assert ["lost", "The server stopped"] == left["after"]
    assert 5.0 == Limits().heartbeat_s  # the page waits for two of them, and a bit


@pytest.mark.parametrize("way", ["socket", "fetch"])
async def test_a_state_that_comes_slowly_is_waited_for_and_nothing_is_live_before_it(told: Any, way: str) -> None:
    [found] = await told(SLOW, way)

    assert ["connecting"] == found["before"]
    assert (["connecting", "live"], [1000]) == (found["after"], found["told"])


@pytest.mark.parametrize("opens", ["refused", "late"])
async def test_a_minute_after_no_socket_got_through_another_one_is_tried_and_taken(told: Any, opens: str) -> None:
    [found] = await told(TRIED_AGAIN, opens)

    assert ["new", "fetch"] == found["first"]
    assert ["new", "fetch", "e-1", "e-1"] == found["ways"]  # one to see whether it opens, and one to follow by
    assert ["connecting", "live", "live"] == found["states"]
    assert ["snapshot"] == found["told"]


async def test_what_a_limit_refuses_is_told_with_its_reason_and_tried_ever_more_rarely(told: Any) -> None:
    [found] = await told(REFUSED)
    waits = [after - before for before, after in pairwise(found["asked"])]

    assert {"connecting", "lost"} == {state for state, _, _ in found["states"]}
    assert {"2 watchers follow this session, and no more may"} == {what for _, what, _ in found["states"][1:]}
    assert [0.25, 0.5, 1, 2, 4, 8, 16, 16] == [pytest.approx(wait, abs=0.01) for wait in waits]


async def test_who_is_asked_to_wait_waits(told: Any) -> None:
    [found] = await told(ASKED_TO_WAIT)

    assert [0, 20, 40] == [pytest.approx(at, abs=0.01) for at in found["asked"]]
    assert "The server answered 429" == found["states"][-1][1]


async def test_why_a_microphone_was_refused_is_what_can_be_known(told: Any) -> None:
    gone = {"error": "There is no session of that id.", "fix": "Look."}
    answers = [404, gone], [200, {"running": False}], [200, {"running": True}], [0, None]

    reasons = [
        "There is no session of that id. Look.",
        "The session is over.",
        "The server did not take the microphone: something that it needs is missing, see /health, "
        "or too many wait for it.",
        "The server does not answer. Look whether it runs.",
    ]
    found = await told(REFUSED_SOUND, *answers)

    assert found == [["connecting", "refused", "asked", f"refused{why}"] for why in reasons]
    # refused before the reason is known: the device is closed at once
