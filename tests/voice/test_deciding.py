"""What a voice over the agent is."""

import math
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.errors import SettingError
from discussion_helper.voice.alarms import FALSE_ALARMS
from discussion_helper.voice.deciding import (
    ASK_AGAIN,
    ASK_AT_S,
    LONG_SOUND_S,
    LONGEST_DOWN_S,
    MOST_DOWN_S,
    RESPONSE,
    SOUND_S,
    SUSTAINED_S,
    UNANSWERED_S,
    Act,
    Decider,
    Evidence,
    Verdict,
    Words,
)
from discussion_helper.voice.lexicon import Lexicon

BLOCK_S = 0.01


def decider_of(**settings: float | int) -> Decider:
    return Decider(Lexicon("en"), **settings)  # type: ignore[arg-type]


@dataclass
class Talk:
    """A microphone over an agent that speaks, block by block."""

    decider: Decider = field(default_factory=decider_of)
    at_s: float = 100.0
    voiced_s: float = 0.0
    quiet_s: float = 100.0
    own: bool = False
    audible: bool = True
    told: list[tuple[float, Verdict]] = field(default_factory=list)

    def go(self, seconds: float, *, eager: bool = False, voice: bool = False, ended: bool = False) -> "Talk":
        """So long; what was told in it is in `told`, with its time since the beginning."""
        for _ in range(round(seconds / BLOCK_S)):
            self.at_s += BLOCK_S
            self.voiced_s = 0.0 if ended else self.voiced_s + BLOCK_S * voice
            self.quiet_s = 0.0 if voice else self.quiet_s + BLOCK_S
            self._tell(self.decider.step(self._evidence(eager)))
        return self

    def says(self, text: str, *, final: bool = True, voiced_s: float | None = None, **more: Any) -> "Talk":
        words = Words(text=text, final=final, voiced_s=self.voiced_s if voiced_s is None else voiced_s, **more)
        self._tell(self.decider.words(words, at_s=self.at_s))
        return self

    def acts(self) -> list[Act]:
        return [verdict.act for _, verdict in self.told]

    @property
    def last(self) -> Verdict:
        return self.told[-1][1]

    def _evidence(self, eager: bool) -> Evidence:
        return Evidence(
            at_s=self.at_s,
            audible=self.audible or self.decider.ducked_at_s is not None,
            eager=eager,
            voiced_s=self.voiced_s,
            others_s=0.0 if self.own else self.voiced_s,
            own=self.own,
            quiet_s=self.quiet_s,
        )

    def _tell(self, verdict: Verdict | None) -> None:
        if verdict is not None:
            self.told.append((self.at_s - 100.0, verdict))


def over_the_agent(voiced_s: float, **settings: float) -> Talk:
    """Somebody has begun, spoken that long, and paused for 0.3 s."""
    talk = Talk(decider_of(**settings)).go(0.05, eager=True)
    return talk.go(voiced_s, eager=True, voice=True).go(0.3)


def test_the_agent_is_turned_down_at_the_first_sign() -> None:
    talk = Talk().go(0.5).go(0.01, eager=True)

    assert [Act.DUCK] == talk.acts()
    assert talk.told[0][0] == pytest.approx(0.51)


def test_nothing_is_turned_down_while_the_agent_is_silent() -> None:
    assert [] == Talk(audible=False).go(1.0, eager=True, voice=True).acts()


def test_who_speaks_when_the_agent_begins_turns_it_down_at_once() -> None:
    talk = Talk(audible=False).go(0.5, voice=True)
    talk.audible = True
    assert [Act.DUCK, Act.ASK] == talk.go(0.02, voice=True).acts()


@pytest.mark.parametrize("text", ["Stop.", "Oh, wait", "No!"])
def test_a_stop_word_is_an_interruption_also_alone_and_short(text: str) -> None:
    assert Verdict(Act.INTERRUPT, "a stop word") == over_the_agent(0.15, min_words=5).says(text).last


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("What about Paris?", Verdict(Act.INTERRUPT, "words")),
        ("Paris.", Verdict(Act.INTERRUPT, "words")),
        ("Yes, but Paris", Verdict(Act.INTERRUPT, "words")),
        ("Mm-hmm.", Verdict(Act.RESUME, RESPONSE)),
        ("Yeah, right.", Verdict(Act.RESUME, RESPONSE)),
        ("", Verdict(Act.RESUME, "no words")),
    ],
)
def test_words_decide_once_the_voice_has_paused(text: str, verdict: Verdict) -> None:
    assert verdict == over_the_agent(0.3).says(text).last


def test_why_a_recogniser_refused_is_told() -> None:
    assert Verdict(Act.RESUME, "no speech") == over_the_agent(0.3).says("", refused="no speech").last


def test_the_agents_own_words_are_none() -> None:
    talk = over_the_agent(0.6).says("the capital of France is stop", echo=True)

    assert Verdict(Act.RESUME, "the agent's own words") == talk.last


# F4: both settings must hold; stop words beat both.
@pytest.mark.parametrize("min_words", [1, 2, 3])
@pytest.mark.parametrize("min_speech_s", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("voiced_s", [0.3, 0.7, 1.2])
def test_enough_words_and_enough_voice_are_both_wanted(
    min_words: int, min_speech_s: float, words: int, voiced_s: float
) -> None:
    talk = over_the_agent(voiced_s, min_words=min_words, min_speech_s=min_speech_s).says("Paris " * words)
    enough = words >= min_words and voiced_s >= min_speech_s

    assert (Act.INTERRUPT if enough else Act.RESUME) is talk.last.act
    assert (
        Act.INTERRUPT is over_the_agent(voiced_s, min_words=min_words, min_speech_s=min_speech_s).says("stop").last.act
    )


def test_a_sound_without_a_voice_is_over_after_a_third_of_a_second() -> None:
    talk = Talk().go(0.05, eager=True).go(1.0)

    assert [Act.DUCK, Act.RESUME] == talk.acts()
    assert Verdict(Act.RESUME, "no voice") == talk.last
    assert talk.told[1][0] == pytest.approx(talk.told[0][0] + SOUND_S, abs=0.015)


def test_a_sound_that_goes_on_is_given_more_time_for_a_voice_to_be_heard_in_it() -> None:
    talk = Talk(decider_of(min_words=0)).go(2.0, eager=True)

    assert Verdict(Act.RESUME, "no voice") == talk.last
    assert talk.told[1][0] == pytest.approx(talk.told[0][0] + LONG_SOUND_S, abs=0.015)


def test_a_sound_in_which_the_eager_gate_hears_a_voice_all_the_time_is_asked_about_once() -> None:
    talk = Talk().go(5.0, eager=True)

    assert [Act.DUCK, Act.ASK, Act.RESUME] == talk.acts()
    assert Verdict(Act.RESUME, "no voice") == talk.last
    assert [LONG_SOUND_S, LONG_SOUND_S + UNANSWERED_S] == pytest.approx([at_s for at_s, _ in talk.told[1:]], abs=0.03)


def test_a_sound_in_which_it_hears_one_now_and_then_is_not() -> None:
    talk = Talk()
    for _ in range(10):
        talk.go(0.05, eager=True).go(0.1)

    assert [Act.DUCK, Act.RESUME] == talk.acts()[:2]


@pytest.mark.parametrize(
    ("text", "doubt", "act"),
    [
        ("This is older.", 0.85, Act.INTERRUPT),
        ("Please stop", 0.9, Act.INTERRUPT),
        ("Thank you for watching!", 1.2, Act.RESUME),
        ("Stop.", 1.0, Act.RESUME),
        ("Ha ha ha!", 0.5, Act.RESUME),
        ("", 0.0, Act.RESUME),
    ],
)
def test_a_whisper_interrupts_if_the_recogniser_is_very_sure_of_its_words(text: str, doubt: float, act: Act) -> None:
    talk = Talk().go(0.9, eager=True).says(text, final=False, doubt=doubt, voiced_s=0.85)

    assert act is talk.last.act
    assert talk.decider.unheard == (act is Act.INTERRUPT)


def test_what_the_neural_detector_hears_after_all_is_no_whisper() -> None:
    talk = Talk().go(0.85, eager=True).go(0.3, eager=True, voice=True).says("Hello", final=False, doubt=0.5)

    assert not talk.decider.unheard
    assert Act.RESUME not in talk.acts()


def test_what_was_decided_about_a_sound_is_not_about_the_turn_after_it() -> None:
    talk = Talk().go(0.05, eager=True).go(1.0)
    talk.audible = False
    talk.go(0.5, voice=True).go(0.2)

    assert talk.decider.decided is None


def test_the_agents_own_voice_is_over_as_soon_as_the_echo_of_what_was_turned_down() -> None:
    talk = Talk(own=True).go(0.05, eager=True).go(0.2, voice=True).go(0.5)

    assert Verdict(Act.RESUME, "the agent's own voice") == talk.last
    assert talk.told[1][0] <= 0.25 + 0.15 + 0.03


def test_what_was_taken_for_the_agents_voice_and_goes_on_without_it_is_somebodys() -> None:
    talk = Talk(own=True).go(0.05, eager=True).go(0.45, voice=True)
    talk.own = False

    assert Verdict(Act.INTERRUPT, "words") == talk.go(0.3, voice=True).go(0.2).says("What about Paris?").last


def test_who_goes_on_is_asked_about_three_times_and_then_is_interrupting() -> None:
    talk = Talk().go(3.0, eager=True, voice=True)

    assert [Act.DUCK, Act.ASK, Act.ASK, Act.ASK, Act.INTERRUPT] == talk.acts()
    assert [*ASK_AT_S, SUSTAINED_S] == pytest.approx([at_s for at_s, _ in talk.told[1:]], abs=0.02)


def heard_late(alone_s: float, *, audible: bool = True) -> Talk:
    """A voice that turns the agent down after half a second, for it was taken for the agent's, and goes on so long."""
    talk = Talk(own=True, audible=audible).go(0.5, voice=True)
    talk.own, talk.audible = False, True
    return talk.go(alone_s, voice=True).go(0.2)


def test_a_voice_that_stops_with_the_agent_is_the_agents() -> None:
    assert Verdict(Act.RESUME, "the agent's own voice") == heard_late(0.25).says("wipe it in up for two.").go(0.2).last


def test_not_if_it_says_stop() -> None:
    assert Verdict(Act.INTERRUPT, "a stop word") == heard_late(0.25).says("No, wait.").last


def test_what_turned_the_agent_down_at_once_is_not_of_before() -> None:
    talk = Talk()
    talk.voiced_s = 0.25
    talk.go(0.01, eager=True, voice=True).go(0.2)

    assert Verdict(Act.INTERRUPT, "words") == talk.says("Paris.").last


def test_one_that_goes_on_without_the_agent_or_began_before_it_is_somebodys() -> None:
    assert Verdict(Act.INTERRUPT, "words") == heard_late(0.4).says("What about Paris?").last
    assert Verdict(Act.INTERRUPT, "words") == heard_late(0.25, audible=False).says("What about Paris?").last


def test_a_sound_that_goes_on_without_words_is_none() -> None:
    talk = Talk()
    for _ in range(300):
        before = talk.acts().count(Act.ASK)
        talk.go(0.01, eager=True, voice=True)
        if talk.acts().count(Act.ASK) > before:
            talk.says("", final=False)

    assert (Act.RESUME, "no words in it") in [(verdict.act, verdict.why) for _, verdict in talk.told]
    assert 1 == talk.acts().count(Act.DUCK)


def dismissed() -> Talk:
    """A voice that goes on, about which three answers had no words of which the recogniser was sure."""
    talk = Talk().go(1.5, eager=True, voice=True)
    for _ in ASK_AT_S:
        talk.says("It was about the last three months.", final=False, doubt=1.58)
    return talk


def test_babble_is_over_when_the_third_answer_has_come_whatever_the_words() -> None:
    talk = dismissed()

    assert Verdict(Act.RESUME, "no words in it") == talk.last
    assert [Act.DUCK, Act.ASK, Act.ASK, Act.ASK, Act.RESUME] == talk.acts()


def test_a_voice_that_has_paused_when_the_third_answer_comes_is_judged_by_all_of_its_words() -> None:
    talk = Talk().go(1.5, eager=True, voice=True)
    for _ in ASK_AT_S[:2]:
        talk.says("De-Sest.", final=False, doubt=1.4)
    talk.go(0.2).says("De-Sest immediately, sir.", final=False, doubt=1.24)

    assert Act.RESUME not in talk.acts()
    assert Verdict(Act.INTERRUPT, "words") == talk.go(0.2).says("De-Sest immediately, sir.", doubt=1.19).last


def test_nor_does_a_pause_keep_the_agent_down_for_more_than_two_seconds() -> None:
    talk = Talk().go(1.5, eager=True, voice=True).go(0.2)
    for _ in ASK_AT_S:
        talk.says("We're not.", final=False, doubt=1.15)
    talk.go(0.5)

    assert Verdict(Act.RESUME, "no words in it") == talk.last
    assert talk.told[-1][0] == pytest.approx(LONGEST_DOWN_S + talk.told[0][0], abs=0.02)


def test_if_it_goes_on_after_all_it_holds_no_words() -> None:
    talk = Talk().go(1.5, eager=True, voice=True).go(0.2)
    for _ in ASK_AT_S:
        talk.says("It was about the last three months.", final=False, doubt=1.58)

    assert Verdict(Act.RESUME, "no words in it") == talk.go(0.05, eager=True, voice=True).last


def test_nor_is_it_turned_down_for_longer_when_the_third_answer_is_late() -> None:
    talk = Talk().go(1.0, eager=True, voice=True)
    for _ in ASK_AT_S[:2]:
        talk.says("", final=False)
    talk.go(1.0, eager=True, voice=True)

    assert Verdict(Act.RESUME, "no words in it") == talk.last
    assert talk.told[-1][0] == pytest.approx(MOST_DOWN_S + talk.told[0][0], abs=0.02)
    assert Act.INTERRUPT is talk.says("Could you tell me about Paris", final=False, doubt=0.6).last.act


def test_words_that_are_nearly_believed_are_worth_waiting_for_the_third_answer() -> None:
    talk = Talk().go(1.0, eager=True, voice=True)
    for text in ("Log it.", "Login in."):
        talk.says(text, final=False, doubt=1.1)
    talk.go(0.9, eager=True).go(0.1, eager=True, voice=True)
    assert Act.RESUME not in talk.acts()

    assert Act.INTERRUPT is talk.says("Login incorrect.", final=False, doubt=0.7).last.act


def nearly_believed() -> Talk:
    """A voice that goes on, about which three answers had words that are nearly believed."""
    talk = Talk().go(1.5, eager=True, voice=True)
    for text in ("Log it.", "Login in.", "Login incorrect."):
        talk.says(text, final=False, doubt=0.95)
    return talk


def test_words_that_are_nearly_believed_the_third_time_too_are_worth_waiting_for_a_pause_that_comes_soon() -> None:
    talk = nearly_believed().go(0.1, eager=True, voice=True).go(0.15)
    assert Act.RESUME not in talk.acts()

    assert Act.INTERRUPT is talk.says("Login incorrect.", doubt=0.95).last.act


def test_but_for_no_longer_than_anything_else() -> None:
    talk = nearly_believed().go(0.5, eager=True, voice=True)

    assert Verdict(Act.RESUME, "no words in it") == talk.last
    assert talk.told[-1][0] == pytest.approx(MOST_DOWN_S + talk.told[0][0], abs=0.02)


def test_after_that_it_is_asked_about_more_and_more_seldom_and_not_turned_down() -> None:
    talk = dismissed().go(10.0, eager=True, voice=True)
    asked = [at_s for at_s, verdict in talk.told[5:] if verdict.act is Act.ASK]

    assert [1.5 * ASK_AGAIN**n for n in (1, 2, 3, 4, 5)] == pytest.approx(asked, abs=0.05)
    assert 1 == talk.acts().count(Act.DUCK)


def test_another_sound_turns_it_down_as_little_while_that_voice_goes_on() -> None:
    talk = dismissed()
    for _ in range(3):
        talk.go(0.5, voice=True).go(0.1, eager=True, voice=True)

    assert 1 == talk.acts().count(Act.DUCK)


def test_words_still_interrupt_then() -> None:
    talk = dismissed().go(1.0, eager=True, voice=True).says("Could you tell me about Paris", final=False, doubt=0.6)

    assert Verdict(Act.INTERRUPT, "words") == talk.last


def test_but_not_when_the_voice_is_over() -> None:
    talk = dismissed().go(0.6, ended=True).says("Could you tell me about Paris", doubt=0.6)

    assert Act.INTERRUPT not in talk.acts()


def test_what_is_said_of_half_a_second_of_somebody_who_goes_on_decides_nothing_unless_it_is_a_stop_word() -> None:
    talk = Talk().go(0.5, eager=True, voice=True).says("Can I chat to you?", final=False, doubt=0.7)
    assert Act.INTERRUPT not in talk.acts()
    assert Verdict(Act.INTERRUPT, "a stop word") == talk.says("Stop", final=False, doubt=0.7).last

    later = Talk().go(0.9, eager=True, voice=True).says("Can I chat to you?", final=False, doubt=0.7)
    assert Verdict(Act.INTERRUPT, "words") == later.last


def test_a_response_of_somebody_who_goes_on_decides_nothing() -> None:
    talk = Talk().go(0.4, eager=True, voice=True).says("Yeah", final=False)

    assert Act.RESUME not in talk.acts()


def test_words_that_do_not_come_are_waited_for_no_longer_than_was_asked() -> None:
    talk = over_the_agent(0.3, resume_after_s=1.0).go(0.3).go(2.0, ended=True)

    assert Verdict(Act.RESUME, "no words in time") == talk.last
    assert talk.told[-1][0] == pytest.approx(0.35 + 1.0, abs=0.05)


def test_words_that_come_later_still_interrupt() -> None:
    talk = over_the_agent(1.3).go(2.0)
    assert Verdict(Act.RESUME, "no words in time") == talk.last
    talk.go(0.5).says("Could you tell me about Paris", doubt=0.6)

    assert Verdict(Act.INTERRUPT, "words") == talk.last


def test_words_that_come_after_the_turn_has_ended_still_decide() -> None:
    talk = over_the_agent(0.3).go(0.3).go(0.2, ended=True).says("Paris.", voiced_s=0.3)

    assert Verdict(Act.INTERRUPT, "words") == talk.last


def test_after_a_response_who_goes_on_turns_it_down_again() -> None:
    talk = over_the_agent(0.4).says("Yeah.").go(0.5, eager=True, voice=True).go(0.2).says("Yeah but Paris")

    assert [Act.DUCK, Act.ASK, Act.RESUME, Act.DUCK] == talk.acts()[:4]
    assert Act.INTERRUPT is talk.last.act


def test_what_is_heard_all_the_time_alarms_once() -> None:
    assert [Act.DUCK, Act.ASK, Act.RESUME] == Talk().go(20.0, eager=True).acts()


def test_after_three_false_alarms_only_a_voice_counts() -> None:
    talk = Talk()
    for _ in range(6):
        talk.go(0.05, eager=True).go(0.6)

    assert FALSE_ALARMS == talk.acts().count(Act.DUCK)
    assert Act.DUCK is talk.go(0.15, voice=True).last.act
    assert Act.DUCK is talk.go(0.2).says("").go(20.0, ended=True).go(0.05, eager=True).last.act


def test_without_words_enough_voice_decides() -> None:
    talk = Talk(decider_of(min_words=0)).go(0.3, eager=True, voice=True)

    assert [Act.DUCK, Act.INTERRUPT] == talk.acts()
    assert Verdict(Act.INTERRUPT, "voice") == talk.last
    assert talk.told[1][0] == pytest.approx(0.13, abs=0.011)


def test_words_that_nobody_asked_for_change_nothing() -> None:
    assert [] == Talk().go(0.5).says("Stop everything now").acts()


@pytest.mark.parametrize("min_speech_s", [0.0, -1.0, float("nan")])
def test_a_length_that_is_none_is_refused(min_speech_s: float) -> None:
    with pytest.raises(SettingError, match="min_speech_s"):
        decider_of(min_speech_s=min_speech_s)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"min_words": value} for value in (-1, 21, 1.5, True, "x")),
        *({"resume_after_s": value} for value in (math.nan, math.inf, -0.1, 61.0, "x")),
    ],
)
def test_what_no_policy_can_ask_for_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=f"{next(iter(wrong))}: .* is out of range"):
        decider_of(**wrong)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("go"), st.integers(1, 60), st.booleans(), st.booleans()),
        st.tuples(st.just("says"), st.sampled_from(["", "yeah", "stop", "what is it"]), st.booleans(), st.booleans()),
    ),
    max_size=40,
)


@given(STEPS)
@settings(max_examples=150)
def test_whatever_happens_it_is_turned_down_and_decided_in_turn_and_never_for_long(steps: list[tuple]) -> None:  # type: ignore[type-arg]
    talk = Talk()
    for step in steps:
        if step[0] == "go":
            talk.go(step[1] * BLOCK_S, eager=step[2], voice=step[3])
        else:
            talk.says(step[1], final=step[2], echo=step[3])
        if talk.told and talk.last.act is Act.INTERRUPT:
            talk.decider.forget()  # the reply was stopped
    talk.go(5.0, ended=True)
    told = [(at_s, verdict.act) for at_s, verdict in talk.told if verdict.act is not Act.ASK]
    # Words in what was dismissed interrupt at once: nothing was turned down for them.
    late = [n for n in range(1, len(told)) if told[n][1] is Act.INTERRUPT and told[n - 1][1] is not Act.DUCK]
    told = [it for n, it in enumerate(told) if n not in late]
    acts = [act for _, act in told]

    assert acts[0::2] == [Act.DUCK] * len(acts[0::2])
    assert Act.DUCK not in acts[1::2]
    assert 0 == len(acts) % 2
    for (ducked_s, _), (decided_s, _) in zip(told[0::2], told[1::2], strict=True):
        assert decided_s - ducked_s <= 40 * 0.6 + 2.5


def test_what_was_read_at_the_beginning_of_a_pause_dismisses_nobody_who_goes_on() -> None:
    """The recogniser begins after 0.05 s of silence: a gap between two words."""
    talk = Talk().go(0.05, eager=True).go(0.35, eager=True, voice=True).go(0.08).says("Mm-hm.", doubt=0.5)
    assert [Act.DUCK] == talk.acts()

    talk.go(0.3, eager=True, voice=True).go(0.08).says("Mm-hm, but where?", doubt=0.5)
    assert [Act.DUCK, Act.INTERRUPT] == [act for act in talk.acts() if act is not Act.ASK]


@pytest.mark.parametrize(("text", "why"), [("Mm-hm.", RESPONSE), ("", "more words than voice")])
def test_it_does_once_the_pause_has_lasted(text: str, why: str) -> None:
    talk = Talk().go(0.05, eager=True).go(0.35, eager=True, voice=True).go(0.08).says(text, refused=why)
    assert 1 == len(talk.go(0.2).told)
    assert Verdict(Act.RESUME, why) == talk.go(0.03).last
    assert 2 == len(talk.acts())


def test_a_short_pause_at_the_end_of_the_longest_time_is_not_waited_for() -> None:
    talk = Talk().go(0.05, eager=True).go(MOST_DOWN_S - 0.1, eager=True, voice=True).go(0.06).says("Hm", doubt=9.0)
    talk.go(0.01).says("Hm", doubt=9.0)
    assert Act.RESUME is talk.go(0.05).last.act
    assert talk.told[-1][0] < LONGEST_DOWN_S
