"""C libraries that write to stderr, and who may go on writing there."""

import ctypes
import sys
from threading import Thread

import pytest

from discussion_helper.audio.quiet import QuietLibraries, silence_portaudio

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there it cannot be told to PortAudio itself")


def complain(text: str) -> None:
    """What PortAudio does."""
    library = ctypes.CDLL(None)
    library.fputs(f"{text}\n".encode(), ctypes.c_void_p.in_dll(library, "stderr"))


def test_libraries_are_quiet_while_it_is_held_and_python_is_not(capfd: pytest.CaptureFixture[str]) -> None:
    quiet = QuietLibraries()

    quiet.hold()
    complain("Expression 'r' failed")
    sys.__stderr__.write("an error of ours\n")  # type: ignore[union-attr]
    sys.__stderr__.flush()  # type: ignore[union-attr]
    quiet.release()
    complain("abort")

    assert capfd.readouterr().err == "an error of ours\nabort\n"


def test_the_last_of_many_holders_ends_it(capfd: pytest.CaptureFixture[str]) -> None:
    quiet = QuietLibraries()
    for _ in range(3):
        quiet.hold()

    helpers = [Thread(target=quiet.release) for _ in range(2)]
    for helper in helpers:
        helper.start()
    for helper in helpers:
        helper.join()
    complain("too early")
    quiet.release()
    complain("again")
    quiet.hold()
    complain("not any more")
    quiet.release()

    assert capfd.readouterr().err == "again\n"


def test_whoever_holds_it_off_knows_whether_it_is_held(capfd: pytest.CaptureFixture[str]) -> None:
    quiet = QuietLibraries()
    with quiet.held_off() as free:
        assert free
        complain("of JACK")
        holder = Thread(target=quiet.hold)
        holder.start()
        assert not quiet._holders
    holder.join()
    with quiet.held_off() as free:
        assert not free
    quiet.release()

    assert capfd.readouterr().err == ""


def test_a_library_that_cannot_be_told_is_no_error() -> None:
    silence_portaudio("libc.so.6")
    silence_portaudio("no such library")
