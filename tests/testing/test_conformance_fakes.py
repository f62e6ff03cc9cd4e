"""The public fakes keep every rule of their ports."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.testing.conformance import (
    Limits,
    Report,
    check_detector,
    check_listener,
    check_recogniser,
    check_responder,
    check_synthesiser,
    check_voice,
)
from discussion_helper.testing.room import CutSynthesiser, KnownSound, MatchingRecogniser, ScriptedRecogniser
from discussion_helper.testing.room.detectors import LevelDetector

pytestmark = pytest.mark.anyio

BUSY = Limits(blocked_s=5.0)
"""They compute on the event loop, where time stands still."""
VOICE = np.full(8_000, 0.1, np.float32)
SOUND = KnownSound("hello", np.resize(np.hanning(800), 16_000).astype(np.float32))
UNCHECKED = {"dead-is-told", "slow-can-be-left", "anticipation-can-be-left", "mutes-and-opens", "prepared-is-spoken"}

FAKES: dict[str, Callable[[], Any]] = {
    "the silent voice": lambda: check_voice(lambda: SilentVoice(0.2, 0.05), limits=BUSY),
    "the scripted listener": lambda: check_listener(lambda: ScriptedListener(["hello"], pace_s=0.1), limits=BUSY),
    "one that waits": lambda: check_listener(lambda: ScriptedListener(["hello"], stays_open=True), limits=BUSY),
    "the echo": lambda: check_responder(lambda: EchoResponder(2, 0.001), says="Hello? Hello? (2)", limits=BUSY),
    "cut speech": lambda: check_synthesiser(lambda: CutSynthesiser(rate=8_000, voice=VOICE, delay_s=0.01), limits=BUSY),
    "a script": lambda: check_recogniser(lambda: ScriptedRecogniser(delay_s=0.01), limits=BUSY),
    "known sounds": lambda: check_recogniser(lambda: MatchingRecogniser(lambda: [SOUND], delay_s=0.01), limits=BUSY),
    "the level": lambda: check_detector(LevelDetector),
}


@pytest.mark.parametrize("fake", FAKES)
async def test_a_public_fake_conforms(fake: str) -> None:
    report: Report = await FAKES[fake]()

    assert {finding.rule.name.partition(".")[2] for finding in report.unchecked} <= UNCHECKED
    assert len(report.kept) > 7
