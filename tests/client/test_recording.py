"""A recording in the place of a microphone."""

from contextlib import aclosing
from pathlib import Path

import anyio
import numpy as np
import pytest
import soundfile

from discussion_helper.client.recording import recorded
from discussion_helper.errors import AudioFileError

pytestmark = pytest.mark.anyio
RATE = 8_000


async def test_blocks_come_as_time_passes_and_silence_for_ever_behind_them(tmp_path: Path) -> None:
    file = tmp_path / "half.wav"
    soundfile.write(file, np.full(2010, 0.5), RATE)
    blocks = []
    async with aclosing(recorded(file, rate=RATE, pause_s=0.1)) as microphone:
        blocks.append(await anext(microphone))
        began_s = anyio.current_time()
        while len(blocks) < 30:
            blocks.append(await anext(microphone))
        took_s = anyio.current_time() - began_s
    samples = np.concatenate(blocks)

    assert {160} == {len(block) for block in blocks}
    assert np.float32 == samples.dtype
    assert took_s > 28 * 0.02
    assert (0.0, 0.0) == (abs(samples[:800]).max(), abs(samples[2810:]).max())
    assert np.allclose(0.5, samples[800:2810], atol=1e-3)


async def test_what_is_no_recording_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match="nofile"):
        await anext(recorded(tmp_path / "nofile.wav", rate=RATE))
