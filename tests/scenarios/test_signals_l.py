"""L3: a signal ends a real talk on the virtual devices, and the next program has the microphone."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from subprocess import PIPE
from threading import Timer
from typing import Any

import pytest

from discussion_helper.testing.virtual_devices import VirtualDevices

pytestmark = [pytest.mark.devices, pytest.mark.models, pytest.mark.timeout(120)]

LIMIT_S = 2.0
PATIENCE_S = 60.0
"""Until the models are loaded and the first answer is heard, on a busy machine."""
NEXT = """
from discussion_helper.audio.devices import find_device
from discussion_helper.audio.inbox import Captured, Inbox
from discussion_helper.audio.portaudio import PortAudioCapture

inbox = Inbox()
with PortAudioCapture(find_device(None, "input"), inbox):
    assert isinstance(inbox.get(timeout=5.0), Captured)
print("heard")
"""


@pytest.fixture(scope="module")
def devices() -> Iterator[VirtualDevices]:
    """A microphone in a quiet room, and a loudspeaker."""
    with VirtualDevices(room_dbfs=-70.0) as found:
        yield found


def talking(devices: VirtualDevices) -> subprocess.Popen[str]:
    """`talk`, as from a shell without a terminal."""
    command = [sys.executable, "-m", "discussion_helper", "talk", "--json"]
    environment = {**os.environ, **devices.environment()}
    return subprocess.Popen(command, env=environment, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True, bufsize=1)


def until(process: subprocess.Popen[str], *wanted: str) -> None:
    """Read what it tells until each of these was told, in any order."""
    left, told = set(wanted), []
    assert process.stderr is not None
    patience = Timer(PATIENCE_S, process.kill)
    patience.start()
    try:
        while left:
            told.append(process.stderr.readline())
            assert told[-1], f"{left} never came after:\n{''.join(told)}"
            left -= {text for text in left if text in told[-1]}
    finally:
        patience.cancel()


def document_after(process: subprocess.Popen[str], number: signal.Signals) -> tuple[dict[str, Any], float]:
    """Send it, wait for the end; what is on stdout, and how long it took."""
    began = time.monotonic()
    process.send_signal(number)
    process.wait(PATIENCE_S)
    took_s = time.monotonic() - began
    output, errors = process.communicate()

    assert "Traceback" not in errors
    return json.loads(output), took_s


def assert_microphone_is_free(devices: VirtualDevices) -> None:
    """Another process opens it, and hears something."""
    environment = {**os.environ, **devices.environment()}
    command = [sys.executable, "-c", NEXT]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    assert found.stdout == "heard\n", found.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_l3_a_signal_while_it_listens(devices: VirtualDevices, number: signal.Signals, code: int) -> None:
    """Exit within 2 s, and the microphone is released."""
    with talking(devices) as process:
        until(process, "floor: listening", "which=microphone  state=open")
        document, took_s = document_after(process, number)

    assert (code, []) == (process.returncode, document["utterances"])
    assert took_s <= LIMIT_S
    assert_microphone_is_free(devices)


def test_l3_ctrl_c_while_it_speaks(devices: VirtualDevices) -> None:
    """Exit within 2 s; what was heard is in the transcript, and the microphone is released."""
    with talking(devices) as process:
        until(process, "which=microphone  state=open")
        with devices.record(limit_s=120.0) as recording:
            assert process.stdin is not None
            process.stdin.write("Tell me a story about the sea.\n")
            until(process, "floor: speaking")
            assert recording.wait(lambda it: it.first_audible("loudspeaker") is not None, timeout=PATIENCE_S)
            first = recording.first_audible("loudspeaker") or 0
            assert recording.wait(lambda it: len(it) >= first + 48_000, timeout=PATIENCE_S)
            document, took_s = document_after(process, signal.SIGINT)
    asked, answer = document["utterances"]

    assert (130, "user", "agent") == (process.returncode, asked["speaker"], answer["speaker"])
    assert took_s <= LIMIT_S
    assert answer["interrupted"]
    assert 1 <= len(re.findall(r"\S+", answer["text"])) < len(re.findall(r"\S+", answer["said"]))
    assert_microphone_is_free(devices)
