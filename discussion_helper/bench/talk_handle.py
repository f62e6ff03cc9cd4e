"""A handle on the talk that is measured: what it told, and what it is to do."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Condition, Thread
from types import TracebackType
from typing import Any, Self

from discussion_helper.errors import DiscussionError

__all__ = ["CHILD", "CLOSE_S", "OPEN_S", "PARTS", "WARM_S", "TalkHandle", "Told"]

CHILD = (sys.executable, "-m", "discussion_helper.bench.talk_child")
PARTS = ("listener", "responder", "voice")
OPEN_S = 60.0
"""A process starts and opens its microphone in a second or two."""
WARM_S = 120.0
CLOSE_S = 5.0


@dataclass(frozen=True, slots=True)
class Told:
    """Something that happened, at a time of the clock of `time.monotonic`."""

    kind: str
    at_s: float
    data: Mapping[str, Any]

    def means(self, kind: str, /, **data: Any) -> bool:
        """Whether it is of that kind and holds that data."""
        return self.kind == kind and all(self.data.get(key) == value for key, value in data.items())


class TalkHandle:
    """A talk with the default settings, on the devices of `environment`.

    Entered, its microphone is open and its models are loaded; left, the process is gone. What it tells, and what it
    writes to stderr, goes to the file `log`. Waiting raises DiscussionError when the talk ends.
    """

    def __init__(self, environment: Mapping[str, str], log: Path, *, command: Sequence[str] = CHILD) -> None:
        """`command` starts what speaks the protocol of `talk_child`."""
        self._command = command
        self._environment = environment
        self._log = log
        self._told: list[Told] = []
        self._changed = Condition()
        self._over = False
        self.started_s = 0.0
        """When the process was started."""

    def __enter__(self) -> Self:
        self.started_s = time.monotonic()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=dict(self._environment),
                text=True,
                start_new_session=True,  # Ctrl-C ends the bench, which then ends the talk
            )
        self._reader = Thread(target=self._read, name="bench-talk", daemon=True)
        self._reader.start()
        try:
            self.expect(lambda told: told.means("device", which="microphone", state="open"), timeout=OPEN_S)
            self.expect(lambda _: self._is_warm(), timeout=WARM_S)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def listening_s(self) -> float:
        """When its microphone was open."""
        return next(told.at_s for told in self._told if told.means("device", which="microphone", state="open"))

    @property
    def warm_s(self) -> float:
        """When all its models were loaded."""
        return max(told.at_s for told in self._told if told.kind == "warm")

    @property
    def mark(self) -> int:
        """How much was told so far."""
        return len(self._told)

    def since(self, mark: int = 0) -> list[Told]:
        """What was told from a mark on."""
        return self._told[mark:]

    @property
    def floor(self) -> str:
        """Who has the floor."""
        return next((str(t.data["floor"]) for t in reversed(self._told) if t.kind == "floor"), "idle")

    # -- orders

    def order(self, do: str, **data: str) -> None:
        """Have it do something; returns at once. Raises DiscussionError when it is gone."""
        assert self._process.stdin is not None
        try:
            print(json.dumps({"do": do, **data}), file=self._process.stdin, flush=True)
        except OSError:
            raise self._ended() from None

    def lags(self) -> list[tuple[float, float]]:
        """How late its event loop was since the last call: when, and by how much, in seconds."""
        return [(at_s, lag_s) for at_s, lag_s in self._stats()["lags"]]

    def health(self) -> Mapping[str, Any]:
        """How its audio was doing since its start: the fields of `voice.health.Health`. The lags so far are lost."""
        health: Mapping[str, Any] = self._stats()["health"]
        return health

    def _stats(self) -> Mapping[str, Any]:
        mark = self.mark
        self.order("stats")
        return self.expect(lambda told: told.kind == "stats", since=mark, timeout=5.0).data

    # -- waiting

    def expect(self, wanted: Callable[[Told], bool], *, since: int = 0, timeout: float) -> Told:
        """Wait for something. Raises DiscussionError if it does not come."""
        found = self.wait(wanted, since=since, timeout=timeout)
        if found is None:
            raise DiscussionError(f"The talk did not get there within {timeout:g} s.", fix=f"See {self._log}.")
        return found

    def wait(self, wanted: Callable[[Told], bool], *, since: int = 0, timeout: float) -> Told | None:
        """Wait for something told from the mark `since` on; None if it does not come."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                found = next((told for told in self._told[since:] if wanted(told)), None)
                if found is not None:
                    return found
                if self._over:
                    raise self._ended()
                since = len(self._told)
                if not self._changed.wait_for(partial(self._news, since), deadline - time.monotonic()):
                    return None

    def calm(self, *, quiet_s: float, reply_s: float, timeout: float) -> bool:
        """Wait until it listens and nothing happened for `quiet_s`. A reply is interrupted after `reply_s`.

        False if that takes longer than `timeout`.
        """
        deadline = time.monotonic() + timeout
        while (now := time.monotonic()) < deadline:
            mark, floor = self.mark, self._last("floor")
            limit = quiet_s
            if floor is not None and floor.data["floor"] == "speaking":
                limit = floor.at_s + reply_s - now
                if limit <= 0.0:
                    self.order("interrupt")
                    limit = 1.0
            if self.wait(lambda _: True, since=mark, timeout=limit) is None and self.floor == "listening":
                return True
        return False

    def close(self) -> None:
        """End the talk and its process. Idempotent, takes at most some seconds."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(1.0)

    def _is_warm(self) -> bool:
        return {told.data["part"] for told in self._told if told.kind == "warm"} >= set(PARTS)

    def _news(self, since: int) -> bool:
        return self._over or len(self._told) > since

    def _last(self, kind: str) -> Told | None:
        return next((told for told in reversed(self._told) if told.kind == kind), None)

    def _ended(self) -> DiscussionError:
        ended = self._last("ended")
        why = f" ({ended.data.get('error') or ended.data['reason']})" if ended else ""
        return DiscussionError(f"The talk ended{why}.", fix=f"See {self._log}.")

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines, self._log.open("a", encoding="utf-8") as log:
            for line in lines:
                log.write(line)
                told = json.loads(line)
                self._add(Told(told["kind"], told["at_s"], told["data"]))
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _add(self, told: Told) -> None:
        with self._changed:
            self._told.append(told)
            self._over = self._over or told.kind == "ended"
            self._changed.notify_all()
