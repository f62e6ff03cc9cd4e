"""What the end of a turn is judged by, and which pauses are learned."""

from collections.abc import Callable

import numpy as np
import pytest

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Played
from discussion_helper.audio.playback import Position
from discussion_helper.testing.room import LevelDetector
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.pauses import PauseModel
from discussion_helper.turn.policy_endpointer import PolicyEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnEvent, TurnSegmenter
from discussion_helper.voice.finishing import Finishing
from discussion_helper.voice.not_understood import ECHO_S
from discussion_helper.voice.notes import ProsodyWanted
from discussion_helper.voice.scored import Scored
from discussion_helper.voice.words import Words

RATE, BLOCK = 16_000, 160


class Ears:
    """A segmenter with what belongs to it, and what came of it."""

    def __init__(self) -> None:
        self.pauses = PauseModel()
        tracker = ActivityTracker(gate=LevelDetector(), judge=LevelDetector(frame_samples=512))
        self.segmenter = TurnSegmenter(tracker, PolicyEndpointer())
        self.finishing = Finishing(self.segmenter, language="en", pauses=self.pauses)
        self.events: list[TurnEvent] = []
        self.asked: list[ProsodyWanted] = []
        self.on_ask: Callable[[ProsodyWanted], object] = lambda _: None
        self.now = 0

    def hear(self, seconds: float, *, voice: bool) -> None:
        for _ in range(round(seconds * RATE / BLOCK)):
            samples = np.full(BLOCK, 0.1 if voice else 0.0, np.float32)
            events = self.segmenter.feed(Frame(samples, RATE, self.now))
            self.now += BLOCK
            for event in events:
                self.finishing.heard(event, 0.0)
            self.events += events
            for wanted in self.finishing.wanted():
                self.asked.append(wanted)
                self.on_ask(wanted)

    def play(self, level: float) -> None:
        """The agent is heard at this moment."""
        frame = Frame(np.full(480, level, np.float32), 48_000, 0)
        self.finishing.played(Played(frame, self.now / RATE, Position(1, 480, 48_000)))

    def ended(self) -> list[TurnEnded]:
        return [event for event in self.events if isinstance(event, TurnEnded)]


@pytest.fixture
def ears() -> Ears:
    return Ears()


def test_a_pause_is_asked_about_three_times_and_a_new_one_anew(ears: Ears) -> None:
    ears.on_ask = lambda wanted: ears.finishing.scored(Scored(wanted.until, 0.01))
    ears.hear(1.0, voice=True)
    ears.hear(1.5, voice=False)
    ears.hear(0.5, voice=True)
    ears.hear(0.3, voice=False)

    silences = [(wanted.end - wanted.until) / RATE for wanted in ears.asked]
    assert silences == pytest.approx([0.2, 0.45, 0.8, 0.2], abs=0.011)
    assert all(len(wanted.samples) == wanted.end - wanted.start for wanted in ears.asked)


@pytest.mark.parametrize(("score", "times"), [(0.79, 3), (0.8, 1)])
def test_what_sounds_complete_beyond_doubt_is_not_judged_again(ears: Ears, score: float, times: int) -> None:
    ears.on_ask = lambda wanted: ears.finishing.scored(Scored(wanted.until, score))
    ears.hear(1.0, voice=True)
    ears.hear(0.3, voice=False)
    ears.finishing.words(Words(text="I like this and", voiced_s=ears.segmenter.open_voiced_s))  # to be waited for
    ears.hear(0.6, voice=False)

    assert not ears.ended()
    assert len(ears.asked) == times


def test_a_score_that_comes_late_says_nothing_of_the_next_pause(ears: Ears) -> None:
    ears.hear(1.0, voice=True)
    ears.hear(0.3, voice=False)
    ears.hear(0.5, voice=True)
    ears.hear(0.3, voice=False)
    before, _ = ears.asked
    ears.finishing.scored(Scored(before.until, 0.99))
    ears.hear(0.3, voice=False)

    assert len(ears.asked) == 3


def test_what_sounds_and_reads_complete_ends_sooner_and_says_why(ears: Ears) -> None:
    def told(wanted: ProsodyWanted) -> None:
        ears.finishing.scored(Scored(wanted.until, 0.99))
        ears.finishing.words(Words(text="Yes.", final=True, voiced_s=ears.segmenter.open_voiced_s))

    ears.on_ask = told
    ears.hear(1.2, voice=True)
    ears.hear(2.0, voice=False)
    (turn,) = ears.ended()

    assert (turn.reason.rule, turn.reason.prosody) == ("sounds and reads complete", 0.99)


@pytest.mark.parametrize(("doubt", "rule"), [(0.5, "sounds complete"), (1.5, "sounds complete, nothing read")])
def test_a_sentence_that_was_read_in_doubt_is_as_good_as_not_read(ears: Ears, doubt: float, rule: str) -> None:
    def told(wanted: ProsodyWanted) -> None:
        ears.finishing.scored(Scored(wanted.until, 0.99))
        voiced_s = ears.segmenter.open_voiced_s
        ears.finishing.words(Words(text="I want a pizza.", final=True, voiced_s=voiced_s, doubt=doubt))

    ears.on_ask = told
    ears.hear(1.2, voice=True)
    ears.hear(2.0, voice=False)
    (turn,) = ears.ended()

    assert turn.reason.rule == rule


@pytest.mark.parametrize(
    ("language", "text", "reads"), [("es", "Quiero una", 0.03), ("de", "Ja.", 0.97), ("", "Yes.", -1.0)]
)
def test_where_the_language_is_found_out_the_words_are_judged_in_the_one_they_were_read_in(
    ears: Ears, language: str, text: str, reads: float
) -> None:
    ears.finishing = Finishing(ears.segmenter, language="auto", pauses=ears.pauses)
    ears.on_ask = lambda _: ears.finishing.words(
        Words(text=text, final=True, voiced_s=ears.segmenter.open_voiced_s, language=language)
    )
    ears.hear(1.2, voice=True)
    ears.hear(2.0, voice=False)

    assert [turn.reason.complete for turn in ears.ended()] == [reads]


def test_words_of_less_voice_than_there_is_by_now_do_not_count(ears: Ears) -> None:
    ears.hear(1.0, voice=True)
    early_s = ears.segmenter.open_voiced_s
    ears.hear(0.5, voice=True)
    ears.hear(0.3, voice=False)
    ears.finishing.words(Words(text="I want a", voiced_s=early_s))
    ears.hear(1.0, voice=False)

    assert [turn.reason.complete for turn in ears.ended()] == [-1.0]


def test_a_pause_in_a_turn_and_one_that_ended_it_too_early_are_learned(ears: Ears) -> None:
    ears.hear(1.0, voice=True)
    ears.hear(0.35, voice=False)
    ears.hear(1.0, voice=True)
    ears.hear(0.9, voice=False)  # ended by now
    ears.hear(1.0, voice=True)

    assert ears.pauses.pauses_s == pytest.approx((0.35, 0.9), abs=0.05)


def test_a_pause_in_which_the_agent_speaks_is_none_unless_the_turn_is_opened_again(ears: Ears) -> None:
    ears.hear(1.0, voice=True)
    ears.hear(0.7, voice=False)
    ears.play(0.1)
    ears.hear(0.3, voice=False)
    ears.hear(1.0, voice=True)

    assert ears.pauses.pauses_s == ()
    ears.finishing.reopened()
    ears.finishing.reopened()
    assert ears.pauses.pauses_s == pytest.approx((1.0,), abs=0.05)


def test_an_agent_that_plays_silence_says_nothing(ears: Ears) -> None:
    ears.hear(1.0, voice=True)
    ears.hear(0.7, voice=False)
    ears.play(0.0)
    ears.hear(1.0, voice=True)

    assert ears.pauses.pauses_s == pytest.approx((0.7,), abs=0.05)


def test_the_agent_is_heard_until_its_latest_echo_is_over(ears: Ears) -> None:
    assert ears.finishing.agent_until(0.0) == 0
    ears.hear(3.0, voice=False)
    ears.play(0.1)
    ears.hear(0.2, voice=False)
    ears.play(0.0)

    assert ears.finishing.agent_until(0.0) == round((3.01 + ECHO_S) * RATE)
    assert ears.finishing.agent_until(1.0) == round((2.01 + ECHO_S) * RATE)
    assert ears.finishing.agent_until(9.0) == 0


def test_who_says_something_else_after_a_while_has_not_paused(ears: Ears) -> None:
    ears.hear(1.0, voice=True)
    ears.hear(4.0, voice=False)
    ears.hear(1.0, voice=True)

    assert ears.pauses.pauses_s == ()
