"""Both detectors keep every rule of their port."""

from collections.abc import Callable

import pytest

from discussion_helper.testing.conformance import check_detector
from discussion_helper.vad.base import Detector
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector


@pytest.mark.anyio
@pytest.mark.parametrize("make", [WebRtcDetector, SileroDetector])
async def test_a_detector_conforms(make: Callable[[], Detector]) -> None:
    report = await check_detector(make)
    assert () == report.unchecked
