"""The microphone and the loudspeaker of this machine, through PortAudio."""

import atexit
import logging
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np

from discussion_helper.audio.devices import Device, Kind, index_of, portaudio
from discussion_helper.audio.frames import Frame
from discussion_helper.audio.free_files import too_few_files
from discussion_helper.audio.inbox import Captured, DeviceLost, Inbox, Played
from discussion_helper.audio.owned import microphones
from discussion_helper.audio.playback import Playback
from discussion_helper.audio.quiet import while_open
from discussion_helper.audio.refusals import HOST_ERROR, NO_CHANNELS, NO_RATE, refusal
from discussion_helper.audio.rendering import Rendering
from discussion_helper.audio.stream_clock import StreamClock
from discussion_helper.audio.timed import within
from discussion_helper.errors import DeviceError

__all__ = ["LATENCY_S", "PortAudioCapture", "PortAudioPlayback"]

_log = logging.getLogger(__name__)

_RATES = (48_000, 44_100, 32_000, 16_000)
"""Tried in this order when the device's own rate is not known, or refused."""
_GUESSED_RATES = ("ALSA", "OSS", "MME", "Windows DirectSound")
"""Host APIs whose "own" rate is PortAudio's guess (44,100 wherever that is accepted) and not the device's."""
_BLOCK_S = 0.010
LATENCY_S = 0.020
"""Two blocks. With a busy process on each of two cores, output to input took 30 ms like this without an under- or
overflow. Wishing for less changes nothing, 30 ms makes it 40, 40 ms makes it 60: take more on an overloaded machine."""
_OPEN_S = 5.0
_CLOSE_S = 1.0
_MAX_LOST_S = 10.0
_DRAIN_S = 0.6
"""Beyond the latency of any device that a talk is possible with; Bluetooth takes 0.1 to 0.3 s."""
_MARGIN_S = 0.03
"""By so much the times of a stream may be early."""


class _Stream:
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
        make = library.InputStream if self.kind == "input" else library.OutputStream
        low = library.query_devices(index)[f"default_low_{self.kind}_latency"]
        for channels in sorted({1, 2, self.device.channels(self.kind)}):
            for rate in self._rates():
                try:
                    return make(
                        device=index,
                        samplerate=rate,
                        channels=channels,
                        dtype="float32",
                        blocksize=round(rate * self._block_s),
                        latency=max(low, self._wanted_s),
                        callback=self._callback,
                        finished_callback=self._finished,
                    )
                except library.PortAudioError as error:
                    failure = error
                if _code(failure) == NO_CHANNELS:
                    break
                if _code(failure) not in (NO_RATE, HOST_ERROR):
                    raise self._refused(failure) from failure
        raise self._refused(failure) from failure

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
        raise NotImplementedError

    def _finished(self) -> None:
        if not self._closing:
            reason = f'"{self.name}" {self._failure or "stopped by itself"}'
            self._inbox.put(DeviceLost(self.which, reason, returns=not self._failure))

    def _fail(self, error: Exception) -> Exception:
        """What to raise so that the stream ends, and `_finished` tells it, without a word on stderr."""
        self._failure = f"broke off: {error!r}"
        return portaudio().CallbackAbort()  # type: ignore[no-any-return]


class PortAudioCapture(_Stream):
    """A microphone that puts a `Captured` into the inbox every `block_s` seconds, from entering to `close()`.

    More channels than one are averaged. `rate` is known once it is entered: the device's own, or else the first that
    it takes. It has one owner in this process. Samples that were lost show as a jump of the frames' `start`, and
    `overflows` counts the losses. A stream that ends by itself puts one `DeviceLost`.

    Entering waits for the device, 5 s at most, so do it on a worker thread. It raises DeviceError.
    """

    kind = "input"
    which = "capture"

    def __init__(
        self, device: Device, inbox: Inbox, *, block_s: float = _BLOCK_S, latency_s: float = LATENCY_S
    ) -> None:
        super().__init__(device, inbox, block_s=block_s, latency_s=latency_s)
        self._expected = 0.0
        self._is_owner = False

    def __enter__(self) -> Self:
        microphones.take(self.name)
        self._is_owner = True
        try:
            return super().__enter__()
        except BaseException:
            self._give_up()
            raise

    def close(self) -> None:
        """Close the device; another may open it then. Idempotent, takes at most 1 s."""
        super().close()
        self._give_up()

    def _give_up(self) -> None:
        if self._is_owner:
            self._is_owner = False
            microphones.release(self.name)

    def _callback(self, block: Any, frames: int, times: Any, status: Any) -> None:
        if self._closed:
            return
        now = time.monotonic()
        try:
            adc = times.inputBufferAdcTime
            if status and status.input_overflow:
                self._skip(adc)
            samples = block[:, 0].copy() if self.channels == 1 else block.mean(axis=1, dtype=np.float32)
            frame = Frame(samples, self.rate, self._samples)
            at_s = self._clock.at(frame.start, adc, times.currentTime, now, usual=-self.latency_s)
            self._samples += frames
            self._expected = adc + frames / self.rate
            self.blocks += 1
            self._inbox.put(Captured(frame, at_s))
        except Exception as error:
            raise self._fail(error) from None

    def _skip(self, adc: float) -> None:
        """Samples were lost: as many as the device's clock went on without us, if it says anything sensible."""
        self.overflows += 1
        lost = adc - self._expected
        if self._expected and self._block_s / 2 < lost < _MAX_LOST_S:
            self._samples += round(lost * self.rate)
        self._clock.restart()


class PortAudioPlayback(_Stream):
    """A loudspeaker that renders a `Playback`, and puts a `Played` for each block that had something of a reply in it.

    Give the `Playback`, or what makes one from the device's rate. One whose rate the device refuses is converted on
    the way; see `Rendering`, also for `prime_s`. All channels play the same. `playback` and `rate` are known once it is
    entered. `underflows` counts blocks that came too late. A stream that ends by itself puts one `DeviceLost`.

    Entering waits for the device, 5 s at most, so do it on a worker thread. It raises DeviceError.
    """

    kind = "output"
    which = "playback"

    def __init__(
        self,
        device: Device,
        playback: Playback | Callable[[int], Playback],
        inbox: Inbox,
        *,
        block_s: float = _BLOCK_S,
        latency_s: float = LATENCY_S,
        prime_s: float = 0.0,
    ) -> None:
        super().__init__(device, inbox, block_s=block_s, latency_s=latency_s)
        self._given = playback
        self._prime_s = prime_s
        self._sounds_until = 0.0

    def close(self) -> None:
        """Close the device once what it was handed is heard, or at once if the reply was halted. Idempotent.

        Takes the device's latency, 0.6 s at most, and then at most 1 s.
        """
        super().close()

    def _drain(self) -> None:
        limit = time.monotonic() + _DRAIN_S
        if self._sounds_until + _MARGIN_S <= time.monotonic() or self.playback.is_cut:
            return
        self._rendering.finish()
        time.sleep(2 * self._block_s)  # the blocks that lead down to silence
        time.sleep(max(0.0, min(self._sounds_until + _MARGIN_S, limit) - time.monotonic()))

    def _rates(self) -> list[int]:
        wanted = [self._given.rate] if isinstance(self._given, Playback) else []
        return list(dict.fromkeys([*wanted, *super()._rates()]))

    def _opened(self) -> None:
        self.playback = self._given if isinstance(self._given, Playback) else self._given(self.rate)
        self._rendering = Rendering(self.playback, self.rate, prime_s=self._prime_s)

    def _callback(self, block: Any, frames: int, times: Any, status: Any) -> None:
        if self._closed:
            block.fill(0.0)
            return
        now = time.monotonic()
        try:
            if status and status.output_underflow:
                self.underflows += 1
                self._clock.restart()
            samples = np.empty(frames, np.float32)
            position = self._rendering.render(samples)
            block[:] = samples[:, np.newaxis]
            dac, start = times.outputBufferDacTime, self._samples
            at_s = self._clock.at(start, dac, times.currentTime, now, usual=self.latency_s)
            self._samples += frames
            if samples.any():
                self._sounds_until = max(at_s, now + self.latency_s) + frames / self.rate
            if position is not None:
                self._inbox.put(Played(Frame(samples, self.rate, start), at_s, position))
            self.blocks += 1
        except Exception as error:
            block.fill(0.0)
            raise self._fail(error) from None


def _exit_without_portaudio() -> None:
    """A stream hangs: PortAudio's own clean-up when the interpreter exits would hang as well."""
    if handler := getattr(sys.modules.get("sounddevice"), "_exit_handler", None):
        atexit.unregister(handler)


def _code(error: Exception) -> int:
    return error.args[1] if len(error.args) > 1 else 0
