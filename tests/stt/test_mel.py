"""Log-mel spectra."""

import subprocess
import sys

import numpy as np
import pytest

from discussion_helper.stt.mel import LogMel


@pytest.mark.parametrize("mels", [80, 128])
@pytest.mark.parametrize("samples", [1_600, 16_123, 27 * 16_000])
def test_they_are_those_of_the_library(mels: int, samples: int) -> None:
    from faster_whisper.feature_extractor import FeatureExtractor

    noise = np.random.default_rng(0).normal(0, 0.1, samples).astype(np.float32)
    noise[: samples // 3] = 0.0
    found, expected = LogMel(mels)(noise), FeatureExtractor(feature_size=mels)(noise)

    assert found.dtype == np.float32
    assert found.shape == expected.shape == (mels, 1 + samples // 160)
    assert np.abs(found - expected).max() < 1e-5


def test_no_other_thread_works() -> None:
    """In a process of its own, because a thread that BLAS woke before would still be spinning."""
    program = """
import time
import numpy as np
from discussion_helper.stt.mel import LogMel
mel, samples = LogMel(80), np.ones(64_000, np.float32)
mel(samples)
process, thread = time.process_time(), time.thread_time()
for _ in range(50):
    mel(samples)
print((time.process_time() - process) / (time.thread_time() - thread))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert float(done.stdout) < 1.2
