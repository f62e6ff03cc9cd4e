"""Free files: what is short of them says so, and nothing else does."""

import errno
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from discussion_helper.audio.devices import find_device
from discussion_helper.audio.free_files import too_few_files
from discussion_helper.audio.inbox import Inbox
from discussion_helper.audio.portaudio import PortAudioCapture
from discussion_helper.errors import DeviceError

if TYPE_CHECKING:
    from tests.audio.conftest import FakePortAudio

INVALID = -9993
"""PortAudio's code for what it cannot open together."""


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[int]]:
    """Leave so many files; gives those that are opened."""
    opened: list[int] = []
    really = os.open

    def leave(number: int) -> list[int]:
        def limited(*arguments: Any) -> int:
            if len(opened) >= number:
                raise OSError(errno.EMFILE, "Too many open files")
            opened.append(really(*arguments))
            return opened[-1]

        monkeypatch.setattr(os, "open", limited)
        return opened

    return leave


def test_where_there_are_enough_nothing_is_said() -> None:
    assert too_few_files("It failed") is None


@pytest.mark.parametrize(("number", "more"), [(0, "no more files"), (1, "only 1 more file"), (3, "only 3 more files")])
def test_where_they_are_short_that_is_said_and_none_is_kept(
    left: Callable[[int], list[int]], number: int, more: str
) -> None:
    opened = left(number)

    error = too_few_files("It failed")

    assert error is not None
    assert error.what == f"It failed, and this process may open {more}."
    assert error.fix
    assert len(opened) == number
    for descriptor in opened:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_a_device_that_cannot_be_opened_for_want_of_files(
    fake: "FakePortAudio", left: Callable[[int], list[int]]
) -> None:
    fake.add("mic", inputs=1)
    fake.refuses = lambda channels, rate: INVALID
    device = find_device(None, "input")
    left(5)  # one of which tells other programs whose microphone it is

    with pytest.raises(DeviceError, match="only 4 more files") as caught, PortAudioCapture(device, Inbox()):
        pass

    assert "another device" not in caught.value.fix


@pytest.mark.usefixtures("fake")
def test_devices_that_are_not_found_for_want_of_files(left: Callable[[int], list[int]]) -> None:
    left(2)

    with pytest.raises(DeviceError, match="No loudspeaker was found, and this process may open only 2 more files"):
        find_device(None, "output")
