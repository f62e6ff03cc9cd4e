"""The ports of a discussion: who listens, who answers, who speaks.

Beside its methods any part may have

* `async warmup()`: load what the first turn would have to load (bounded by the loop, beside listening);
* `attach(reporter)`: called once before anything else; gives the session's clock and a way to report fine events.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol, runtime_checkable

from discussion_helper.errors import SettingError
from discussion_helper.types import Message, SpokenSentence, Utterance

__all__ = [
    "Anticipates",
    "Attachable",
    "Audible",
    "Committed",
    "CutsText",
    "Listener",
    "LooksAhead",
    "Mutable",
    "Remembers",
    "Reopens",
    "Reporter",
    "Responder",
    "Speculates",
    "TalkKey",
    "Thread",
    "Voice",
    "WarmsUp",
    "check_parts",
]


@runtime_checkable
class Listener(Protocol):
    """Hears the user."""

    def utterances(self) -> AsyncIterator[Utterance]:
        """Finished user turns in order; asked for the next one only when the floor is free again.

        An utterance without text says that something was heard that held no words.
        """
        ...

    async def speech_started(self) -> None:
        """Return when the user begins, or is, speaking. One that cannot tell never returns (half duplex)."""
        ...

    async def aclose(self) -> None:
        """Release the microphone; idempotent."""
        ...


@runtime_checkable
class Reopens(Protocol):
    """A listener that can take back the end of the turn which it gave last."""

    async def resumed(self) -> None:
        """Return when the user speaks again after that turn, or does so already; not for the agent's own voice."""
        ...

    def reopen(self, *, within_s: float) -> bool:
        """The user goes on with that turn, with what is being said now, if that began within so long after its end.

        The next utterance is then all of it (`SpokenUtterance.revises`); one without text, or none, says that nothing
        was added. False: what is being said is another turn, or there is none.
        """
        ...


@runtime_checkable
class Responder(Protocol):
    """Answers."""

    def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """One speakable sentence or clause per item. Closing the iterator cancels the request."""
        ...

    async def aclose(self) -> None:
        """Release the model or connection; idempotent."""
        ...


@runtime_checkable
class Anticipates(Protocol):
    """A responder that can get ready for a turn that is probably over, as by reading it."""

    async def anticipate(self, messages: Sequence[Message]) -> None:
        """The next call of `reply` will probably be with these messages; returns when it is ready for it.

        Cancelled when the user has said something else. `reply` may be called while it runs.
        """
        ...


class Committed(Protocol):
    """Tells a responder that was asked ahead of time whether the turn is over, as it was thought."""

    def is_set(self) -> bool:
        """It is."""
        ...

    async def wait(self) -> None:
        """Return once it is."""
        ...


@runtime_checkable
class Speculates(Protocol):
    """A responder that may be asked about a turn which is only probably over. One without this method never is."""

    def speculate(self, messages: Sequence[Message], committed: Committed) -> AsyncIterator[str]:
        """As `reply`, once at a time; what it gives is said after `committed` was set, if it ever is.

        Before that nothing may happen that could be noticed or that lasts: a tool is called, something stored or told
        only after `await committed.wait()`. Closed before: the user went on, and all of it was for nothing.
        """
        ...


@runtime_checkable
class Voice(Protocol):
    """Speaks."""

    async def speak(self, sentence: str) -> SpokenSentence:
        """Say one sentence; returns when its last sample has left the device, or at once when stopped."""
        ...

    async def stop(self) -> None:
        """Silence now: what is queued is discarded, never drained. A pending `speak` returns with `cut=True`.

        Idempotent, safe when idle.
        """
        ...

    async def aclose(self) -> None:
        """Release the loudspeaker; idempotent."""
        ...


@runtime_checkable
class WarmsUp(Protocol):
    """A part that has something to load."""

    async def warmup(self) -> None:
        """Load it."""
        ...


@runtime_checkable
class LooksAhead(Protocol):
    """A voice that can get the next sentence ready while one plays."""

    async def prepare(self, sentence: str) -> None:
        """The next call of `speak` will be for `sentence`; returns when it is ready. `stop` discards it.

        Cancelling it cancels the work. It never makes a sound by itself before `speak` is called for it,
        unless the sentence before it has been handed over whole. It may be called for the first sentence of a reply
        that may never come: another call takes the place of one that was not spoken, and so does another sentence.
        """
        ...


@runtime_checkable
class CutsText(Protocol):
    """A voice that speaks a long text sooner, and goes on nearer to where it was cut, when it gets it in pieces."""

    def clauses(self, text: str) -> list[str]:
        """The text in pieces for `speak`, in order; together they are the text."""
        ...


@runtime_checkable
class Audible(Protocol):
    """A voice that knows when it is heard."""

    async def audible(self) -> None:
        """Return when the first sample of what is being spoken has left the device."""
        ...


@runtime_checkable
class Mutable(Protocol):
    """A listener that can be told not to listen."""

    async def mute(self, on: bool) -> None:
        """Close the device, or open it again."""
        ...


@runtime_checkable
class TalkKey(Protocol):
    """A listener that hears what is said while a key is pressed."""

    async def press(self) -> None:
        """It goes down. Raises RuntimeError where nothing can be heard."""
        ...

    async def release(self) -> None:
        """It comes up; nothing when it is up. Raises RuntimeError where there is no such key."""
        ...


class Reporter(Protocol):
    """What a part gets from its session."""

    def now(self) -> float:
        """Seconds since the session started."""
        ...

    def of(self, monotonic_s: float) -> float:
        """A time of the event loop's clock on the session's clock."""
        ...

    def report(self, kind: str, /, **data: Any) -> None:
        """Publish one fine event; from the event loop's thread alone."""
        ...


@runtime_checkable
class Attachable(Protocol):
    """A part that wants its session's clock, or has something to report."""

    def attach(self, reporter: Reporter) -> None:
        """Called once, before the part is used."""
        ...


class Thread(Protocol):
    """Where a session's turns are stored, in order."""

    async def append(self, utterance: Utterance) -> None:
        """Store one turn durably: the user's before it is answered, the agent's when it is over.

        A SpokenUtterance that `revises` another takes the place of that, and of replies to it that nobody heard.
        """
        ...


@runtime_checkable
class Remembers(Protocol):
    """A thread that holds more than one session's turns: the responder is given what is in it."""

    def messages(self) -> list[Message]:
        """All of them so far, in order."""
        ...


_METHODS = {
    "listener": ("utterances", "speech_started", "aclose"),
    "responder": ("reply", "aclose"),
    "voice": ("speak", "stop", "aclose"),
    "thread": ("append",),
}


def check_parts(**parts: object) -> None:
    """Whether each can be what its name says. Raises SettingError naming the methods one lacks."""
    for name, part in parts.items():
        missing = [method for method in _METHODS[name] if not callable(getattr(part, method, None))]
        if missing:
            what = f"{name}: {type(part).__name__} has no {', '.join(missing)}."
            raise SettingError(what, fix=f"Use an object with the methods {', '.join(_METHODS[name])}.")
