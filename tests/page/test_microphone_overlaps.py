"""The browser's microphone where clicks overlap: in the end what is open is what is shown and what the server knows."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from playwright.async_api import expect

from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.web import Wish, create_app

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

TOKEN = "a-token-for-the-page"
HERE = Path(__file__).parent
DEVICES = (HERE / "fake_devices.js").read_text(encoding="utf-8")
CLICKS = (HERE / "random_clicks.js").read_text(encoding="utf-8").strip().removesuffix(";")
RATE = 48_000
SLOW_DEVICES = """
window.streams = [];
const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async wanted => {
  const stream = await ask(wanted);
  window.streams.push(stream);
  await new Promise(resolve => setTimeout(resolve, window.takes_ms ?? 0));
  return stream;
};
window.live = () => streams.flatMap(stream => stream.getTracks()).filter(track => track.readyState === 'live').length;
"""


@pytest.fixture
def told(serving: Any, browsing: Any) -> Any:
    """`await told(steps)`: what JavaScript returns that has a `following` of fake devices, and their `world`."""

    async def telling(steps: str, argument: Any = None) -> Any:
        async with serving(create_app(token=TOKEN)) as served, browsing(served) as (open_page, _):
            page = await open_page()
            await page.evaluate(DEVICES)
            return await page.evaluate(f"async given => {{ const {{ world }} = window; {steps} }}", argument)

    return telling


LIVE = """
  const following = await world.begin();
  following.join({ device: '', record: true });
  await world.answerAll();
  const { audio } = following;
  const [socket] = world.here();
  const seen = () => {
    const { state, muted } = audio;
    return { live: world.live(), state, muted, told: socket.muted, leaks: world.leaks };
  };
  const [joined] = [seen()];
"""


async def test_a_microphone_that_opens_after_it_was_muted_again_is_closed_and_not_recorded(told: Any) -> None:
    joined, seen, recorded = await told(
        LIVE
        + """
        await audio.mute(true);
        audio.mute(false);
        await world.settle();
        audio.mute(true);
        await world.answerAll();
        world.recorded = 0;
        world.sound();
        await world.settle();
        return [joined, seen(), world.recorded];"""
    )

    assert {"live": [""], "state": "live", "muted": False, "told": False, "leaks": []} == joined
    assert {"live": [], "state": "live", "muted": True, "told": True, "leaks": []} == seen
    assert 0 == recorded


async def test_what_was_heard_before_the_mute_is_not_recorded_after_it(told: Any) -> None:
    before, after = await told(
        LIVE
        + """
        world.sound();
        await world.settle();
        const before = [world.recorded, world.sent];
        world.sound();  // it is under way
        await audio.mute(true);
        await world.settle();
        return [before, [world.recorded, world.sent]];"""
    )

    assert [1, 1] == before == after


@pytest.mark.parametrize("ends", ["leave()", "follow('session-b')", "goes()"])
async def test_a_microphone_that_opens_after_its_session_was_left_is_closed(told: Any, ends: str) -> None:
    found = await told(
        f"""
        const following = await world.begin();
        following.join({{ device: '' }});
        await world.settle();
        for (const one of world.loading.splice(0)) one.answer();
        await world.settle();
        const waits = world.asked.length;
        following.{ends};
        await world.answerAll();
        return [waits, world.tracks.length, world.live(), world.contexts.map(one => one.state), world.here().length];"""
    )

    assert [1, 1, [], ["closed"], 0] == found


@pytest.mark.parametrize("order", ["older first", "newer first", "newer refused"])
async def test_of_two_choices_of_a_device_the_newer_one_counts(told: Any, order: str) -> None:
    live, why, muted = await told(
        LIVE
        + """
        audio.use('left');
        audio.use('right');
        const [left, right] = world.asked.splice(0);
        const newer = () => given === 'newer refused' ? right.refuse() : right.answer();
        for (const answer of given === 'older first' ? [left.answer, newer] : [newer, left.answer]) {
          answer();
          await world.settle();
        }
        return [world.live(), audio.why, socket.muted];""",
        order,
    )

    if order == "newer refused":
        assert ([], True) == (live, muted)  # and the server takes silence for no fault
        assert "Another program holds the microphone" in why
    else:
        assert (["right"], "", False) == (live, why, muted)


async def test_a_device_that_is_chosen_while_muted_is_the_one_that_opens(told: Any) -> None:
    live = await told(
        LIVE
        + """
        await audio.mute(true);
        await audio.use('right');
        const muted = world.live();
        audio.mute(false);
        await world.answerAll();
        return [muted, world.live()];"""
    )

    assert [[], ["right"]] == live


@pytest.mark.parametrize("how", ["owned", "taken", "ended", "refused"])
async def test_where_nothing_is_sent_the_light_of_the_device_is_out(told: Any, how: str) -> None:
    state, live, again = await told(
        """
        const following = await world.begin();
        following.join({ device: '' });
        for (let round = 0; round < 3; round += 1) await world.answer();
        const { audio } = following;
        const [socket] = world.here();
        if (given === 'refused') {
          socket.readyState = 3;
          socket.onclose({ code: 1006 });
        } else {
          socket.opens();
          if (given !== 'owned') socket.welcome();
          if (given === 'ended') socket.ends(1000, { type: 'ended' });
          else socket[given]();
        }
        await world.settle();
        const { state } = audio, live = world.live();
        following.join({ device: 'right', take: true });
        await world.answerAll();
        return [state, live, [audio.state, world.live(), world.here().map(one => one.hello.take)]];""",
        how,
    )

    assert ("over" if how == "ended" else how, []) == (state, live)
    assert ["live", ["right"], [True]] == again


@pytest.mark.parametrize(
    ("steps", "state", "live", "sockets"),
    [
        pytest.param("audio.close();", "closed", [], 0, id="close"),
        pytest.param("audio.start({ device: 'right' });", "live", ["right"], 1, id="second-start"),
        pytest.param("audio.close(); audio.start({ device: 'right' });", "live", ["right"], 1, id="close-start"),
        pytest.param("audio.start({ device: 'right' }); audio.close();", "closed", [], 0, id="start-close"),
        pytest.param("audio.mute(true);", "live", [], 1, id="mute"),
        pytest.param("audio.use('right');", "live", ["right"], 1, id="use"),
    ],
)
async def test_whatever_overlaps_with_a_start_there_is_one_device_or_none(
    told: Any, steps: str, state: str, live: list[str], sockets: int
) -> None:
    """At any moment of it, whether the device is asked for or its stream is given."""
    found = await told(
        f"""
        const {{ BrowserAudio }} = await import('/page/audio.js');
        const found = [];
        for (const rounds of [0, 1, 2, 3, 5, 8]) for (const given of [false, true]) {{
          world.clear();
          const audio = new BrowserAudio('session-a', () => {{}});
          world.following = {{ audio }};
          audio.start({{ device: 'left', stream: given ? world.stream('left') : null }});
          for (let round = 0; round < rounds; round += 1) await world.answer();
          {steps}
          await world.answerAll();
          const contexts = world.contexts.filter(context => context.state !== 'closed').length;
          found.push([audio.state, world.live(), world.here().length, contexts, [...world.leaks]]);
          audio.close();
        }}
        return found;"""
    )

    assert 12 == len(found)
    assert [state, live, sockets, sockets, []] == found[0]
    assert all(one == found[0] for one in found), found


WAYS_OUT = {
    "sound": """following.join({ stream });
    await world.settle();
    for (const one of world.loading.splice(0)) one.refuse(new Error('no network'));""",
    "other": "following.expect('session-b', { stream }, () => {}); following.follow('session-c');",
    "reload": "following.expect('session-b', { stream }, () => {}); following.goes();",
    "newer": """for (const [id, each] of [['session-b', stream], ['session-c', world.stream()]]) {
      following.expect(id, { stream: each }, () => {});
    }
    following.follow('session-b');""",
    "muted": "following.join({}); following.audio.mute(true); following.join({ stream });",
}


@pytest.mark.parametrize("way", WAYS_OUT)
async def test_a_stream_that_was_given_is_closed_on_every_way_out(told: Any, way: str) -> None:
    live = await told(
        f"""
        const following = await world.begin();
        const stream = world.stream('given');
        {WAYS_OUT[way]}
        await world.answerAll();
        return world.live();"""
    )

    assert [] == live


async def test_a_session_that_is_followed_before_its_opening_was_answered_gets_its_microphone(told: Any) -> None:
    live = await told(
        """
        const following = await world.begin('session-b');
        following.expect('session-b', { device: '', stream: world.stream('given') }, () => {});
        await world.answerAll();
        return [world.live(), following.audio?.state];"""
    )

    assert [["given"], "live"] == live


async def test_a_microphone_that_is_unplugged_is_told_to_the_server_and_another_one_too(told: Any) -> None:
    unplugged, again = await told(
        LIVE
        + """
        world.unplug();
        const unplugged = [audio.why, socket.muted];
        following.join({ device: 'right' });
        await world.answerAll();
        return [unplugged, [audio.why, socket.muted, world.live()]];"""
    )

    assert ["The microphone was unplugged. Choose another one.", True] == unplugged
    assert ["", False, ["right"]] == again


async def test_in_whatever_order_clicks_and_answers_come_the_page_shows_what_is_open(
    serving: Any, browsing: Any
) -> None:
    async with serving(create_app(token=TOKEN)) as served, browsing(served) as (open_page, _):
        page = await open_page()
        await page.evaluate(DEVICES)
        told = await page.evaluate(CLICKS, list(range(1_000)))

    assert "" == "\n".join(told["found"])
    assert min(told["sent"], told["recorded"]) > 100


@pytest.mark.slow
async def test_clicks_on_a_page_with_a_slow_microphone_leave_what_the_server_knows(
    serving: Any, talker: Callable[[Path], Any], tmp_path: Path
) -> None:
    """The real thing: Chromium's own devices, its audio thread and a server."""

    def opened(wish: Wish) -> Any:
        return fake_remote_talk((), policy=wish.policy, thread=wish.thread)

    soundfile.write(tmp_path / "quiet.wav", np.random.default_rng(1).normal(0.0, 1e-4, 60 * RATE), RATE)
    app = create_app(token=TOKEN, open_remote=opened)
    async with serving(app) as served, talker(tmp_path / "quiet.wav")(served) as (open_page, _):
        page = await open_page()
        await page.add_init_script(SLOW_DEVICES)
        await page.reload()
        await page.click("#open-browser")
        await expect(page.locator("#floor-text")).to_have_text("Listening")
        await page.check("#record")
        session = app.state.sessions.get(await page.evaluate("location.hash.slice(1)"))
        await page.evaluate("takes_ms = 100")
        for clicks, shown, microphone, live in ((3, "Muted", "muted", 0), (3, "Listening", "open", 1)):
            await page.evaluate("clicks => { while (clicks--) document.getElementById('mute').click() }", clicks)
            await expect(page.locator("#floor-text")).to_have_text(shown)
            await page.wait_for_function("live => window.live() === live", arg=live)
            await _known(session, microphone)
        await page.evaluate("document.getElementById('mute').click()")
        await page.evaluate("document.getElementById('mute').click()")
        await page.evaluate("location.hash = ''")
        await expect(page.locator("#floor-text")).to_have_text(re.compile("Choose"))
        await page.wait_for_function("() => streams.length > 3 && window.live() === 0")
        await app.state.sessions.aclose()


async def _known(session: Any, microphone: str) -> None:
    """The session says so of its microphone."""
    async with session.events("device") as events:
        while session.state["microphone"] != microphone:
            await anext(events)
