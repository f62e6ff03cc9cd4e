"""Whole talks with a policy at its limits: what a policy takes, every part takes."""

from dataclasses import fields
from typing import Any

import pytest

from discussion_helper.policy import LEAST_RAMP_S, LEAST_SPEECH_S, MOST_RAMP_S, MOST_SPEECH_S
from discussion_helper.testing import EchoResponder
from discussion_helper.testing.room import After, CutSynthesiser, Room, cheap_detectors, speech_like
from discussion_helper.types import Policy

pytestmark = pytest.mark.anyio

EXTREMES: dict[str, tuple[Any, ...]] = {
    "allow_barge_in": (False, True),
    "barge_in_grace_s": (0, 10.0),
    "max_reply_sentences": (0, 10_000),
    "silence_timeout_s": (0, 1e-300, 86_400.0),
    "reopen_s": (0, 1e-300, 5.0),
    "speculate": (False, True),
    "say_not_understood": (False, True),
    "barge_in_min_speech_s": (LEAST_SPEECH_S, MOST_SPEECH_S),
    "barge_in_resume_after_s": (0, 1e-300, 60.0),
    "barge_in_ramp_s": (LEAST_RAMP_S, MOST_RAMP_S),
    "barge_in_min_words": (0, 20),
    "barge_in_backchannels": ([], ["x" * 60] * 200, ["待" * 60]),
    "barge_in_stop_words": ([], ["x" * 60] * 200, ["待" * 60]),
    "turn_policy": ("open",),  # the others need a key, or a word: tests/voice/test_push_to_talk.py, test_wake_word.py
    "wake_word": ("x", "y" * 100),
    "follow_up_s": (0, 60.0),
}
STORY, MORE = (speech_like(2.0, 48_000, seed=seed) for seed in (7, 8))


def test_every_field_is_tried() -> None:
    assert set(EXTREMES) == {field.name for field in fields(Policy)}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in EXTREMES.items() for value in values])
async def test_a_talk_stands_on_every_policy_that_is_accepted(name: str, value: Any) -> None:
    async with Room(detectors=cheap_detectors) as room:
        session = room.session(
            responder=EchoResponder(sentences=2),
            recogniser=room.recogniser(),
            synthesiser=CutSynthesiser(),
            policy=Policy(**{name: value}),
        ).start()
        room.say(STORY, at_s=0.5, text="tell me a story")
        room.say(MORE, after=After("reply", plus_s=0.5), text="that is enough of it now")
        await room.until(lambda: session.ended or room.now_s > 8.0)
        reason = session.discussion.reason
        conversation = await session.stop()

    if value == 1e-300 and name == "silence_timeout_s":
        assert "silence" == reason
    else:
        assert "" == reason  # it went on until it was stopped
        said = [turn.text for turn in conversation.utterances]
        # who went on with the first turn has it behind what was heard of the answer
        assert any(text.startswith("tell me a story") for text in said[:2])
        assert all(said[:2])
