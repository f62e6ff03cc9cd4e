"""Values."""

from typing import Any

import pytest

from discussion_helper.types import Conversation, Policy, SpokenSentence, TurnTiming, Utterance


def test_an_utterance_knows_its_length() -> None:
    assert 1.5 == Utterance("user", "hi", 1.0, 2.5).duration_s


def test_any_other_speaker_is_refused() -> None:
    with pytest.raises(ValueError, match="speaker: 'bot'"):
        Utterance("bot", "hi")  # type: ignore[arg-type]


def test_a_timing_names_its_slowest_stage() -> None:
    timing = TurnTiming(0.5, 0.1, 0.7004, 0.2)

    assert "think" == timing.slowest_stage
    assert {
        "endpoint_s": 0.5,
        "recognise_s": 0.1,
        "think_s": 0.7,
        "speak_s": 0.2,
        "to_first_audio_s": 1.5,
        "slowest_stage": "think",
    } == timing.as_dict()


def test_a_conversation_tells_models_what_was_heard() -> None:
    conversation = Conversation()
    conversation.add(Utterance("user", "question"))
    conversation.add(Utterance("agent", "half", interrupted=True, said="half of the answer"))
    conversation.add(Utterance("agent", "", interrupted=True, said="never heard"))
    conversation.add(Utterance("agent", "", interrupted=True))
    conversation.add(Utterance("user", "what"))

    assert [
        {"role": "user", "content": "question"},
        {"role": "assistant", "content": "half", "interrupted": True, "unheard": "of the answer"},
        {"role": "assistant", "content": "", "interrupted": True, "unheard": "never heard"},
        {"role": "user", "content": "what"},
    ] == conversation.as_messages()
    assert ("what", 1.0) == (conversation.last_user_text, conversation.interruption_rate)


def test_an_empty_conversation() -> None:
    empty = Conversation()

    assert ("", 0.0, []) == (empty.last_user_text, empty.interruption_rate, empty.as_messages())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("barge_in_grace_s", -0.1),
        ("barge_in_grace_s", float("nan")),
        ("barge_in_grace_s", "soon"),
        ("silence_timeout_s", float("inf")),
        ("silence_timeout_s", True),
        ("max_reply_sentences", -1),
        ("max_reply_sentences", 1.5),
        ("allow_barge_in", "yes"),
        ("barge_in_min_speech_s", None),
    ],
)
def test_a_policy_names_the_field_that_is_wrong(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=field):
        Policy(**{field: value})


def test_a_policy_from_outside_names_an_unknown_field() -> None:
    with pytest.raises(ValueError, match="barge_in_grace: there is no such"):
        Policy.from_mapping({"barge_in_grace": 1.0})
    assert Policy(max_reply_sentences=2) == Policy.from_mapping({"max_reply_sentences": 2})


def test_what_was_heard_of_a_sentence_is_unknown_by_default() -> None:
    assert SpokenSentence("hello").heard is None
