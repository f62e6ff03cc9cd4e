"""H6. The event loop while real models work: measured in real time."""

from collections.abc import Callable

import anyio
import numpy as np
import pytest

from discussion_helper.audio.analysis import percentile
from discussion_helper.audio.frames import Frame
from discussion_helper.audio.resample import resample
from discussion_helper.bench.lag import LagMeter, with_missed
from discussion_helper.bench.texts import TEXTS
from discussion_helper.models import Store, load_manifest
from discussion_helper.stt.whisper import WhisperRecogniser
from discussion_helper.tts.piper import PiperSynthesiser

pytestmark = [pytest.mark.models, pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture
def anyio_backend() -> str:
    """Real time: models take some."""
    return "asyncio"


async def test_h6_a_synthesiser_and_a_recogniser_that_compute_do_not_hold_the_loop_up(
    clip: Callable[[str], Frame],
) -> None:
    """Inference off the loop: while both work for seconds, 99 of 100 wake-ups are less than 20 ms late."""
    store, manifest = Store(), load_manifest()
    synthesiser = PiperSynthesiser(store.path_of(manifest.model("joe-medium")))
    recogniser = WhisperRecogniser(store.path_of(manifest.model("tiny.en")), language="en")
    sound = clip("speech/jfk.wav")
    samples = resample(sound.samples, sound.rate, 16_000)
    await synthesiser.warmup()
    await recogniser.warmup()

    async def speak() -> None:
        for text in TEXTS[:3]:
            assert np.any((await synthesiser.synthesise(text)).samples)

    async def listen() -> None:
        for _ in range(3):
            assert (await recogniser.recognise(samples)).text

    async def late_s() -> float:
        meter = LagMeter()
        async with anyio.create_task_group() as measured:
            measured.start_soon(meter.run)
            async with anyio.create_task_group() as working:
                working.start_soon(speak)
                working.start_soon(listen)
            measured.cancel_scope.cancel()
        lags = with_missed([lag for _, lag in meter.take()])
        assert len(lags) > 50
        return percentile(lags, 99)

    rounds = [await late_s() for _ in range(3)]
    await synthesiser.aclose()
    await recogniser.aclose()

    # Other programs make a wake-up late, never early; work on the loop would show in every round.
    assert min(rounds) < 0.02, rounds
