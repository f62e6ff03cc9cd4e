"""A policy: what it takes, what it refuses, and that it agrees with what stands on it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.audio.playback import Playback
from discussion_helper.errors import SettingError
from discussion_helper.policy import LEAST_RAMP_S, LEAST_SPEECH_S, MOST_RAMP_S, MOST_SPEECH_S, Policy
from discussion_helper.voice.barge_in import OnsetRule
from discussion_helper.voice.lexicon import Lexicon

PHRASES = "barge_in_backchannels", "barge_in_stop_words"


@pytest.mark.parametrize("seconds", [0, 0.0, -1.0, 1e-7, 0.009, 5.01, float("nan"), True, "1"])
def test_no_voice_at_all_is_no_interruption_to_a_policy_nor_to_the_rule(seconds: Any) -> None:
    with pytest.raises(SettingError, match=r"barge_in_min_speech_s: .* Use seconds from 0.01 to 5"):
        Policy(barge_in_min_speech_s=seconds)
    with pytest.raises(SettingError, match=r"min_speech_s: .* Use seconds from 0.01 to 5"):
        OnsetRule(min_speech_s=seconds)


@pytest.mark.parametrize("seconds", [LEAST_SPEECH_S, MOST_SPEECH_S])
def test_silence_is_no_interruption_whatever_the_policy_allows(seconds: float) -> None:
    rule = OnsetRule(min_speech_s=Policy(barge_in_min_speech_s=seconds).barge_in_min_speech_s)

    assert not rule.step(0.0)
    assert rule.step(seconds)


@pytest.mark.parametrize("seconds", [0, 0.0099, 0.101, -0.02, float("nan"), True, "0.02"])
def test_a_ramp_that_clicks_or_lasts_is_refused(seconds: Any) -> None:
    with pytest.raises(SettingError, match=r"barge_in_ramp_s: .* Use seconds from 0.01 to 0.1"):
        Policy(barge_in_ramp_s=seconds)


@pytest.mark.parametrize("seconds", [LEAST_RAMP_S, MOST_RAMP_S])
@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
def test_a_ramp_of_the_policy_is_one_of_the_playback(seconds: float, rate: int) -> None:
    Playback(rate).set_ramp(Policy(barge_in_ramp_s=seconds).barge_in_ramp_s)


@pytest.mark.parametrize("phrase", ["!!!", "💥", "_", "\u0301", "...", "\u200d"])
@pytest.mark.parametrize("field", PHRASES)
def test_a_phrase_that_nobody_can_say_is_refused_by_its_field(field: str, phrase: str) -> None:
    with pytest.raises(SettingError, match=f"{field}: .* a letter or a digit"):
        Policy(**{field: ["well", phrase]})  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=f"{field.removeprefix('barge_in_')}: .* a letter or a digit"):
        Lexicon("en", **{field.removeprefix("barge_in_"): ["well", phrase]})


@pytest.mark.parametrize(
    "phrase",
    [
        "ちょっと待ってくださいよ",
        "一二三四五六七八九十一二三四五六七八九十",
        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
        "no no no no no no no no no no no no no no no no no no no no",
        "㍿" * 60,
        "½",
        "42",
    ],
)
def test_a_long_phrase_is_found_as_well_as_a_short_one(phrase: str) -> None:
    policy = Policy(barge_in_stop_words=(phrase,), barge_in_backchannels=(f"{phrase} {phrase}"[:60],))

    stops = Lexicon("en", stop_words=policy.barge_in_stop_words)
    assert stops.stops(phrase)
    assert stops.stops(f"Well, {phrase}!")
    assert stops.only_stops(phrase)
    response = Lexicon("en", backchannels=policy.barge_in_backchannels)
    assert response.is_backchannel(policy.barge_in_backchannels[0])
    assert 0 == response.count(policy.barge_in_backchannels[0])


@given(st.text(min_size=1, max_size=60))
def test_a_policy_takes_those_phrases_that_are_found(phrase: str) -> None:
    def accepted(field: str) -> bool:
        try:
            Policy(**{field: (phrase,)})  # type: ignore[arg-type]
        except SettingError:
            return False
        return True

    if accepted("barge_in_stop_words"):
        assert Lexicon("en", stop_words=[phrase]).stops(phrase)
    if accepted("barge_in_backchannels"):
        assert Lexicon("en", backchannels=[phrase]).is_backchannel(phrase)
