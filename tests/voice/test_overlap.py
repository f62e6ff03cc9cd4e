"""The user over the agent, on the audio thread: turned down, asked about, decided; in sample time."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, Played
from discussion_helper.audio.playback import Position
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnSegmenter
from discussion_helper.voice.barge_in import OnsetRule
from discussion_helper.voice.deciding import Decider, Words
from discussion_helper.voice.hearing import Hearing
from discussion_helper.voice.lexicon import Lexicon
from discussion_helper.voice.notes import Decided, Ducked, Level, Note, Onset, ProsodyWanted, Resumed, Turn, WordsWanted
from discussion_helper.voice.overlap import ACT_WITHIN_S, AUDIBLE_S, Overlap

RATE = 16_000
BLOCK = 160
ZERO_S = 1_000.0


class LoudIsVoice:
    """A detector for which whatever is loud is a voice."""

    rate = RATE

    def __init__(self, frame_samples: int = BLOCK) -> None:
        self.frame_samples = frame_samples

    def probability(self, samples: Samples) -> float:
        return float(np.abs(samples).max() > 0.05)

    def reset(self) -> None: ...


class Deaf(LoudIsVoice):
    """A detector that hears no voice in anything."""

    def probability(self, samples: Samples) -> float:
        return 0.0


class NoEcho:
    """Passes the microphone on, and expects this much in it."""

    near_db = -70.0

    def __init__(self) -> None:
        self.expected_db = -70.0

    def feed(self, played: Played) -> None: ...

    def clean(self, near: Samples, at_s: float, start: int) -> Samples:
        self.near_db = 20.0 * float(np.log10(np.abs(near).max() + 1e-6))
        return near

    def is_own_voice(self) -> bool:
        return False

    def leaks(self) -> bool:
        return False


class Scene:
    """An agent that speaks until `until_s`, and a user."""

    def __init__(self, *, until_s: float = 60.0, min_words: int = 1, judge: LoudIsVoice | None = None) -> None:
        tracker = ActivityTracker(gate=LoudIsVoice(), judge=judge or LoudIsVoice(512))
        overlap = Overlap(Decider(Lexicon("en"), min_words=min_words), gate=LoudIsVoice(), clean_gate=LoudIsVoice())
        segmenter = TurnSegmenter(tracker, SilenceEndpointer())
        onset = OnsetRule(min_speech_s=0.128)
        self.echo = NoEcho()
        self.hearing = Hearing(RATE, segmenter=segmenter, echo=self.echo, onset=onset, overlap=overlap)
        self.until_s = until_s
        self.generation = 1
        self.at = 0
        self.paused = False
        self.notes: list[Note] = []

    def hears(self, seconds: float, amplitude: float = 0.0) -> "Scene":
        tone = 1e-4 + amplitude * np.sin(2 * np.pi * 400 * np.arange(round(seconds * RATE)) / RATE)
        for at in range(0, len(tone), BLOCK):
            self._play()
            frame = Frame(tone[at : at + BLOCK].astype(np.float32), RATE, self.at)
            self._note(self.hearing.captured(Captured(frame, ZERO_S + self.at / RATE)))
            self.at += BLOCK
        return self

    def reads(self, text: str, *, final: bool = True, voiced_s: float = 0.5, doubt: float = 0.0) -> "Scene":
        self._note(self.hearing.words(Words(text=text, final=final, voiced_s=voiced_s, doubt=doubt)))
        return self

    def _play(self) -> None:
        if not self.paused and self.at < self.until_s * RATE:
            frame = Frame(np.full(BLOCK, 0.1, np.float32), RATE, self.at)
            self.hearing.played(Played(frame, ZERO_S + self.at / RATE, Position(self.generation, self.at, RATE)))

    def _note(self, notes: Sequence[Note]) -> None:
        self.notes += notes
        for note in notes:
            self.paused = isinstance(note, Ducked) or (self.paused and not isinstance(note, Resumed))

    def told(self, *kinds: type) -> Iterator[Note]:
        return (
            note for note in self.notes if isinstance(note, kinds or (Ducked, Resumed, Onset, Decided, WordsWanted))
        )

    def kinds(self) -> list[str]:
        return [type(note).__name__ for note in self.told()]


def test_a_voice_turns_the_agent_down_within_50_ms_and_keeps_which_reply_it_was() -> None:
    scene = Scene().hears(1.0).hears(0.1, 0.5)
    (ducked,) = scene.told(Ducked)

    assert isinstance(ducked, Ducked)
    assert 1 == ducked.generation
    assert 0.0 < ducked.at_s - ZERO_S - 1.0 <= 0.05


def test_a_click_costs_a_third_of_a_second_and_is_told_with_its_level() -> None:
    scene = Scene().hears(1.0).hears(0.05, 0.5).hears(1.0)
    (decided,) = scene.told(Decided)

    assert ["Ducked", "Resumed", "Decided"] == scene.kinds()
    assert isinstance(decided, Decided)
    assert ("ignored", "no voice") == (decided.what, decided.why)
    assert 0.3 < decided.ducked_s < 0.4
    assert -7.0 < decided.level_dbfs < -5.0
    assert 60.0 < decided.over_echo_db < 70.0


def test_a_turn_after_a_click_over_the_agent_is_a_turn() -> None:
    scene = Scene(until_s=2.5).hears(1.0).hears(0.05, 0.5).hears(3.0).hears(0.5, 0.5).hears(0.8)
    (turn,) = [note for note in scene.told(Turn) if isinstance(note, Turn) and isinstance(note.event, TurnEnded)]

    assert ("", False, False) == (turn.ignored, turn.decided, turn.undecided)


def test_words_make_an_interruption_and_the_turn_goes_to_the_end_as_a_turn() -> None:
    scene = Scene().hears(1.0).hears(1.0, 0.5).hears(0.3).reads("What about Paris?").hears(0.5)
    (turn,) = [note for note in scene.told(Turn) if isinstance(note, Turn) and isinstance(note.event, TurnEnded)]

    assert ["Ducked", "WordsWanted", "WordsWanted", "Decided", "Onset"] == scene.kinds()
    assert ("", False) == (turn.ignored, turn.undecided)
    assert scene.paused


def test_the_words_wanted_are_those_of_the_open_turn_with_its_beginning() -> None:
    scene = Scene().hears(1.0).hears(1.0, 0.5)
    wanted = [note for note in scene.notes if isinstance(note, WordsWanted)]

    assert [0.4, 0.9] == [round(note.voiced_s, 1) for note in wanted]
    assert all(len(note.samples) == note.end - note.start for note in wanted)
    assert all(note.start <= RATE for note in wanted)


def test_a_listeners_response_goes_by_and_the_turn_says_that_it_is_none() -> None:
    scene = Scene().hears(1.0).hears(0.4, 0.5).hears(0.3).reads("Mm-hmm.").hears(0.5)
    (turn,) = [note for note in scene.told(Turn) if isinstance(note, Turn) and isinstance(note.event, TurnEnded)]

    assert ["Ducked", "Resumed", "Decided"] == [kind for kind in scene.kinds() if kind != "WordsWanted"]
    assert "a listener's response" == turn.ignored
    assert not scene.paused


def test_a_turn_that_ends_before_its_words_are_there_says_that_it_is_undecided() -> None:
    scene = Scene().hears(1.0).hears(0.4, 0.5).hears(0.8)
    (turn,) = [note for note in scene.told(Turn) if isinstance(note, Turn) and isinstance(note.event, TurnEnded)]

    assert turn.undecided
    assert "Onset" in scene.reads("Paris").kinds()


def test_while_the_agent_is_silent_a_voice_is_an_onset_and_turns_nothing_down() -> None:
    scene = Scene(until_s=1.0).hears(1.0 + AUDIBLE_S + 0.02).hears(0.5, 0.5)

    assert ["Onset"] == scene.kinds()


def test_who_is_speaking_when_a_reply_begins_turns_it_down_and_is_decided_about() -> None:
    scene = Scene(until_s=0.0).hears(0.2).hears(0.5, 0.5)
    scene.until_s = 60.0

    assert ["Onset", "Ducked", "WordsWanted"] == scene.hears(0.1, 0.5).kinds()


def test_another_reply_begins_with_nothing_turned_down() -> None:
    scene = Scene().hears(1.0).hears(0.5, 0.5).reads("Stop")
    scene.generation, scene.paused = 2, False
    scene.hears(1.0).hears(0.1, 0.5)

    assert 2 == len(list(scene.told(Ducked)))


def test_a_reply_that_was_to_be_stopped_and_was_not_goes_on() -> None:
    scene = Scene().hears(1.0).hears(0.5, 0.5).reads("Stop").hears(ACT_WITHIN_S + 0.1)

    assert "Resumed" == scene.kinds()[-1]
    assert not scene.paused


def test_a_microphone_that_is_closed_lets_the_agent_go_on() -> None:
    scene = Scene().hears(1.0).hears(0.2, 0.5)
    scene.notes += scene.hearing.finish()

    assert ["Ducked", "Resumed"] == scene.kinds()


def test_the_same_samples_and_words_give_the_same_notes() -> None:
    def run() -> list[Note]:
        scene = Scene().hears(1.0).hears(0.7, 0.5).reads("but", final=False).hears(0.3).reads("But why").hears(0.7)
        return [note for note in scene.notes if not isinstance(note, Level | WordsWanted | ProsodyWanted | Turn)]

    assert run() == run()


def test_in_half_duplex_a_soft_voice_over_the_agent_is_ignored_and_a_loud_one_is_not() -> None:
    scene = Scene()
    scene.hearing.go_half_duplex()
    scene.echo.expected_db = -30.0
    scene.hears(1.0).hears(0.5, 0.06).hears(0.8)
    (turn,) = [note for note in scene.told(Turn) if isinstance(note, Turn) and isinstance(note.event, TurnEnded)]

    assert [] == scene.kinds()
    assert "half duplex" == turn.ignored
    assert "Ducked" in scene.hears(0.2, 0.8).kinds()


def test_in_half_duplex_a_voice_after_the_agent_is_heard_as_ever() -> None:
    scene = Scene(until_s=1.0)
    scene.hearing.go_half_duplex()
    scene.hears(1.5).hears(0.5, 0.06).hears(0.8)
    (turn,) = [note for note in scene.told(Turn) if isinstance(note, Turn) and isinstance(note.event, TurnEnded)]

    assert "" == turn.ignored


def test_a_whisper_that_the_neural_detector_does_not_hear_interrupts_and_is_a_turn() -> None:
    scene = Scene(judge=Deaf(512)).hears(1.0).hears(1.1, 0.5).reads("This is whispered", final=False, voiced_s=0.85)
    assert ["Ducked", "WordsWanted", "Decided", "Onset"] == scene.kinds()
    scene.hears(0.9, 0.5).hears(0.8)
    turns = [note for note in scene.told(Turn) if isinstance(note, Turn)]

    assert ["TurnStarted", "TurnPaused", "TurnEnded"] == [type(note.event).__name__ for note in turns]
    assert ("", True, False) == (turns[-1].ignored, turns[-1].decided, turns[-1].own)
    assert 0.9 < turns[-1].started_at_s - ZERO_S < 1.05
    assert isinstance(turns[-1].event, TurnEnded)
    assert 1.9 < turns[-1].event.voiced_s < 2.15


def test_its_words_are_wanted_from_before_the_agent_was_turned_down() -> None:
    (wanted,) = Scene(judge=Deaf(512)).hears(1.0).hears(1.1, 0.5).told(WordsWanted)

    assert isinstance(wanted, WordsWanted)
    assert wanted.start <= 0.8 * RATE
    assert 1.75 * RATE <= wanted.end <= 2.1 * RATE
    assert 0.7 < wanted.voiced_s < 1.0


def test_a_sound_that_is_no_whisper_is_no_turn() -> None:
    scene = Scene(judge=Deaf(512)).hears(1.0).hears(1.1, 0.5).reads("", final=False).hears(2.0, 0.5).hears(1.0)

    assert ["Ducked", "WordsWanted", "Resumed", "Decided"] == scene.kinds()
    assert [] == list(scene.told(Turn))


def test_words_in_what_was_dismissed_turn_the_agent_down_and_interrupt() -> None:
    scene = Scene().hears(1.0).hears(1.5, 0.5)
    for _ in range(3):
        scene.reads("It was about", final=False, doubt=1.6)
    assert not scene.paused
    scene.hears(1.0, 0.5).reads("Could you tell me about Paris", final=False, voiced_s=2.3)

    assert ["Ducked", "Decided", "Onset"] == scene.kinds()[-3:]
    assert scene.paused


def ended(scene: Scene) -> list[Turn]:
    return [note for note in scene.told(Turn) if isinstance(note, Turn) and isinstance(note.event, TurnEnded)]


def decisions(scene: Scene) -> list[Decided]:
    return [note for note in scene.told(Decided) if isinstance(note, Decided)]


@pytest.mark.parametrize("half_duplex", [False, True])
@pytest.mark.parametrize("stopped", [False, True])
def test_an_interruption_that_goes_on_for_long_stays_one_until_its_turn_ends(half_duplex: bool, stopped: bool) -> None:
    scene = Scene()
    if half_duplex:
        scene.hearing.go_half_duplex()
    scene.hears(1.0).hears(1.0, 0.5).reads("What about Paris", final=False, voiced_s=0.9)
    scene.until_s = 0.0 if stopped else scene.until_s
    scene.hears(ACT_WITHIN_S + 1.0, 0.5).hears(0.8)

    assert [("", True, False)] == [(turn.ignored, turn.decided, turn.undecided) for turn in ended(scene)]
    assert ["interruption"] == [note.what for note in decisions(scene)]
    assert 1 == scene.kinds().count("Ducked")


def test_another_reply_takes_nothing_from_what_was_decided_about_the_voice_that_cut_the_last_one() -> None:
    scene = Scene()
    scene.hearing.go_half_duplex()
    scene.hears(1.0).hears(0.9, 0.5).reads("Stop", final=False)
    scene.generation, scene.paused = 2, False
    scene.hears(0.02).hears(0.8)

    assert [("", True)] == [(turn.ignored, turn.decided) for turn in ended(scene)]


@pytest.mark.parametrize("after_s", [0.6, 1.5])
def test_a_turn_behind_an_interruption_is_one_of_its_own(after_s: float) -> None:
    scene = Scene().hears(1.0).hears(0.5, 0.5).reads("Stop", final=False)
    scene.until_s = 0.0
    scene.hears(after_s).hears(0.5, 0.5).hears(0.8)

    assert [(True, ""), (False, "")] == [(turn.decided, turn.ignored) for turn in ended(scene)]
    assert 1 == scene.kinds().count("Ducked")
    assert "Onset" == [kind for kind in scene.kinds() if kind != "Resumed"][-1]


def test_a_decision_has_the_times_of_its_voice_also_when_the_turn_is_over() -> None:
    early = decisions(Scene().hears(1.0).hears(1.0, 0.5).reads("What about Paris", final=False, voiced_s=0.9))[0]
    late = decisions(Scene().hears(1.0).hears(0.5, 0.5).hears(0.8).reads("Paris"))[0]

    for decided, seconds in ((early, 1.0), (late, 0.5)):
        assert 1.0 == pytest.approx(decided.started_at_s - ZERO_S, abs=0.04)
        assert 1.0 + seconds == pytest.approx(decided.voiced_until_s - ZERO_S, abs=0.04)
        assert seconds == pytest.approx(decided.voiced_s, abs=0.04)


def test_two_voices_that_one_decision_is_about_are_both_in_its_times() -> None:
    scene = Scene().hears(1.0).hears(0.4, 0.5).hears(0.7).hears(0.3, 0.5).reads("And Paris")
    (decided,) = decisions(scene.hears(0.8))

    assert 1.0 == pytest.approx(decided.started_at_s - ZERO_S, abs=0.04)
    assert 2.4 == pytest.approx(decided.voiced_until_s - ZERO_S, abs=0.04)
    assert 0.7 == pytest.approx(decided.voiced_s, abs=0.06)
    assert [(False, True), (True, False)] == [(turn.decided, turn.undecided) for turn in ended(scene)]


def test_a_sound_without_a_voice_has_its_own_times() -> None:
    (decided,) = decisions(Scene(judge=Deaf(512)).hears(1.0).hears(0.06, 0.5).hears(1.0))

    assert 1.0 == pytest.approx(decided.started_at_s - ZERO_S, abs=0.02)
    assert 1.06 == pytest.approx(decided.voiced_until_s - ZERO_S, abs=0.04)
    assert 0.0 == decided.voiced_s


def test_words_after_a_dismissal_have_the_level_of_what_was_said() -> None:
    scene = Scene().hears(1.0).hears(1.5, 0.5)
    for _ in range(3):
        scene.reads("It was about", final=False, doubt=1.6)
    scene.hears(1.0, 0.5).reads("Could you tell me about Paris", final=False, voiced_s=2.3)

    assert [-6.0, -6.0] == pytest.approx([note.level_dbfs for note in decisions(scene)], abs=0.5)


@pytest.mark.parametrize("agent_until_s", [0.0, 60.0])
def test_a_turn_has_the_level_of_its_voice_and_not_of_what_came_before_or_after(agent_until_s: float) -> None:
    scene = Scene(until_s=agent_until_s).hears(0.5).hears(0.02, 1.0).hears(1.5)
    scene.echo.expected_db = -50.0
    (turn,) = ended(scene.hears(0.5, 0.1).hears(0.3).hears(0.02, 0.9).hears(0.8))

    assert -20.0 == pytest.approx(turn.level_dbfs, abs=0.5)
    assert 30.0 == pytest.approx(turn.over_echo_db, abs=0.5)


def test_a_voice_that_goes_on_and_is_ignored_again_says_so() -> None:
    scene = Scene().hears(1.0).hears(0.4, 0.5).hears(0.4).reads("Mm-hmm.").hears(0.4, 0.5).hears(0.4).reads("Mm-hmm.")
    scene.hears(1.0).hears(0.4, 0.5).hears(0.4).reads("Mm-hmm.")

    assert ["ignored"] * 3 == [note.what for note in decisions(scene)]
    assert [False, True, False] == [note.again for note in decisions(scene)]


def test_a_voice_that_was_ignored_and_interrupts_then_is_decided_anew() -> None:
    scene = Scene().hears(1.0).hears(0.4, 0.5).hears(0.3).reads("Mm-hmm.").hears(0.4, 0.5).hears(0.3).reads("But why")

    assert [("ignored", False), ("interruption", False)] == [(note.what, note.again) for note in decisions(scene)]


class Flicker(LoudIsVoice):
    """A neural detector that hears what is loud only while `on`."""

    on = False

    def probability(self, samples: Samples) -> float:
        return super().probability(samples) * self.on


def test_a_whisper_whose_turn_never_opened_is_not_taken_for_the_next_sound() -> None:
    judge = Flicker(512)
    scene = Scene(judge=judge).hears(0.5).hears(0.9, 0.3)
    judge.on = True
    scene.hears(0.064, 0.3)
    judge.on = False
    scene.hears(0.05).reads("This is older.", final=False, voiced_s=0.85, doubt=0.5).hears(2.0)
    assert 1 == sum(isinstance(note, Onset) for note in scene.told())

    scene.generation = 2
    scene.hears(1.0).hears(0.1, 0.3).hears(1.0)

    assert ["interruption", "ignored"] == [note.what for note in scene.told(Decided) if isinstance(note, Decided)]


@pytest.mark.parametrize("leaks", [True, False])
def test_the_agent_in_an_echo_that_is_still_being_learnt_does_not_turn_itself_down(leaks: bool) -> None:
    scene = Scene()
    scene.echo.leaks = lambda: leaks  # type: ignore[method-assign]
    scene.hears(1.0).hears(0.1, 0.5)

    assert leaks is not any(scene.told(Ducked))


def test_a_voice_that_goes_on_turns_it_down_all_the_same() -> None:
    scene = Scene()
    scene.echo.leaks = lambda: True  # type: ignore[method-assign]
    scene.hears(1.0).hears(0.3, 0.5)

    assert any(scene.told(Ducked))


def test_a_voice_that_the_user_s_own_device_hears_turns_the_agent_down_in_the_next_block() -> None:
    scene = Scene().hears(1.0)
    scene.hearing.prompt()
    scene.hears(0.01).hears(1.0)
    ducked, resumed, decided = scene.told()

    assert isinstance(ducked, Ducked)
    assert ducked.at_s - ZERO_S == pytest.approx(1.01)
    assert isinstance(resumed, Resumed)
    assert isinstance(decided, Decided)
    assert ("ignored", "no voice") == (decided.what, decided.why)


def test_in_half_duplex_no_prompt_turns_the_agent_down() -> None:
    scene = Scene().hears(1.0)
    scene.hearing.go_half_duplex()
    scene.hearing.prompt()

    assert [] == scene.hears(1.0).kinds()
