"""The network of a Piper voice: how it is loaded, and how a run of it, or of its halves, is stopped."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import ModelCorrupt
from discussion_helper.telemetry import no_telemetry
from discussion_helper.tts.decoder_graph import DecoderGraph, decoder_of
from discussion_helper.tts.decoding import Decoder, Frames
from discussion_helper.tts.graph import graph_with_durations
from discussion_helper.tts.voice_files import VoiceFiles

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, RunOptions, SessionOptions
    from piper import PiperVoice

__all__ = ["Made", "Network", "Run", "Stopped", "load_voice"]

T = TypeVar("T")


_AUDIO_ALONE = 1
"""Outputs of a network that tells nothing else."""


class Stopped(Exception):
    """The run was told to stop."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a run made: the audio, and how many of its samples each phoneme id has; None where that is not known."""

    samples: Samples
    widths: NDArray[np.int64] | None


@dataclass(frozen=True, slots=True)
class Network:
    """A voice with its network loaded, and the second half of it once more, where it can be had apart."""

    voice: "PiperVoice"
    decoder: Decoder | None


class Run:
    """One use of the network, in a worker thread; `stop` may be called from any other."""

    def __init__(self) -> None:
        self._stopped = False
        self._options: RunOptions | None = None

    def stop(self) -> None:
        """End the run within milliseconds (measured 1-11), or before it begins."""
        self._stopped = True
        if self._options is not None:
            self._options.terminate = True

    async def stop_when_cancelled(self) -> None:
        """Wait for cancellation, then stop the run."""
        try:
            await anyio.sleep_forever()
        finally:
            self.stop()

    def make(self, session: "InferenceSession", inputs: dict[str, Any]) -> Made:
        """What the network makes of `inputs`, as float32. Raises Stopped."""
        audio, *more = self._ran(lambda options: session.run(None, inputs, options))
        made = np.asarray(audio).reshape(-1)
        samples = made.astype(np.float32)
        return Made(samples / np.float32(32768) if made.dtype == np.int16 else samples, _widths(more, made.size))

    def frames(self, session: "InferenceSession", inputs: dict[str, Any], decoder: Decoder) -> Frames:
        """What the first half of the network makes of `inputs`. Raises Stopped."""
        wanted = [decoder.name, session.get_outputs()[-1].name]

        def run(options: "RunOptions") -> Any:
            options.only_execute_path_to_fetches = True
            return session.run(wanted, inputs, options)

        values, widths = self._ran(run)
        return Frames(values, _widths([widths], values.shape[-1]))

    def sound(self, decoder: Decoder, frames: Frames, start: int, end: int) -> Samples:
        """The sound of these frames. Raises Stopped."""
        return self._ran(lambda options: decoder.sound(frames, start, end, options))

    def _ran(self, work: "Callable[[RunOptions], T]") -> T:
        from onnxruntime import RunOptions

        self._options = options = RunOptions()
        if self._stopped:
            raise Stopped
        try:
            return work(options)
        except Exception:
            if self._stopped:
                raise Stopped from None
            raise


def _widths(outputs: list[Any], count: int) -> NDArray[np.int64] | None:
    """Samples of each phoneme, from the frames that it lasts: all frames are equally long and make up the audio."""
    if not outputs:
        return None
    frames = np.asarray(outputs[-1]).reshape(-1)
    total = int(frames.sum())
    if total <= 0 or count % total or (frames != np.floor(frames)).any() or frames.min() < 0:
        return None
    return frames.astype(np.int64) * (count // total)


def load_voice(files: VoiceFiles, *, threads: int) -> Network:
    """The voice with its network loaded, on the CPU; it tells durations if it can. Raises ModelCorrupt."""
    no_telemetry()
    from piper import PiperConfig, PiperVoice

    try:
        config = PiperConfig.from_dict(dict(files.description))
        half = decoder_of(files.model)
        session = _session(files, threads, half)
        decoder = _decoder(half, threads) if half is not None and len(session.get_outputs()) > _AUDIO_ALONE else None
    except Exception as error:  # onnxruntime's own errors have no common base
        line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelCorrupt(f"{files.model} cannot be loaded as a voice ({line}).", fix=files.fix) from error
    return Network(PiperVoice(session=session, config=config, download_dir=files.model.parent), decoder)


def _options(threads: int) -> "SessionOptions":
    from onnxruntime import SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # threads that wait burn no core
    options.enable_mem_pattern = False  # measured: 80 MB less after a clause of 4 s, no slower
    options.log_severity_level = 3  # errors only: they are raised, too
    return options


def _decoder(half: DecoderGraph, threads: int) -> Decoder | None:
    from onnxruntime import InferenceSession

    with suppress(Exception):  # the voice speaks without it, all of a clause at once
        session = InferenceSession(half.network, sess_options=_options(threads), providers=["CPUExecutionProvider"])
        vars(session).pop("_model_bytes", None)
        return Decoder(session, half.frames)
    return None


def _session(files: VoiceFiles, threads: int, half: DecoderGraph | None) -> "InferenceSession":
    from onnxruntime import InferenceSession

    options = _options(threads)
    also = () if half is None else (half.frames.encode(),)
    graph = graph_with_durations(files.model, also=also)
    with suppress(Exception):  # onnxruntime's own errors have no common base; the file as it is may do
        if graph is not None:
            session = InferenceSession(graph, sess_options=options, providers=["CPUExecutionProvider"])
            vars(session).pop("_model_bytes", None)  # measured: 63 MB, kept only for a change of providers
            return session
    return InferenceSession(str(files.model), sess_options=options, providers=["CPUExecutionProvider"])
