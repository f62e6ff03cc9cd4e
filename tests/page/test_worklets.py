"""What runs in the browser's audio thread, in contexts that render as fast as they can."""

import itertools
from typing import Any

import pytest

from discussion_helper.web import create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

RATE = 24_000
RENDER = """async ({ name, seconds, steps, signal }) => {
  const context = new OfflineAudioContext(1, seconds * 24000, 24000);
  await context.audioWorklet.addModule(`/page/${name}-worklet.js`);
  const options = name === 'player' ? { numberOfInputs: 0, outputChannelCount: [1] } : { numberOfOutputs: 0 };
  const node = new AudioWorkletNode(context, name, options);
  const told = [];
  node.port.onmessage = ({ data }) => told.push({ ...data, samples: data.samples && [...data.samples] });
  if (name === 'player') node.connect(context.destination);
  else {
    const buffer = context.createBuffer(1, signal.length, 24000);
    buffer.copyToChannel(Float32Array.from(signal), 0);
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(node);
    source.start();
  }
  for (const { at, messages } of steps) {
    const post = async () => {
      for (const message of messages) {
        node.port.postMessage(message.samples ? { ...message, samples: Int16Array.from(message.samples) } : message);
      }
      await new Promise(resolve => setTimeout(resolve, 50));
    };
    if (at === 0) await post();
    else context.suspend(at).then(post).then(() => context.resume());
  }
  const rendered = await context.startRendering();
  await new Promise(resolve => setTimeout(resolve, 50));
  return { out: [...rendered.getChannelData(0)], told };
}"""


@pytest.fixture
def render(serving: Any, browsing: Any) -> Any:
    """`await render(name, seconds=..., steps=[...], signal=[...])` gives the output, and what was told."""

    async def rendering(
        name: str, *, seconds: float, steps: list[dict[str, Any]] | None = None, signal: list[float] | None = None
    ) -> tuple[list[float], list[dict[str, Any]]]:
        async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
            page = await open_page()
            asked = {"name": name, "seconds": seconds, "steps": steps or [], "signal": signal or []}
            found = await page.evaluate(RENDER, asked)
        return found["out"], found["told"]

    return rendering


def reply(number: int, count: int, *, first: int = 0, chunk: int = 480, last: bool = True) -> list[dict[str, Any]]:
    """Sample n of it has the value 1000 + n, so that each can be told by its value."""
    ends = range(first, first + count, chunk)
    return [
        {
            "type": "audio",
            "reply": number,
            "sample": at,
            "samples": [1000 + n for n in range(at, min(at + chunk, first + count))],
            "last": last and at + chunk >= first + count,
        }
        for at in ends
    ]


def played(out: list[float]) -> list[int]:
    """Which samples were heard at full loudness: in a fade they do not differ by one step."""
    steps = [(later * 32768, (later - sooner) * 32768) for sooner, later in itertools.pairwise(out)]
    return [round(value - 1000) for value, step in steps if abs(step - 1) < 1e-3]


def states(told: list[dict[str, Any]], number: int) -> list[tuple[str, int]]:
    found = [(one["state"], one["sample"]) for one in told if one["reply"] == number]
    return [(state, max(sample for _, sample in group)) for state, group in _grouped(found)]


def _grouped(found: list[tuple[str, int]]) -> list[tuple[str, list[tuple[str, int]]]]:
    return [(state, list(group)) for state, group in itertools.groupby(found, key=lambda one: one[0])]


async def test_a_reply_is_played_whole_and_in_order_and_told_every_20_ms(render: Any) -> None:
    messages = reply(1, 4800)
    out, told = await render("player", seconds=0.5, steps=[{"at": 0, "messages": [*messages, messages[2]]}])

    heard = played(out)
    assert sorted(heard) == heard
    assert 4799 == heard[-1]
    assert 4800 - RATE * 0.012 <= len(heard)  # the first 10 ms fade in
    assert ["playing", "done"] == [state for state, _ in states(told, 1)]
    assert ("done", 4800) == states(told, 1)[-1]
    places = [one["at"] for one in told if one["state"] == "playing"]
    assert all(0.015 <= later - sooner <= 0.03 for sooner, later in itertools.pairwise(places))


@pytest.mark.slow
async def test_a_pause_keeps_the_place_and_a_resume_goes_on_from_there(render: Any) -> None:
    out, told = await render(
        "player",
        seconds=0.8,
        steps=[
            {"at": 0, "messages": reply(1, 7200)},
            {"at": 0.128, "messages": [{"type": "pause", "reply": 1, "ramp_s": 0.03}]},
            {"at": 0.32, "messages": [{"type": "resume", "reply": 1, "ramp_s": 0.03}]},
        ],
    )

    silence = out[int(0.17 * RATE) : int(0.32 * RATE)]
    heard = played(out)
    kept = next(one["sample"] for one in told if one["state"] == "paused")
    again = heard[next(at for at, n in enumerate(heard) if n > kept)]
    assert {0} == set(silence)
    assert sorted(heard) == heard
    assert 7199 == heard[-1]
    assert kept < again <= kept + RATE * 0.032  # nothing between but the ramp
    assert ["playing", "paused", "playing", "done"] == [state for state, _ in states(told, 1)]


async def test_a_stop_is_silent_within_10_ms_and_nothing_of_it_is_played_any_more(render: Any) -> None:
    stopped_s = 0.128
    out, told = await render(
        "player",
        seconds=0.8,
        steps=[
            {"at": 0, "messages": reply(1, 4800, last=False)},
            {"at": stopped_s, "messages": [{"type": "stop", "reply": 1}, *reply(1, 2400, first=4800)]},
            {"at": 0.4, "messages": reply(2, 2400)},
        ],
    )

    fade = out[int(stopped_s * RATE) : int((stopped_s + 0.011) * RATE)]
    steps = [abs(later - sooner) for sooner, later in itertools.pairwise(fade)]
    assert {0} == set(out[int((stopped_s + 0.011) * RATE) : int(0.4 * RATE)])
    assert 0.001 > max(steps)  # no click
    assert "stopped" == states(told, 1)[-1][0]
    assert ("done", 2400) == states(told, 2)[-1]


@pytest.mark.slow
async def test_what_comes_late_is_waited_for_without_a_click(render: Any) -> None:
    out, told = await render(
        "player",
        seconds=0.8,
        steps=[
            {"at": 0, "messages": reply(1, 2400, last=False)},
            {"at": 0.32, "messages": reply(1, 2400, first=2400)},
        ],
    )

    whole = out[: max(at for at, value in enumerate(out) if value) + 1]  # the sound itself ends at once
    assert 0.001 > max(abs(later - sooner) for sooner, later in itertools.pairwise(whole))
    assert ("done", 4800) == states(told, 1)[-1]
    assert sorted(played(out)) == played(out)


@pytest.mark.slow
async def test_what_an_echo_canceller_leaves_of_the_agent_is_no_onset(render: Any) -> None:
    quiet = [0.0005 * (-1) ** n for n in range(RATE)]
    left = [0.005 if n // 40 % 2 else -0.005 for n in range(RATE // 2)]  # -46 dBFS
    alone, beside = [
        await render("capture", seconds=2, signal=[*quiet, *left], steps=[{"at": 0, "messages": [{"agent": agent}]}])
        for agent in (False, True)
    ]

    assert [1, 0] == [sum("onset" in one for one in told) for _, told in (alone, beside)]


async def test_the_microphone_comes_in_frames_of_20_ms_and_an_onset_once(render: Any) -> None:
    quiet = [0.0005 * (-1) ** n for n in range(RATE)]
    voice = [0.2 if n // 40 % 2 else -0.2 for n in range(RATE // 2)]
    _, told = await render("capture", seconds=2, signal=[*quiet, *voice])

    frames = [one for one in told if one.get("samples")]
    onsets = [one["onset"] for one in told if "onset" in one]
    assert {480} == {len(one["samples"]) for one in frames}
    assert [480 * n for n in range(len(frames))] == [one["sample"] for one in frames]
    assert all(one["at"] == pytest.approx(one["sample"] / RATE, abs=0.01) for one in frames)
    assert {6553, -6553} == set(frames[55]["samples"])
    assert 1 == len(onsets)
    assert 1.0 <= onsets[0] / RATE <= 1.06


async def test_what_is_told_carries_the_number_of_the_connection_it_belongs_to(render: Any) -> None:
    _, heard = await render(
        "capture", seconds=1, signal=[0.0] * RATE, steps=[{"at": 0.512, "messages": [{"connection": 1}]}]
    )
    _, told = await render(
        "player",
        seconds=0.5,
        steps=[
            {"at": 0, "messages": reply(1, 4800, last=False)},
            {"at": 0.128, "messages": [{"type": "reset", "connection": 2}, *reply(1, 2400)]},
        ],
    )

    frames = [[one["sample"] for one in heard if one["connection"] == number] for number in (0, 1)]
    assert [[480 * n for n in range(len(samples))] for samples in frames] == frames  # each counts from its hello
    assert all(len(samples) > 20 for samples in frames)
    assert [0, 2] == sorted({one["connection"] for one in told})
    assert ["playing", "done"] == [state for state, _ in states([one for one in told if one["connection"] == 2], 1)]


AN_OLD_CONNECTION = """async () => {
  const { Microphone } = await import('/page/microphone.js');
  const { Player } = await import('/page/player.js');
  const nodes = [], told = [];
  window.AudioWorkletNode = class {
    constructor() { this.port = { postMessage: message => this.last = message }; nodes.push(this); }
    connect() {}
  };
  const track = { stop() {} };
  const stream = { getAudioTracks: () => [track], getTracks: () => [track] };
  Object.defineProperty(navigator, 'mediaDevices', { value: { getUserMedia: async () => stream } });
  const context = { createMediaStreamSource: () => ({ connect() {}, disconnect() {} }), baseLatency: 0 };
  const microphone = new Microphone(context, {
    heard: frame => told.push(`frame ${frame.sample}`), onset: sample => told.push(`onset ${sample}`), lost() {},
  });
  const player = new Player(context, { told: played => told.push(`played ${played.sample}`), recorded() {} });
  await microphone.start();
  const [loudspeaker, capture] = nodes;
  const before = [capture.last.connection, loudspeaker.last?.connection ?? 0];
  microphone.restart();
  player.reset();
  const after = [capture.last.connection, loudspeaker.last.connection];
  for (const [capturing, playing] of [before, after]) {
    capture.port.onmessage({ data: { connection: capturing, sample: capturing, samples: [] } });
    capture.port.onmessage({ data: { connection: capturing, onset: capturing } });
    loudspeaker.port.onmessage({ data: { connection: playing, sample: playing, at: 0, state: 'playing' } });
  }
  return told;
}"""


async def test_what_was_under_way_when_a_hello_was_answered_is_of_no_connection(serving: Any, browsing: Any) -> None:
    async with serving(create_app(token="a-token-for-the-page")) as served, browsing(served) as (open_page, _):
        told = await (await open_page()).evaluate(AN_OLD_CONNECTION)

    assert ["frame 1", "onset 1", "played 1"] == told
