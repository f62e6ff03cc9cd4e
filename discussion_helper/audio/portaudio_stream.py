"""A stream of PortAudio: opened at what the device takes, closed within a limit, lost in a way that is told."""

import atexit
import logging
import sys
import time
from types import TracebackType
from typing import Any, Literal, Self

from discussion_helper.audio.devices import Device, Kind, index_of
from discussion_helper.audio.free_files import too_few_files
from discussion_helper.audio.inbox import DeviceLost, Inbox
from discussion_helper.audio.portaudio_library import portaudio
from discussion_helper.audio.quiet import while_open
from discussion_helper.audio.refusals import HOST_ERROR, NO_CHANNELS, NO_RATE, refusal
from discussion_helper.audio.stream_clock import StreamClock
from discussion_helper.audio.timed import within
from discussion_helper.errors import DeviceError

__all__ = ["BLOCK_S", "LATENCY_S", "PortAudioStream"]

_log = logging.getLogger(__name__)

_RATES = (48_000, 44_100, 32_000, 16_000)
"""Tried in this order when the device's own rate is not known, or refused."""
_GUESSED_RATES = ("ALSA", "OSS", "MME", "Windows DirectSound")
"""Host APIs whose "own" rate is PortAudio's guess (44,100 wherever that is accepted) and not the device's."""
BLOCK_S = 0.010
LATENCY_S = 0.020
"""Two blocks of the microphone. With a busy process on each of two cores, output to input took 30 ms like this without
an under- or overflow. Wishing for less changes nothing, 30 ms makes it 40, 40 ms makes it 60: take more on an
overloaded machine."""
_OPEN_S = 5.0
_CLOSE_S = 1.0


class PortAudioStream:
    """One open stream. The callback runs on PortAudio's thread: it copies, puts and returns, and nothing else."""

    kind: Kind
    which: Literal["capture", "playback"]

    def __init__(self, device: Device, inbox: Inbox, *, block_s: float, latency_s: float) -> None:
        self.device = device
        self.name = device.label
        self.rate = 0
        self.channels = 0
        self.latency_s = 0.0
        self.blocks = 0
        self.overflows = 0
        self.underflows = 0
        self.hung = False
        self._inbox = inbox
        self._block_s = block_s
        self._wanted_s = latency_s
        self._clock = StreamClock(1, 0.0, 0.0)
        self._samples = 0
        self._stream: Any = None
        self._closing = False
        self._closed = False
        self._quiet = False
        self._failure = ""

    def __enter__(self) -> Self:
        try:
            self.hung = not within(_OPEN_S, self._start)
        except BaseException:
            self.close()
            raise
        if self.hung:
            self._closing = self._closed = True
            _exit_without_portaudio()
            raise DeviceError(f'"{self.name}" does not answer.', fix="Connect it anew, or choose another device.")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the device. Idempotent; one that hangs for 1 s is left to a thread of its own, and `hung` says so."""
        if self._closing:
            return
        self._closing = True
        self._drain()
        self._closed = True
        self.hung = not within(_CLOSE_S, self._release)
        if self.hung:
            _exit_without_portaudio()
            _log.warning("%s does not let itself be closed; it was left alone", self.name)

    def _drain(self) -> None:
        """Wait for what must not be lost."""

    # -- opening and closing, on a thread that may hang

    def _start(self) -> None:
        self._quiet = True
        while_open.hold()
        try:
            self._begin()
        finally:
            if self._closed:  # nobody waits for it any more
                self._release()

    def _begin(self) -> None:
        library = portaudio()
        index = index_of(self.device)
        stream = self._open(library, index)
        self.rate, self.channels, self.latency_s = round(stream.samplerate), stream.channels, stream.latency
        self._opened()
        self._stream = stream
        try:
            stream.start()
            self._clock = StreamClock(self.rate, stream.time, time.monotonic())
        except library.PortAudioError as error:
            raise self._refused(error) from error

    def _release(self) -> None:
        stream, self._stream = self._stream, None
        try:
            if stream is not None:
                stream.abort()
                stream.close()
        finally:
            if self._quiet:
                self._quiet = False
                while_open.release()

    def _open(self, library: Any, index: int) -> Any:
        """A stream with the fewest channels and the first rate that the device takes."""
        for channels in sorted({1, 2, self.device.channels(self.kind)}):
            for rate in self._rates():
                try:
                    return self._made(library, index, channels, rate)
                except library.PortAudioError as error:
                    failure = error
                if _code(failure) == NO_CHANNELS:
                    break
                if _code(failure) not in (NO_RATE, HOST_ERROR):
                    raise self._refused(failure) from failure
        raise self._refused(failure) from failure

    def _made(self, library: Any, index: int, channels: int, rate: int) -> Any:
        make = library.InputStream if self.kind == "input" else library.OutputStream
        return make(
            device=index,
            samplerate=rate,
            channels=channels,
            dtype="float32",
            blocksize=round(rate * self._block_s),
            latency=max(library.query_devices(index)[f"default_low_{self.kind}_latency"], self._wanted_s),
            callback=self._callback,
            finished_callback=self._finished,
        )

    def _rates(self) -> list[int]:
        own = [self.device.rate]
        return list(dict.fromkeys([*_RATES, *own] if self.device.host_api in _GUESSED_RATES else [*own, *_RATES]))

    def _opened(self) -> None:
        """The stream is open and its rate known; it has not been started."""

    def _refused(self, error: Exception) -> DeviceError:
        host = error.args[2][2] if len(error.args) > 2 else ""
        why = f"{error.args[0]} ({host})" if host else str(error.args[0])
        missing = too_few_files(f'"{self.name}" cannot be opened for {self.kind}: {why}')
        return missing or refusal(self.name, self.kind, why, _code(error), self._rates())

    # -- PortAudio's thread

    def _callback(self, block: Any, frames: int, times: Any, status: Any) -> None:
        now = time.monotonic()
        try:
            if self._closed:
                self._blank(block)
            else:
                self._transfer(block, frames, times, status, now)
        except Exception as error:
            self._blank(block)
            raise self._fail(error) from None

    def _transfer(self, block: Any, frames: int, times: Any, status: Any, now: float) -> None:
        """Take or fill the block; `now` is when the callback began."""
        raise NotImplementedError

    def _blank(self, block: Any) -> None:
        """Nothing is to be heard in it."""

    def _finished(self) -> None:
        if not self._closing:
            reason = f'"{self.name}" {self._failure or "stopped by itself"}'
            self._inbox.put(DeviceLost(self.which, reason, returns=not self._failure))

    def _fail(self, error: Exception) -> Exception:
        """What to raise so that the stream ends, and `_finished` tells it, without a word on stderr."""
        self._failure = f"broke off: {error!r}"
        return portaudio().CallbackAbort()  # type: ignore[no-any-return]


def _exit_without_portaudio() -> None:
    """A stream hangs: PortAudio's own clean-up when the interpreter exits would hang as well."""
    if handler := getattr(sys.modules.get("sounddevice"), "_exit_handler", None):
        atexit.unregister(handler)


def _code(error: Exception) -> int:
    return error.args[1] if len(error.args) > 1 else 0
