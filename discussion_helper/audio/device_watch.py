"""A watch on the devices of this machine, which disturbs no stream."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import isfinite

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from discussion_helper.audio.device_lister import LOOK_S
from discussion_helper.audio.devices import Device

__all__ = ["watch_devices"]

_log = logging.getLogger(__name__)

_LONGEST = 1_000_000
"""Bytes of a list: thousands of devices."""
_FLAGS = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)


async def watch_devices(tell: Callable[[Sequence[Device]], object], *, look_s: float = LOOK_S) -> None:
    """Tell the list of devices, at first and whenever it changes, until this is cancelled.

    A child process looks every `look_s` seconds; it ends with this call, or with this process, however that ends.
    Returns when nothing can be watched here: a program goes on without.
    """
    # -P: nothing in the folder it happens to be started in takes the place of a module.
    command = [sys.executable, "-P", "-m", "discussion_helper.audio.device_lister", str(look_s)]
    try:
        process = await anyio.open_process(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=_FLAGS,
            start_new_session=True,  # Ctrl-C in the terminal is meant for the program, which ends this one
        )
    except (OSError, NotImplementedError, ValueError) as error:  # ValueError: a program without an interpreter
        _log.info("The devices cannot be watched: %s", error)
        return
    try:
        await _follow(process, tell)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        with anyio.CancelScope(shield=True), anyio.move_on_after(1.0):
            await process.aclose()
    _log.info("The devices are not watched any more")


async def _follow(process: anyio.abc.Process, tell: Callable[[Sequence[Device]], object]) -> None:
    assert process.stdout is not None
    lines = BufferedByteReceiveStream(process.stdout)
    with suppress(anyio.IncompleteRead, anyio.DelimiterNotFound, anyio.EndOfStream, anyio.BrokenResourceError):
        while True:
            line = await lines.receive_until(b"\n", _LONGEST)
            if (devices := _devices(line)) is not None:
                tell(devices)


def _devices(line: bytes) -> list[Device] | None:
    """What a line says; None for one that is not ours."""
    try:
        devices = [Device(**values) for values in json.loads(line)]
    except (ValueError, TypeError):
        return None
    return devices if all(isfinite(device.rate) for device in devices) else None
