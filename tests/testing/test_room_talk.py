"""Whole talks in a room: the real audio core, simulated devices and people, no waiting."""

import dataclasses
import hashlib
from collections.abc import AsyncIterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Call, Captured, DeviceLost, Item, Played
from discussion_helper.audio.playback import Playback
from discussion_helper.session import Session
from discussion_helper.testing import VirtualTimeLoop
from discussion_helper.testing.room import (
    After,
    CutSynthesiser,
    Echo,
    Loudspeaker,
    Microphone,
    NoEchoPath,
    Room,
    Scene,
    ScriptedRecogniser,
    Stalled,
    Tape,
    Unplugged,
    WrongStamps,
    Zeros,
    cheap_detectors,
    run_in_room,
)
from discussion_helper.types import Message, Policy
from discussion_helper.voice.assembly import hearing_of
from discussion_helper.voice.audio_work import AudioWork, Cut, Listening
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.marks import Marks

pytestmark = pytest.mark.anyio

FAST: dict[str, Any] = {"detectors": cheap_detectors, "echo_path": NoEchoPath}
"""For what depends on no detector."""
LONG = "This is a long answer that goes on for quite some time, so that there is something to be interrupted at all."


class Answers:
    """Answers with one text after the other."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.heard: list[str] = []

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        self.heard.append(messages[-1]["content"])
        yield self.texts.pop(0)

    async def aclose(self) -> None: ...


def session_in(room: Room, agent: Samples, *texts: str, **more: Any) -> Session:
    rate = room.scene.loudspeaker.rate
    voice = agent if rate == 48_000 else agent[:: 48_000 // rate]
    given: dict[str, Any] = {
        "recogniser": room.recogniser(),
        "synthesiser": CutSynthesiser(voice=voice, rate=rate),
    } | more
    return room.session(responder=Answers(*texts), **given)


def digest(tape: Tape) -> str:
    return hashlib.sha256(tape.loudspeaker.tobytes() + tape.microphone.tobytes()).hexdigest()


async def test_three_turns_are_heard_answered_and_recorded(goforward: Frame, bobby: Frame, agent: Samples) -> None:
    async with Room() as room:
        session = session_in(room, agent, "Yes, I will.", "One moment please.", "Good bye for today.").start()
        room.say(goforward, at_s=1.0, text="go forward ten meters")
        room.say(bobby, after=After("reply", 1, 3.0), text="the second of them")
        room.say(goforward, after=After("reply", 2, 3.0), text="go forward ten meters")
        await room.reached("reply", 3)
        await room.quiet(1.5)
        said = [utterance["text"] for utterance in session.state["utterances"]]
        tape = room.recording

    assert ["go forward ten meters", "Yes, I will.", "the second of them"] == said[:3]
    assert ["One moment please.", "go forward ten meters", "Good bye for today."] == said[3:]
    assert 0 == tape.dead_samples
    for number in (1, 2, 3):
        assert [] == tape.holes(number)
        assert 0.2 < tape.mark("reply", number).at_s - tape.mark("voice_end", number).at_s < 1.5


async def test_who_talks_over_a_reply_stops_it(goforward: Frame, bobby: Frame, agent: Samples) -> None:
    async with Room(Scene(echo=Echo(gain_db=-20.0, delay_s=0.05))) as room:
        session = session_in(room, agent, LONG, "Fine.").start()
        room.say(bobby, at_s=0.5, text="tell me something long")
        room.say(goforward, after=After("reply", 1, 1.5), text="go forward ten meters", dbfs=-22.0)
        await room.reached("reply", 2)
        await room.quiet()
        tape, state = room.recording, session.state

    voice_s = tape.mark("voice", 2).at_s
    ducked_s, silent_s = tape.ducked_s(voice_s), tape.silent_s(voice_s)
    assert 0.03 < ducked_s < 0.3
    assert silent_s < 0.5
    assert 0 == tape.dead_samples
    assert [False, True, False, False] == [utterance["interrupted"] for utterance in state["utterances"]]
    assert "go forward ten meters" == state["utterances"][2]["text"]


def one_talk(seed: int, goforward: Frame, agent: Samples) -> tuple[str, str, list[dict[str, Any]]]:
    """What was heard and told in a talk with an interruption, two clocks and jitter."""
    scene = Scene(
        echo=Echo(gain_db=-15.0),
        loudspeaker=Loudspeaker(ppm=80.0, jitter_s=0.002),
        microphone=Microphone(ppm=-50.0, jitter_s=0.002),
        troubles=[Stalled("microphone", 2.5, 0.05)],
        seed=seed,
    )

    async def main(room: Room) -> tuple[str, str, list[dict[str, Any]]]:
        session = session_in(room, agent, LONG, "Fine.")
        events = session.events("*")
        session.start()
        room.say(goforward, at_s=0.5, text="go forward ten meters")
        room.say(goforward, after=After("reply", 1, 1.0), text="go forward ten meters")
        await room.reached("reply", 2)
        await room.quiet()
        tape = room.recording
        await session.stop()
        return digest(tape), repr(tape.marks), [event.as_dict() async for event in events]

    return run_in_room(main, scene)


def test_the_same_scene_gives_the_same_samples_and_the_same_events(goforward: Frame, agent: Samples) -> None:
    first, again, other = (one_talk(seed, goforward, agent) for seed in (1, 1, 2))

    assert first == again
    assert first[0] != other[0]


def watched_talk(watchers: int, goforward: Frame, agent: Samples) -> str:
    """What was heard in a talk that so many watch who never look."""

    async def main(room: Room) -> str:
        session = session_in(room, agent, LONG)
        stalled = [session.events("*") for _ in range(watchers)]
        session.start()
        room.say(goforward, at_s=0.5, text="go forward ten meters")
        await room.quiet(12.0)
        await session.stop()
        assert watchers == len(stalled)
        return digest(room.recording)

    return run_in_room(main, Room(Scene(), **FAST))


def test_fifty_watchers_who_never_look_change_no_sample(goforward: Frame, agent: Samples) -> None:
    assert watched_talk(0, goforward, agent) == watched_talk(50, goforward, agent)


def test_two_rooms_side_by_side_are_each_as_if_it_were_alone(goforward: Frame, bobby: Frame, agent: Samples) -> None:
    async def talks(*said: Frame) -> list[str]:
        found: list[str] = []

        async def talk(clip: Frame) -> None:
            async with Room(Scene(), **FAST) as room:
                session_in(room, agent, "One moment please.").start()
                room.say(clip, at_s=0.5, text="whatever")
                await room.until(lambda: room.now_s >= 6.0)
                found.append(digest(room.recording))

        async with anyio.create_task_group() as tasks:
            for clip in said:
                tasks.start_soon(talk, clip)
        return sorted(found)

    def run(*said: Frame) -> list[str]:
        return anyio.run(talks, *said, backend_options={"loop_factory": VirtualTimeLoop})

    alone = run(goforward) + run(bobby)
    assert alone[0] != alone[1]
    assert sorted(alone) == run(goforward, bobby)


async def test_wrong_time_stamps_are_what_the_audio_core_gets(bobby: Frame, agent: Samples) -> None:
    stamps: list[tuple[float, float]] = []
    zero_s = anyio.current_time()

    def tap(item: Item | None, _now: float) -> None:
        if isinstance(item, Played | Captured):
            stamps.append((isinstance(item, Played), round(item.at_s - zero_s - item.frame.start_s, 6)))

    troubles = [WrongStamps("loudspeaker", 0.04, 4.0), WrongStamps("microphone", -0.01, 1.0, 2.0)]
    async with Room(Scene(troubles=troubles), tap=tap, **FAST) as room:
        session_in(room, agent, LONG).start()
        room.say(bobby, at_s=0.2, text="say it")
        await room.quiet(6.0)

    assert {(True, 0.02), (True, 0.06), (False, 0.0), (False, -0.01)} == set(stamps)


@pytest.mark.parametrize("rates", [(48_000, 48_000), (16_000, 44_100), (44_100, 16_000)])
async def test_the_echo_is_where_and_as_loud_as_it_should_be(
    rates: tuple[int, int], bobby: Frame, agent: Samples
) -> None:
    scene = Scene(
        echo=Echo(gain_db=-10.0, delay_s=0.0625),
        wetness=0.0,
        noise_dbfs=None,
        loudspeaker=Loudspeaker(rate=rates[0]),
        microphone=Microphone(rate=rates[1]),
    )
    async with Room(scene, detectors=cheap_detectors) as room:
        session_in(room, agent, "This is what I say.", synthesiser=CutSynthesiser(rate=rates[0])).start()
        room.say(bobby, at_s=0.2, text="say it")
        await room.reached("reply")
        await room.quiet()
        tape = room.recording

    late = 3_000
    start = tape.index(tape.mark("reply").at_s)
    assert start > tape.index(tape.mark("line_end").at_s)
    assert np.allclose(tape.loudspeaker[start:-late] * 10 ** (-10 / 20), tape.microphone[start + late :], atol=1e-6)


async def test_a_drifting_microphone_delivers_more_blocks_in_the_same_time() -> None:
    taken: list[Captured] = []
    scene = Scene(microphone=Microphone(ppm=1_000.0, jitter_s=0.003), noise_dbfs=-50.0)
    async with Room(
        scene, tap=lambda item, _: taken.append(item) if isinstance(item, Captured) else None, **FAST
    ) as it:
        session_in(it, np.ones(48_000, np.float32)).start()
        await anyio.sleep(30.0)

    starts_s = np.array([item.at_s - item.frame.start / 48_000 for item in taken])
    assert 3_000 * 1.001 - 2 == pytest.approx(len(taken), abs=1)
    assert -0.001 == pytest.approx(np.polyfit(np.arange(len(taken)) * 0.01, starts_s, 1)[0], abs=2e-5)
    assert (
        0.0025 < np.abs(starts_s - np.polyval(np.polyfit(np.arange(len(taken)), starts_s, 1), range(len(taken)))).max()
    )


async def test_an_unplugged_loudspeaker_pauses_the_reply_which_goes_on_when_it_is_back(
    bobby: Frame, agent: Samples
) -> None:
    async with Room(Scene(noise_dbfs=-70.0), **FAST) as room:
        session = session_in(room, agent, LONG)
        events = session.events("device")
        session.start()
        room.say(bobby, at_s=0.2, text="say it")
        reply = await room.reached("reply")
        await anyio.sleep(1.0)
        room.trouble(Unplugged("loudspeaker", room.now_s, 3.0))
        await room.quiet(6.0)
        tape, state = room.recording, session.state
        await session.stop()
        devices = [event.data async for event in events if event.data.get("which") == "loudspeaker"]

    assert ["lost", "open"] == [data["state"] for data in devices]
    mine = [it for it in tape.rendered if it.generation == reply.generation]
    assert [mine[0].generation] == sorted({it.generation for it in tape.rendered})  # the same reply
    gaps = [(b.start - a.start) / 48_000 for a, b in pairwise(mine) if b.start - a.start > 4_800]
    assert 1 == len(gaps)
    assert 3.0 < gaps[0] < 5.0
    assert len(LONG.split()) / 2.7 == pytest.approx(sum(it.count for it in mine) / 48_000, abs=0.01)
    assert (LONG, False) == (state["utterances"][1]["text"], state["utterances"][1]["interrupted"])


async def test_g3_another_default_device_is_moved_to_between_clauses_with_the_same_reply(
    goforward: Frame, bobby: Frame, agent: Samples
) -> None:
    async with Room(Scene(noise_dbfs=-70.0), **FAST) as room:
        session = session_in(room, agent, LONG, "Yes.")
        events = session.events("device")
        session.start()
        room.say(bobby, at_s=0.2, text="say it")
        reply = await room.reached("reply")
        await anyio.sleep(0.5)
        room.move(rate=16_000)
        await room.quiet(2.0)
        tape = room.recording
        room.say(goforward, text="go forward ten meters")
        await room.reached("reply", 2)
        said = [utterance["text"] for utterance in session.state["utterances"]]
        await session.stop()
        told = [(event.data["which"], event.data["state"]) async for event in events]

    assert [("microphone", "open"), ("loudspeaker", "open")] == sorted(set(told), reverse=True)
    assert 3 == len(told)
    assert {reply.generation} == {it.generation for it in tape.rendered}
    assert len(LONG.split()) / 2.7 == pytest.approx(sum(it.count for it in tape.rendered) / 48_000, abs=0.01)
    assert 0 == tape.dead_samples
    assert ["say it", LONG, "go forward ten meters"] == said[:3]


async def test_nobody_is_cut_off_by_another_default_device(goforward: Frame, agent: Samples) -> None:
    async with Room(Scene(noise_dbfs=-70.0), **FAST) as room:
        session = session_in(room, agent, "Yes.").start()
        room.say(goforward, at_s=0.5, text="go forward ten meters")
        await room.until(lambda: room.now_s > 1.2)  # in the middle of it
        room.move()
        await room.reached("reply")
        said = session.state["utterances"][0]["text"]

    assert "go forward ten meters" == said


@pytest.mark.parametrize(
    ("trouble", "states"),
    [
        (Unplugged("microphone", 1.0, 2.0), ["open", "lost", "open"]),
        (Unplugged("microphone", 1.0, 2.0, rate=16_000), ["open", "lost", "open"]),
        (Stalled("microphone", 1.0, 3.0), ["open", "lost", "open"]),
        (Stalled("microphone", 1.0, 0.5), ["open"]),
        (Zeros(1.0, 3.0), ["open", "silent", "open"]),
    ],
)
async def test_a_microphone_in_trouble_is_told_of_and_hears_again(
    trouble: Any, states: list[str], goforward: Frame, agent: Samples
) -> None:
    async with Room(Scene(troubles=[trouble]), **FAST) as room:
        session = session_in(room, agent, "Yes.")
        events = session.events("device")
        session.start()
        room.say(goforward, at_s=7.0, text="go forward ten meters")
        await room.reached("reply")
        said = session.state["utterances"][0]["text"]
        await session.stop()
        told = [event.data["state"] async for event in events]

    assert states == told
    assert "go forward ten meters" == said


async def test_a_stall_that_is_made_up_for_loses_nothing(goforward: Frame, agent: Samples) -> None:
    starts: list[int] = []

    def tap(item: Item | None, _now: float) -> None:
        starts.extend([item.frame.start] if isinstance(item, Captured) else [])

    troubles = [Stalled("microphone", 1.0, 0.3, lost=False), Stalled("microphone", 2.0, 0.3, lost=True)]
    async with Room(Scene(troubles=troubles), tap=tap, **FAST) as room:
        session_in(room, agent).start()
        await anyio.sleep(3.0)
        assert 30 == room.engine.health().overflows

    steps = np.diff(starts)
    assert [480 * 31] == [step for step in steps if step != 480]


async def test_what_a_tap_saw_gives_the_same_notes_again(goforward: Frame, agent: Samples) -> None:
    def hearing(rate: int) -> Any:
        by = cheap_detectors()
        policy = Policy(allow_barge_in=False)
        return hearing_of(rate, gate=by.gate, judge=by.judge, echo=NoEchoPath(), policy=policy, language="en")

    seen: list[tuple[Item | None, float]] = []
    notes: list[list[Any]] = [[], []]
    tap: Any = lambda item, now: seen.append((item, now))  # noqa: E731
    async with Room(tap=tap, note_tap=notes[0].append, **FAST) as room:
        session_in(room, agent, "Yes.", policy=Policy(allow_barge_in=False)).start()
        room.say(goforward, at_s=0.5, text="go forward ten meters")
        await room.reached("reply")
        await room.quiet()

    lost: list[DeviceLost] = []
    work = AudioWork(noted=notes[1].append, lost=lost.append, failed=lambda error: pytest.fail(repr(error)))
    work.begin(lambda fn, *args: fn(*args), Marks(Playback(48_000)))
    for item, now in seen:
        if isinstance(item, Call):
            about = item.about
            if isinstance(about, Words):
                item = Call(partial(work.words, about))
            elif isinstance(about, Cut):
                item = Call(partial(work.cut, about))
            else:
                assert isinstance(about, Listening)
                item = Call(partial(work.change, hearing(about.rate) if about.microphone else None, about.microphone))
        work.take(item, now)

    assert len(notes[0]) > 20
    assert [repr(note) for note in notes[0]] == [repr(note) for note in notes[1]]


@pytest.mark.parametrize(
    "seconds", [60.0, pytest.param(3_600.0, marks=[pytest.mark.slow, pytest.mark.timeout(300)])], ids=["minute", "hour"]
)
async def test_a_long_time_in_which_nothing_happens(seconds: float, agent: Samples) -> None:
    devices: Any = {"loudspeaker": Loudspeaker(rate=16_000), "microphone": Microphone(rate=16_000)}
    scene = Scene(rate=16_000, keep_s=1.0, **devices)
    async with Room(scene, **FAST) as room:
        session = session_in(room, agent).start()
        await anyio.sleep(seconds)
        health, state = room.engine.health(), session.state

    assert seconds * 100 == pytest.approx(health.blocks, abs=5)
    assert (0, 0, 0, []) == (health.dropped, health.overflows, health.losses, state["utterances"])


async def test_a_room_wants_virtual_time_one_session_and_the_loudspeakers_rate(agent: Samples) -> None:
    async with Room(**FAST) as room:
        with pytest.raises(ValueError, match="16000 Hz"):
            session_in(room, agent, synthesiser=CutSynthesiser(rate=16_000))
        session_in(room, agent)
        with pytest.raises(RuntimeError, match="one session"):
            session_in(room, agent)
        with pytest.raises(TimeoutError):
            await room.reached("reply", within_s=2.0)
        assert 2.0 == room.now_s


def test_a_room_wants_virtual_time() -> None:
    with pytest.raises(RuntimeError, match="virtual time"):
        anyio.run(Room().__aenter__)


def test_a_room_does_not_live_for_ever() -> None:
    async def main(room: Room) -> None:
        room.session(responder=Answers(), recogniser=ScriptedRecogniser(), synthesiser=CutSynthesiser()).start()
        await anyio.sleep_forever()

    with pytest.raises(RuntimeError, match="limit_s"):
        run_in_room(main, Room(limit_s=5.0, **FAST))


def test_scenes_are_values() -> None:
    scene = Scene(noise_dbfs=-60.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        scene.seed = 2  # type: ignore[misc]
