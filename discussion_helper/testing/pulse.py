"""A private PulseAudio daemon, and its clients."""

import os
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any

from discussion_helper.errors import DeviceError

__all__ = ["PulseDaemon"]

_FIX = "On Debian: apt-get install pulseaudio pulseaudio-utils libportaudio2 libasound2-plugins."
_TOOLS = ("pulseaudio", "pactl", "pacat", "parec")
_OPTIONS = (
    "-n --daemonize=no --exit-idle-time=-1 --use-pid-file=no --log-level=info --log-target=stderr"
    " --resample-method=speex-float-5"  # where anything is resampled at all: the default costs 0.8 dB of white noise
)
# The shell reads from a pipe that only we hold. It breaks when we close it or die in any way: then the daemon goes, and
# its files, which nobody else would remove after a kill.
_WATCHED = """
files=$1; shift
pulseaudio "$@" </dev/null & daemon=$!
echo $daemon
exec 2>&-
read -r _
kill $daemon
(sleep 1; kill -9 $daemon) &
wait $daemon
rm -rf -- "$files"
"""


class PulseDaemon:
    """Runs until `stop()`, or until this process ends in any way. Works as root and without D-Bus.

    `script` is its start-up script; `{socket}` in it becomes the path to listen at. All its files are in `directory`,
    which goes with it.
    Raises DeviceError if it is not installed or does not start within 10 s; it takes about 0.2 s.
    """

    def __init__(self, script: str, directory: Path) -> None:
        missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
        if missing:
            raise DeviceError(f"Virtual devices need PulseAudio: {', '.join(missing)} was not found.", fix=_FIX)
        self.server = f"unix:{directory / 'native'}"
        # An own home: neither the user's PulseAudio settings nor their cookie play a part.
        self._own = {"HOME": str(directory), "XDG_RUNTIME_DIR": str(directory), "LC_ALL": "C"}
        self._log: deque[str] = deque(maxlen=20)
        self._settled = Event()
        self._running = False
        file = directory / "start.pa"
        file.write_text(script.format(socket=directory / "native"))
        self._shell = subprocess.Popen(
            ["sh", "-c", _WATCHED, "sh", str(directory), *_OPTIONS.split(), "-F", str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment(),
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C in the terminal is meant for the program, not for its devices
        )
        self._wait_for_start()

    def client(self, *command: str, **streams: Any) -> "subprocess.Popen[bytes]":
        """Start a program that talks to this daemon; streams that are not given are the null device."""
        null = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        return subprocess.Popen(command, env=self._environment(), start_new_session=True, **{**null, **streams})

    def control(self, *arguments: str) -> str:
        """The answer of `pactl`. Raises DeviceError if it fails or takes more than 5 s."""
        command = ["pactl", *arguments]
        try:
            answer = subprocess.run(
                command, env=self._environment(), capture_output=True, text=True, timeout=5.0, check=True
            )
        except subprocess.CalledProcessError as error:
            raise DeviceError(f"{' '.join(command)} failed: {error.stderr.strip()}") from None
        except subprocess.TimeoutExpired:
            raise DeviceError(f"{' '.join(command)} had no answer.") from None
        return answer.stdout

    def kill(self) -> None:
        """End it at once, as a crash does."""
        os.kill(self._pid, signal.SIGKILL)

    @contextmanager
    def frozen(self) -> Generator[None]:
        """It hangs as long as the block lasts."""
        os.kill(self._pid, signal.SIGSTOP)
        try:
            yield
        finally:
            with suppress(ProcessLookupError):  # it may have been ended meanwhile
                os.kill(self._pid, signal.SIGCONT)

    def stop(self) -> None:
        """End it and all that belongs to it, within 3 s. Idempotent."""
        stdin: Any = self._shell.stdin
        stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._shell.wait(2.0)
        with suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.wait(1.0)
        self._follower.join(1.0)

    def _wait_for_start(self) -> None:
        stdout: Any = self._shell.stdout
        with stdout:
            self._pid = int(stdout.readline())
        self._follower = Thread(target=self._follow, args=(self._shell.stderr,), name="pulse-log", daemon=True)
        self._follower.start()
        if not self._settled.wait(10.0) or not self._running:
            self.stop()
            raise DeviceError(f"PulseAudio did not start: {' | '.join(self._log)}", fix=_FIX)

    def _follow(self, log: IO[str]) -> None:
        """Read its log to the end, so that it never has to wait for a reader."""
        with log:
            for line in log:
                self._log.append(line.strip())
                if "startup complete" in line:
                    self._running = True
                    self._settled.set()
        self._settled.set()

    def _environment(self) -> Mapping[str, str]:
        return os.environ | self._own | {"PULSE_SERVER": self.server}
