"""The network of a Piper voice: how it is loaded, and how a run of it is stopped."""

from typing import TYPE_CHECKING, Any

import anyio
import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import ModelCorrupt
from discussion_helper.tts.voice_files import VoiceFiles

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, RunOptions
    from piper import PiperVoice

__all__ = ["Run", "Stopped", "load_voice"]


class Stopped(Exception):
    """The run was told to stop."""


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

    def audio(self, session: "InferenceSession", inputs: dict[str, Any]) -> Samples:
        """What the network makes of `inputs`, as float32. Raises Stopped."""
        from onnxruntime import RunOptions

        self._options = self._options or RunOptions()
        if self._stopped:
            raise Stopped
        try:
            made = np.asarray(session.run(None, inputs, self._options)[0]).reshape(-1)
        except Exception:
            if self._stopped:
                raise Stopped from None
            raise
        samples = made.astype(np.float32)
        return samples / np.float32(32768) if made.dtype == np.int16 else samples


def load_voice(files: VoiceFiles, *, threads: int) -> "PiperVoice":
    """The voice with its network loaded, on the CPU. Raises ModelCorrupt."""
    from onnxruntime import InferenceSession, SessionOptions
    from piper import PiperConfig, PiperVoice

    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # threads that wait burn no core
    options.enable_mem_pattern = False  # measured: 80 MB less after a clause of 4 s, no slower
    options.log_severity_level = 3  # errors only: they are raised, too
    try:
        config = PiperConfig.from_dict(dict(files.description))
        session = InferenceSession(str(files.model), sess_options=options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors have no common base
        line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelCorrupt(f"{files.model} cannot be loaded as a voice ({line}).", fix=files.fix) from error
    return PiperVoice(session=session, config=config, download_dir=files.model.parent)
