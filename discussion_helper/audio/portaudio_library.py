"""The library PortAudio: loaded at its first use, and made to look for devices anew."""

import importlib
import sys
from collections.abc import Callable
from typing import Any

from discussion_helper.audio.free_files import too_few_files
from discussion_helper.audio.quiet import silence_alsa, silence_portaudio, while_open
from discussion_helper.audio.spinning import brief_spins
from discussion_helper.audio.system_fix import system_fix
from discussion_helper.audio.timed import within
from discussion_helper.errors import DeviceError

__all__ = ["portaudio", "refresh", "refresh_if_unused"]

_LIBRARY_FIX = {
    "linux": "Install it; on Debian: apt-get install libportaudio2.",
    "": "It comes with sounddevice: pip install --force-reinstall sounddevice.",
}
_SYSTEM_FIX = {
    "darwin": "Restart it: sudo killall coreaudiod.",
    "win32": "Restart the service Windows Audio.",
    "": "Restart it, for example: systemctl --user restart pipewire pulseaudio.",
}
_START_S = 10.0


def portaudio() -> Any:
    """The module `sounddevice`; the first call loads and initialises PortAudio, in 10 s at most. Raises DeviceError.

    Meanwhile ALSA and JACK complain on stderr about every device they do not find. `sounddevice` keeps that away
    itself, by pointing stderr elsewhere as long as the initialisation lasts.
    """
    first = "sounddevice" not in sys.modules
    try:
        with brief_spins():  # its sound servers may load OpenMP, as which the language model's threads then wait
            answered = within(_START_S, lambda: importlib.import_module("sounddevice"))
    except OSError as error:
        missing = DeviceError("The library PortAudio is missing.", fix=system_fix(_LIBRARY_FIX))
        raise too_few_files("The library PortAudio cannot be loaded") or missing from error
    except Exception as error:  # PortAudio's own error: its class cannot be imported without it
        raise DeviceError(f"PortAudio cannot be used: {error}.", fix=system_fix(_LIBRARY_FIX)) from error
    if not answered:
        raise DeviceError("The sound system does not answer.", fix=system_fix(_SYSTEM_FIX))
    library = sys.modules["sounddevice"]
    if first:
        silence_alsa()
        silence_portaudio(getattr(library, "_libname", ""))
    return library


def refresh() -> None:
    """Let PortAudio look for devices anew. Every open stream dies: close them first. Raises DeviceError."""
    _look_again(lambda library: library._initialize())


def refresh_if_unused() -> bool:
    """Let PortAudio look for devices anew, unless a stream of this process is open or hangs. Raises DeviceError.

    Done while a talk goes on: nothing that anybody writes to stderr meanwhile is lost.
    """
    with while_open.held_off() as unused:
        if unused:
            _look_again(_initialize_beside_others)
    return unused


def _look_again(initialize: Callable[[Any], object]) -> None:
    loaded = "sounddevice" in sys.modules
    library = portaudio()

    def look() -> None:
        library._terminate()
        initialize(library)

    try:
        answered = not loaded or within(_START_S, look)  # what was not loaded has just looked
    except library.PortAudioError as error:
        raise DeviceError(f"PortAudio cannot start again: {error}.", fix=system_fix(_SYSTEM_FIX)) from error
    if not answered:
        raise DeviceError("The sound system does not answer.", fix=system_fix(_SYSTEM_FIX))


def _initialize_beside_others(library: Any) -> None:
    """What `library._initialize` does, but for pointing descriptor 2 of the whole process elsewhere meanwhile."""
    if sys.platform != "linux" or not hasattr(library, "_lib"):
        library._initialize()
        return
    library._check(library._lib.Pa_Initialize(), "Error initializing PortAudio")
    library._initialized += 1
