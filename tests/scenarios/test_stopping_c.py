"""C. Stopping, resuming, tails: scenarios of public bug reports, in the simulated room."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.testing.room import After, Echo, Loudspeaker, Scene
from discussion_helper.testing.room.synthesisers import WORDS_PER_S
from discussion_helper.types import Policy

pytestmark = pytest.mark.anyio

WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
RATE = 48_000


def blocks_of(on: Any, reply: int = 1) -> list[Any]:
    """What was rendered of the n-th reply that was heard."""
    tape = on.room.recording
    generation = tape.mark("reply", reply).generation
    return [it for it in tape.rendered if it.generation == generation]


def pauses_s(blocks: list[Any]) -> list[float]:
    """How long each pause in a reply was."""
    gaps = [(after.start - before.start) / RATE for before, after in pairwise(blocks)]
    return [gap - 0.01 for gap in gaps if gap > 0.05]


async def test_c1_an_interruption_ends_the_request_and_every_sound(talk: Any) -> None:
    """Interrupted with 20 sentences to go: the request is cancelled within 50 ms, and not a sample comes after."""
    sentences = [f"This is sentence number {number}." for number in range(25)]
    async with talk(sentences, delay_s=0.5, fast=True) as on:
        await on.session.say("Tell me.")
        await on.room.until(lambda: len(on.answers.given) >= 5)
        at_s = anyio.current_time()
        assert await on.session.interrupt()
        await on.passed(10.0)

        assert 5 == len(on.answers.given)
        assert on.answers.cancelled_s[0] - at_s <= 0.05
        assert 0 == on.room.recording.dead_samples
        assert on.room.recording.silent_s(on.room.recording.mark("halt").at_s) < 0.05


@pytest.mark.parametrize("at_s", [0.3, 1.2, 2.05])
async def test_c2_what_comes_late_of_a_dead_reply_is_never_played(talk: Any, at_s: float) -> None:
    """Chunks of a reply that come after the next one has begun: none is played.

    The synthesis of the next sentence is under way when the reply is cut, and five chunks are written by hand.
    """
    sentences = ["Here is something for you.", "And more of it again.", "And still some more."]
    async with talk(sentences, [WORDS], synthesis_s=0.7, fast=True) as on:
        await on.session.say("Tell me.")
        first = await on.room.reached("reply")
        await on.passed(at_s)
        assert await on.session.interrupt()
        await on.session.say("And now?")
        second = await on.room.reached("reply", 2)
        playback = on.room.engine.playback
        late = [playback.write(first.generation, np.full(4_800, 0.9, np.float32)) for _ in range(5)]
        await on.room.quiet(1.5)

        assert [None] * 5 == late
        assert 0 == on.room.recording.dead_samples
        later = {it.generation for it in on.room.recording.rendered if it.start / RATE > second.at_s}
        assert {second.generation} == later
        assert np.abs(on.room.recording.loudspeaker).max() < 0.9


@pytest.mark.parametrize(
    ("name", "echo"),
    [
        ("noise/sonicpi_misc_burp.flac", None),
        ("noise/sonicpi_misc_burp.flac", -15.0),
        ("backchannel/ami_trn00_20.94.wav", None),
    ],
)
async def test_c4_after_a_cough_the_same_reply_goes_on_from_the_same_sample(
    talk: Any, name: str, echo: float | None
) -> None:
    """A cough of 0.6 s without words: the same reply goes on within 2.0 s, from the same sample."""
    async with talk([WORDS], scene=Scene(echo=Echo(gain_db=echo, delay_s=0.05))) as on:
        await on.session.say("Count.")
        on.say(name, after=After("reply", 1, 1.5), dbfs=-20.0)
        await on.room.reached("reply")
        await on.room.quiet(2.5)
        blocks, whole = blocks_of(on), len(on.voice.made[WORDS].samples)
        heard = np.concatenate([on.room.recording.loudspeaker[it.start : it.start + it.count] for it in blocks])

        assert [(WORDS, False)] == [(reply.text, reply.interrupted) for reply in on.replies]
        assert whole == sum(it.count for it in blocks)
        assert 1 <= len(pauses_s(blocks)) <= 2
        assert max(pauses_s(blocks)) < 2.0
        assert "ignored" == (await on.told("decision"))[0]["what"]
        # The same samples as were made, but for the ramps of 10 ms at each pause.
        differ = np.abs(heard - np.clip(on.voice.made[WORDS].samples, -1.0, 1.0)) > 1e-4
        assert differ.sum() <= 2 * len(pauses_s(blocks)) * 0.01 * RATE


@pytest.mark.parametrize("ramp_s", [pytest.param(0.03, marks=pytest.mark.slow), 0.1])
async def test_c4_it_falls_silent_and_goes_on_within_the_ramp_of_the_policy(talk: Any, ramp_s: float) -> None:
    """A longer ramp: the reply is led down for so long, and is as loud as before so long after it goes on."""
    async with talk([WORDS], policy=Policy(barge_in_ramp_s=ramp_s)) as on:
        await on.session.say("Count.")
        on.say("noise/sonicpi_misc_burp.flac", after=After("reply", 1, 1.5), dbfs=-20.0)
        await on.room.reached("reply")
        await on.room.quiet(2.5)
        blocks = blocks_of(on)
        led_down = [it for it in blocks[:-1] if not it.count]
        made = np.clip(on.voice.made[WORDS].samples, -1.0, 1.0)
        heard = np.concatenate([on.room.recording.loudspeaker[it.start : it.start + it.count] for it in blocks])
        differ = np.flatnonzero(np.abs(heard - made) > 1e-4)

        assert 1 == len(pauses_s(blocks))
        assert round(ramp_s / 0.01) <= len(led_down) <= round(ramp_s / 0.01) + 1
        assert 0.8 * ramp_s * RATE < differ[-1] - differ[0] <= ramp_s * RATE


async def test_c4_a_cough_before_an_interruption_does_not_make_the_reply_go_on(
    talk: Any, long_reply: list[str]
) -> None:
    """A cough is ignored, later somebody interrupts the same reply: it does not begin again while they speak."""
    async with talk(long_reply, ["Fine."]) as on:
        await on.session.say("Tell me.")
        on.say("backchannel/ami_trn01_22.30.wav", "", after=After("reply", 1, 1.0), dbfs=-20.0)
        on.say("speech/sphinx_goforward.wav", "go forward ten meters", after=After("reply", 1, 4.0))
        await on.room.until(lambda: len(on.answers.seen) >= 2)

        assert [] == await on.told("decision", what="resumed")
        assert [True] == [reply.interrupted for reply in on.replies]


async def test_c4_who_cuts_the_reply_after_an_ignored_word_is_not_talked_over(talk: Any, long_reply: list[str]) -> None:
    """A word too doubtful to count is ignored, later the same reply is cut: it stays silent while the user talks on."""
    async with talk(long_reply, ["Fine."]) as on:
        await on.session.say("Tell me.")
        on.say("speech/sphinx_cards_002.wav", "mm-hm", after=After("reply", 1, 1.0))
        on.say("speech/sphinx_goforward.wav", "go forward ten meters", after=After("line_end", 1, 2.5))
        await on.room.until(lambda: len(on.answers.seen) >= 2, within_s=20.0)

        assert [] == await on.told("decision", what="resumed")
        assert 1 == len([reply for reply in on.replies if reply.interrupted])


@pytest.mark.parametrize("after_s", [0.55, 0.9, 1.3])
@pytest.mark.parametrize("name", ["noise/sonicpi_misc_burp.flac", "backchannel/ami_trn01_22.30.wav"])
async def test_c6_a_noise_while_it_thinks_leaves_no_turn_unanswered(talk: Any, name: str, after_s: float) -> None:
    """A noise without words between the end of a turn and the first audio: it is answered within 2.0 s all the same."""
    async with talk([WORDS], delay_s=1.0) as on:
        on.say("speech/sphinx_cards_002.wav", "four queen of clubs", at_s=0.2)
        await on.room.reached("line_end")
        ended_s = on.room.recording.mark("voice_end").at_s
        on.say(name, at_s=ended_s + after_s)
        reply = await on.room.reached("reply", within_s=10.0)
        noise_s = on.room.recording.mark("voice_end", 2).at_s
        await on.room.quiet(2.5)

        assert reply.at_s - max(noise_s, ended_s + 0.8 + 1.0) < 2.0
        assert [(WORDS, False)] == [(it.text, it.interrupted) for it in on.replies]
        assert 16 / WORDS_PER_S == pytest.approx(sum(it.count for it in blocks_of(on)) / RATE, abs=0.01)


async def test_c7_a_turn_without_a_transcript_is_told_within_a_second(talk: Any) -> None:
    """A voice of which the recogniser makes nothing: within 1 s of the turn's end an event says so."""
    async with talk([WORDS]) as on:
        on.say("speech/sphinx_cards_002.wav", "", at_s=0.2)
        await on.room.reached("line_end")
        ended_s = on.room.recording.mark("voice_end").at_s
        await on.passed(ended_s + 1.0 - on.room.now_s)

        assert [("ignored", "no words")] == [(it["what"], it["why"]) for it in await on.told("decision")]
        assert [] == on.said
        assert "listening" == on.session.floor.value


@pytest.mark.parametrize(("after_s", "most_s"), [(0.6, 0.0), (0.8, 0.0), (1.0, 0.0), (1.1, 0.25)])
async def test_c8_a_reply_does_not_go_on_over_who_has_begun_to_speak_again(
    talk: Any, after_s: float, most_s: float
) -> None:
    """The user goes on before the first sample: that reply waits for the decision; then the user is answered.

    Not a sample sounds where the voice was known before (0.1 to 0.5 s). One that began 3 ms before the first sample is
    over it as long as any voice that turns the agent down.
    """
    async with talk(["This is the answer to the first turn."], ["Fine."], delay_s=0.4) as on:
        on.say("speech/sphinx_cards_002.wav", "four queen of clubs", at_s=0.2)
        await on.room.reached("line_end")
        ended_s = on.room.recording.mark("voice_end").at_s
        on.say("speech/sphinx_goforward.wav", "go forward ten meters", at_s=ended_s + after_s - 0.49)
        await on.room.until(lambda: len(on.answers.seen) >= 2, within_s=8.0)

        assert over_s(on) <= most_s
        assert "four queen of clubs go forward ten meters" == on.answers.seen[-1][-1]["content"]


def over_s(on: Any) -> float:
    """From the first to the last sample of the agent over the second voice."""
    tape = on.room.recording
    start, end = (tape.index(tape.mark(kind, 2).at_s) for kind in ("voice", "voice_end"))
    heard = np.flatnonzero(np.abs(tape.loudspeaker[start:end]) > 0.0)
    return float(heard[-1] - heard[0] + 1) / RATE if len(heard) else 0.0


async def test_c10_no_stop_duck_or_resume_clicks(talk: Any) -> None:
    """Wherever the agent stops, is turned down or goes on: no step of more than 0.05 of full scale.

    The agent hums at a seventh of full scale, which has no step above 0.005 itself.
    """
    async with talk([WORDS], [WORDS], ["And one more."], tone=True) as on:
        await on.session.say("Hum.")
        on.say("backchannel/ami_trn01_03.09.wav", after=After("reply", 1, 2.017), dbfs=-14.0)
        on.say("backchannel/ami_trn01_22.30.wav", after=After("reply", 1, 4.013), dbfs=-14.0)
        await on.room.reached("reply")
        await on.room.quiet(2.0)
        await on.session.say("Hum.")
        on.say("speech/sphinx_goforward.wav", "go forward ten meters", after=After("reply", 2, 1.019), dbfs=-14.0)
        await on.room.reached("reply", 3)
        await on.passed(0.307)
        assert await on.session.interrupt()
        await on.session.speak("And this is the end of it.")
        await on.room.reached("reply", 4)
        await on.passed(0.411)
        assert await on.session.interrupt()
        await on.passed(0.1)
        tape = on.room.recording

        assert 2 == len(pauses_s(blocks_of(on))) == len(await on.told("decision", what="ignored"))
        assert [False, True, True, True] == [reply.interrupted for reply in on.replies]
        assert 1 == len(await on.told("interruption", by="onset"))
        assert np.abs(tape.loudspeaker).max() > 0.14
        assert np.abs(np.diff(tape.loudspeaker)).max() < 0.05


async def test_c10_the_ramp_costs_no_more_than_30_ms(talk: Any) -> None:
    """A stop is silence no later than 30 ms after what the device had taken."""
    async with talk([WORDS], tone=True, fast=True) as on:
        await on.session.say("Hum.")
        await on.room.reached("reply")
        await on.passed(1.0)
        at_s = on.room.now_s
        assert await on.session.interrupt()
        await on.passed(1.0)
        latency_s = on.room.scene.loudspeaker.latency_s

        assert 0.0 < on.room.recording.silent_s(at_s) <= latency_s + 0.03


async def test_c11_a_hundred_stops_leave_a_voice_that_speaks(talk: Any) -> None:
    """100 times speak, stop: the 101st reply is complete."""
    async with talk(["Yes, of course."], fast=True) as on:
        for number in range(1, 101):
            await on.session.say("Again.")
            await on.room.reached("reply", number)
            await on.passed(0.05 * (number % 20))
            await on.session.interrupt()
        await on.session.say("Again.")
        await on.room.reached("reply", 101)
        await on.room.quiet(1.0)

        assert ("Yes, of course.", False) == (on.replies[-1].text, on.replies[-1].interrupted)
        assert len(on.voice.made["Yes, of course."].samples) == sum(it.count for it in blocks_of(on, 101))
        assert 0 == on.room.recording.dead_samples


@pytest.mark.parametrize("latency_s", [0.02, 0.25])
async def test_c12_every_sample_is_heard_before_the_device_closes(talk: Any, latency_s: float) -> None:
    """The end of a reply is not clipped, also when the talk ends right after it and the device holds frames."""
    policy, scene = Policy(silence_timeout_s=0.5), Scene(loudspeaker=Loudspeaker(latency_s=latency_s))
    async with talk(["Good bye for today."], scene=scene, policy=policy, fast=True) as on:
        await on.session.say("Bye.")
        await on.session.wait()
        await on.passed(0.5)
        tape = on.room.recording
        made = on.voice.made["Good bye for today."].samples
        start = blocks_of(on)[0].start

        assert np.allclose(made, tape.loudspeaker[start : start + len(made)], atol=1e-6)


async def test_c13_both_times_of_an_interruption_are_known(talk: Any, long_reply: list[str]) -> None:
    """From the onset to the agent turned down, and to the decision: both are told, and both are on the tape."""
    async with talk(long_reply, ["Fine."], scene=Scene(echo=Echo(gain_db=-20.0, delay_s=0.1))) as on:
        await on.session.say("Tell me.")
        on.say("speech/sphinx_goforward.wav", "go forward ten meters", after=After("reply", 1, 1.5))
        await on.room.reached("reply", 2)
        tape = on.room.recording
        voice_s = tape.mark("voice").at_s
        decided = (await on.told("decision", what="interruption"))[0]

        assert tape.ducked_s(voice_s) < 0.15
        assert decided["ducked_s"] == pytest.approx(tape.mark("halt").at_s - voice_s - tape.ducked_s(voice_s), abs=0.06)
        assert 0.128 <= decided["voiced_s"] < 2.0


async def test_c4_who_is_understood_at_the_very_end_is_answered_though_the_agent_went_on(
    talk: Any, long_reply: list[str], ears: Any
) -> None:
    """Nothing is believed of a voice while it goes on, so it is dismissed; then it is over, and its words are clear."""

    class Slow(ears):  # type: ignore[misc]
        async def recognise(self, samples: Any, *, voiced_s: float | None = None) -> Any:
            read = await super().recognise(samples, voiced_s=voiced_s)
            return replace(read, average_logprob=-1.45 if len(self.calls) <= 3 else -1.0)

    async with talk(long_reply, ["Fine."], ears=Slow(delay_s=0.4)) as on:
        await on.session.say("Tell me.")
        on.say("speech/asterisk_fr_vm-onefor-full.wav", "you are logged in now", after=After("reply", 1, 1.0))
        await on.room.until(lambda: len(on.answers.seen) >= 2, within_s=20.0)

        assert ["ignored", "interruption"] == [it["what"] for it in await on.told("decision")][:2]
        assert [True] == [reply.interrupted for reply in on.replies][:1]
        assert "you are logged in now" == on.answers.seen[1][-1]["content"]
