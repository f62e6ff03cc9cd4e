"""The voice on a loudspeaker keeps every rule of its port."""

from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from discussion_helper.errors import DeviceError
from discussion_helper.testing.conformance import Limits, check_voice
from discussion_helper.voice.speaker import SpeakerVoice

pytestmark = pytest.mark.anyio


async def test_the_speaker_conforms(loudspeaker: Callable[[], Any], synthesiser: Any) -> None:
    async with loudspeaker() as device:

        def made(takes_s: float = 0.1) -> SpeakerVoice:
            tones = type(synthesiser)(seconds=0.5, takes_s=takes_s)
            return SpeakerVoice(tones, device.playback, device.marks, close=anyio.lowlevel.checkpoint)

        def lost() -> SpeakerVoice:
            voice = made()
            voice.fail(DeviceError("The loudspeaker is gone.", fix="Plug it in."))
            return voice

        limits = Limits(blocked_s=5.0)
        report = await check_voice(made, make_dead=lost, make_slow=lambda: made(60.0), limits=limits)

    assert () == report.unchecked
