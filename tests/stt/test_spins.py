"""Whichever part loads the recogniser's library first, its threads spin as briefly as they were measured with."""

import os
import subprocess
import sys

import pytest

from discussion_helper.audio.spinning import READING_SPINS

_TELLS = """
import os
import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "ctranslate2":
            print(os.environ.get("GOMP_SPINCOUNT"))


sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize(
    "loads",
    [
        "from discussion_helper.stt.mel import LogMel; LogMel(80)",  # as the model of the end of a turn does
        "from discussion_helper.doctor import _module; _module('faster_whisper')",
    ],
)
def test_the_threads_of_the_recogniser_spin_briefly(loads: str) -> None:
    usual = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    command = [sys.executable, "-c", _TELLS + loads]
    done = subprocess.run(command, env=usual, capture_output=True, text=True, timeout=50.0, check=True)

    assert f"{READING_SPINS}\n" == done.stdout
