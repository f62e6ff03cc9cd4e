"""The devices as a new process sees them, again and again: what `device_watch` starts.

PortAudio reads the list of devices once, and again only after all streams of its process were closed. So a process
that has none looks, and prints one line of JSON whenever something is different.
"""

import json
import os
import sys
import time
from dataclasses import asdict
from threading import Thread

from discussion_helper.audio.devices import list_devices
from discussion_helper.audio.portaudio_library import refresh
from discussion_helper.errors import DeviceError

__all__ = ["LOOK_S", "main"]

LOOK_S = 2.0
"""Between two looks: so soon after a plug a person tries again."""
_SHARE = 50.0
"""Where a look takes long, the pause is as many times longer, so that looking costs 2 % of a core at most..."""
_LONGEST_S = 10.0
"""...but not longer than this: a slow machine gets its headset as well."""


def main(look_s: float = LOOK_S) -> None:
    """Look and print, until standard input ends: that is when the process that started it is gone, in whatever way."""
    Thread(target=_end_with_parent, name="parent", daemon=True).start()
    _looked()  # which loads the library: that takes longer than a look
    before = ""
    while True:
        began = time.monotonic()
        line = _looked()
        if line and line != before:
            print(line, flush=True)
            before = line
        time.sleep(max(look_s, min(_LONGEST_S, _SHARE * (time.monotonic() - began))))


def _looked() -> str:
    """All devices in one line; "" when the sound system does not answer."""
    try:
        refresh()
        return json.dumps([asdict(device) for device in list_devices()])
    except DeviceError:
        return ""


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)  # whatever the sound system is doing


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
