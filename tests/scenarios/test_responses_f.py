"""F. Listener's responses and noise words: scenarios of public bug reports, in the simulated room."""

from itertools import product
from typing import Any

import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.stt.base import Recognised
from discussion_helper.testing.room import After, Echo, Scene
from discussion_helper.types import Policy
from discussion_helper.voice.deciding import Act, Decider, Evidence, Words
from discussion_helper.voice.lexicon import Lexicon

pytestmark = pytest.mark.anyio

HUM = "backchannel/ami_trn01_03.09.wav"


async def test_f1_an_ignored_response_is_not_in_the_next_turn(talk: Any, long_reply: list[str]) -> None:
    """ "Uh-huh" over a reply is ignored, and the turn that comes later is exactly what was said then."""
    async with talk(long_reply, ["Ten."], scene=Scene(echo=Echo(gain_db=-20.0, delay_s=0.05))) as on:
        await on.session.say("Tell me.")
        on.say("backchannel/ami_trn01_22.30.wav", "uh-huh", after=After("reply", 1, 2.0), dbfs=-20.0)
        await on.room.reached("reply")
        ended_s = await on.room.quiet(1.0)
        on.say("speech/sphinx_cards_002.wav", "what is the time", at_s=ended_s + 1.5)
        await on.room.reached("reply", 2)

        assert ["Tell me.", "what is the time"] == [turn.text for turn in on.said if turn.speaker == "user"]
        assert [(" ".join(long_reply), False)] == [(it.text, it.interrupted) for it in on.replies]
        assert 1 == len(await on.told("decision", why="a listener's response"))
        assert "what is the time" == on.answers.seen[1][-1]["content"]


@pytest.mark.parametrize(
    ("text", "interrupts"),
    [("thank you", False), ("yeah right", False), ("stop", True), ("please stop", True), ("but why", True)],
)
async def test_f3_thanks_do_not_stop_it_and_stop_always_does(
    talk: Any, long_reply: list[str], text: str, interrupts: bool
) -> None:
    """ "Thank you" over a reply: it goes on. "Stop" stops it, also where two words are wanted."""
    async with talk(long_reply, ["Fine."], policy=Policy(barge_in_min_words=2)) as on:
        await on.session.say("Tell me.")
        on.say("speech/sphinx_cards_004.wav", text, after=After("reply", 1, 2.0), dbfs=-20.0)
        await on.room.reached("reply")
        await on.passed(5.0)
        await on.room.quiet(2.0)

        assert interrupts == on.replies[0].interrupted
        assert interrupts or [" ".join(long_reply)] == [reply.text for reply in on.replies]


LENGTHS_S = (0.064, 0.128, 0.25, 0.3, 0.5, 1.0)
TEXTS = {"": 0, "mm-hm": 0, "yeah okay": 0, "paris": 1, "yeah paris": 1, "in paris": 2, "in paris today": 3}
STOPS = ("stop", "no wait", "yeah stop")


def decided(policy: Policy, text: str, voiced_s: float) -> Act | None:
    """About a voice so long that has paused, with these words; half way through it the agent was turned down."""
    decider = Decider(
        Lexicon("en"),
        min_speech_s=policy.barge_in_min_speech_s,
        min_words=policy.barge_in_min_words,
        resume_after_s=policy.barge_in_resume_after_s,
    )
    given: dict[str, Any] = {"audible": True, "eager": True, "own": False, "quiet_s": 0.0}
    down = decider.step(Evidence(at_s=1.0, voiced_s=voiced_s / 2, others_s=voiced_s / 2, **given))
    assert down is not None
    assert Act.DUCK is down.act
    asked = decider.step(Evidence(at_s=1.0 + voiced_s / 2, voiced_s=voiced_s, others_s=voiced_s, **given))
    assert asked is None or Act.ASK is asked.act
    given["quiet_s"] = 0.3
    paused = decider.step(Evidence(at_s=1.3 + voiced_s / 2, voiced_s=voiced_s, others_s=voiced_s, **given))
    assert paused is None or Act.ASK is paused.act
    verdict = decider.words(Words(text=text, final=True, voiced_s=voiced_s), at_s=1.3 + voiced_s / 2)
    return None if verdict is None else verdict.act


@pytest.mark.parametrize(("min_speech_s", "min_words"), list(product((0.1, 0.3, 0.6), (1, 2, 3))))
def test_f4_of_all_pairs_of_settings_both_must_hold_and_stop_words_beat_both(
    min_speech_s: float, min_words: int
) -> None:
    """The two settings do not fight: enough voice and enough words are both wanted; a stop word needs neither.

    Three words in an eighth of a second are no words: nobody can say them, so the recogniser has made them up.
    """
    policy = Policy(barge_in_min_speech_s=min_speech_s, barge_in_min_words=min_words)
    for (text, count), voiced_s in product(TEXTS.items(), LENGTHS_S):
        sayable = len(text.split()) < 3 or voiced_s > 0.2
        both = count >= min_words and voiced_s > min_speech_s - 1e-6 and sayable
        assert (Act.INTERRUPT if both else Act.RESUME) is decided(policy, text, voiced_s), (text, voiced_s)
    for text, voiced_s in product(STOPS, LENGTHS_S):
        assert Act.INTERRUPT is decided(policy, text, voiced_s), (text, voiced_s)


def test_f4_the_documentation_states_the_rule() -> None:
    """Where the rules stand, the one about both settings and the one about stop words are among them."""
    from discussion_helper.voice import deciding

    rules = " ".join((deciding.__doc__ or "").split())
    assert "A stop word is an interruption, whatever else is said." in rules
    assert "at least `min_words` that are no listener's response, in at least `min_speech_s` of voice" in rules


@pytest.mark.parametrize(
    ("name", "seconds", "dbfs"),
    [
        ("noise/livekit_keyboard-typing.ogg", 9.8, -30.0),
        ("noise/sonicpi_vinyl_hiss.flac", 8.0, -40.0),
        ("noise/sonicpi_misc_burp.flac", 1.0, -26.0),
    ],
)
async def test_f5_a_recogniser_that_invents_words_is_kept_out_by_the_one_gate(
    talk: Any, ears: Any, long_reply: list[str], name: str, seconds: float, dbfs: float
) -> None:
    """No voice, but a recogniser that hears "stop" in everything: the reply is complete, and there is no turn.

    It is as sure of it as tiny.en is of what it hears in such sounds, at the surest.
    """

    async def invent(samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        return Recognised("stop the music", no_speech_probability=0.5, average_logprob=-1.1)

    hearing = ears()
    hearing.recognise = invent
    async with talk(long_reply, ears=hearing) as on:
        await on.session.speak(" ".join(long_reply))
        on.say(name, after=After("reply", 1, 0.5), dbfs=dbfs)
        await on.room.reached("reply")
        await on.passed(seconds + 2.0)
        await on.room.quiet(2.0)

        assert [(" ".join(long_reply), False)] == [(it.text, it.interrupted) for it in on.said]
        assert [] == await on.told("decision", what="interruption")
