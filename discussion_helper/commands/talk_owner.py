"""The owner of a talk: it opens it, follows it, and leaves nothing of it behind."""

import statistics
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import anyio

from discussion_helper.background import unwrapped
from discussion_helper.commands.ending import HANGUP, Ending, LastResort
from discussion_helper.commands.screen import complain
from discussion_helper.commands.talk_files import FOLLOWED, RecordedTurns
from discussion_helper.commands.talk_json import Document
from discussion_helper.commands.talk_wishes import Interrupt, Mute, Say, Suspend, Wish, Wishes
from discussion_helper.commands.wrap import printable
from discussion_helper.errors import DiscussionError, RecogniserError
from discussion_helper.events import Event, Subscription
from discussion_helper.parts import Mutable
from discussion_helper.session import Session
from discussion_helper.settings import Settings

if TYPE_CHECKING:
    from discussion_helper.app import Talk
    from discussion_helper.recorder.talk_recording import TalkRecording

__all__ = ["Face", "FaceOf", "Opener", "Plan", "TalkOwner"]

_SAY_LIMIT_S = 1.0
"""How long a typed turn may wait for room among those that wait for an answer."""
_CLOSE_LIMIT_S = 1.0
"""How long a listener that was heard to its end may take to close; then the talk is stopped."""
_NOT_SPEAKING = "Nothing to interrupt: the agent is not speaking."

Opener = Callable[[Settings], AbstractAsyncContextManager["Talk"]]


class Face(Protocol):
    """What the person sees."""

    def take(self, event: Event) -> None:
        """Follow one event."""
        ...

    def tell(self, text: str) -> None:
        """Say something about the talk."""
        ...

    def note(self, text: str) -> None:
        """Say something that matters for a moment only."""
        ...

    def left_out(self, text: str, why: str) -> None:
        """Tell why a typed turn is not answered."""
        ...

    async def run(self) -> None:
        """Take what the person wants; may return before the talk ends."""
        ...

    async def suspend(self) -> None:
        """Give the terminal back and stop the process; return when it goes on."""
        ...

    def farewell(self) -> list[str]:
        """Lines to leave behind on stderr after the talk."""
        ...


FaceOf = Callable[[Wishes, Callable[[int], None]], Face]
"""Makes a face, from where its wishes go and from what ends the talk with an exit code."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What talk to hold, and what to tell about it at its start."""

    settings: Settings
    remarks: tuple[str, ...] = ()


class TalkOwner:
    """Holds one talk. Everything that the talk needs runs as its tasks."""

    def __init__(
        self,
        opener: Opener,
        face_of: FaceOf,
        document: Document,
        last_resort: LastResort,
        *,
        suggest: Callable[[Settings], Awaitable[str]] | None = None,
    ) -> None:
        """`suggest` looks for something worth telling beside the talk; "" for nothing."""
        self._opener = opener
        self._face_of = face_of
        self._document = document
        self._last_resort = last_resort
        self._suggest = suggest

    async def hold(self, make_plan: Callable[[], Plan]) -> int:
        """Hold the talk to its end; the exit code. `make_plan` may block.

        Raises DiscussionError, after the document was printed, unless the person ended the talk first.
        """
        ending = Ending(self._last_resort)
        try:
            await self._hold(make_plan, ending)
        except Exception as error:
            failure = unwrapped(error)
            if ending.code is None:
                raise failure from None
            if ending.code != HANGUP:  # then nobody is there, and that is the failure
                complain(f"discussion-helper: {failure}")
        return ending.code or int(self._document.lost)

    async def _hold(self, make_plan: Callable[[], Plan], ending: Ending) -> None:
        async with anyio.create_task_group() as tasks:
            await tasks.start(ending.watch_signals)
            try:
                with ending.scope:
                    plan = await anyio.to_thread.run_sync(make_plan)
                    complain("Getting ready ...")
                    await self._open(plan, ending.begin)
            finally:
                self._document.print()
            tasks.cancel_scope.cancel()

    async def _open(self, plan: Plan, end: Callable[[int], None]) -> None:
        async with self._opener(plan.settings) as talk:
            self._document.session = talk.session
            wishes = Wishes()
            face = self._face_of(wishes, end)
            for remark in (*plan.remarks, _introduction(talk)):
                face.tell(remark)
            await anyio.lowlevel.checkpoint_if_cancelled()
            await _Conversing(talk, face, wishes).hold(plan.settings, self._suggest, self._document)


class _Conversing:
    """A talk from its start to its end."""

    def __init__(self, talk: "Talk", face: Face, wishes: Wishes) -> None:
        self._talk = talk
        self._session = talk.session
        self._face = face
        self._wishes = wishes
        self._understood: int | None = None
        self._saying: Say | None = None
        """The typed turn that waits for room."""

    async def hold(
        self, settings: Settings, suggest: Callable[[Settings], Awaitable[str]] | None, document: Document
    ) -> None:
        events = self._session.events("*")
        before = await _stamp(settings)
        written = False
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._face.run)
                tasks.start_soon(self._obey)
                if self._talk.files is not None:
                    tasks.start_soon(self._say_recordings, settings, self._session.events(*FOLLOWED))
                if self._talk.recording is not None:
                    tasks.start_soon(self._tell_trouble, self._talk.recording)
                self._session.start()
                if suggest is not None:
                    tasks.start_soon(self._tell_suggestion, suggest, settings)
                await self._follow(events)
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self._session.stop()
                await self._follow(events)
                written = await _stamp(settings) != before
            self._tell_unsaid()
            document.print()
            self._leave(f" The recording is {settings.output}." if written else "")
        await self._check()

    async def _follow(self, events: Subscription[Event]) -> None:
        async for event in events:
            self._face.take(event)

    def _leave(self, where: str) -> None:
        for line in [*self._face.farewell(), _summary(self._session) + where]:
            complain(line)

    async def _check(self) -> None:
        """Raises what the talk failed with."""
        try:
            await self._session.wait()
        except DiscussionError:
            raise
        except Exception as error:
            reason = printable(str(error)).strip() or type(error).__name__
            raise DiscussionError(f"The talk failed: {reason}.") from error
        if self._understood == 0:
            fix = "Check that they hold speech in the language of --language."
            raise RecogniserError("Nothing was understood in the recordings.", fix=fix)

    # -- beside

    async def _say_recordings(self, settings: Settings, events: Subscription[Event]) -> None:
        assert self._talk.files is not None
        names = [path.name for path in settings.inputs]
        self._understood = await RecordedTurns(self._talk.files, names, events, self._face.tell).hold()
        await self._finish()

    async def _finish(self) -> None:
        """Have the session end by itself, as finished: its listener has nothing more to say."""
        with anyio.move_on_after(_CLOSE_LIMIT_S) as limit:
            await self._session.discussion.listener.aclose()
        if limit.cancelled_caught:
            await self._session.stop()

    async def _tell_suggestion(self, suggest: Callable[[Settings], Awaitable[str]], settings: Settings) -> None:
        if text := await suggest(settings):
            self._face.tell(text)

    async def _tell_trouble(self, recording: "TalkRecording") -> None:
        self._face.tell(await recording.trouble())

    async def _obey(self) -> None:
        while True:
            try:
                await self._grant(await self._wishes.next())
            except (DiscussionError, RuntimeError) as refused:
                self._face.tell(str(refused))

    async def _grant(self, wish: Wish) -> None:
        match wish:
            case Interrupt():
                if not await self._session.interrupt():
                    self._face.note(_NOT_SPEAKING)
            case Mute(on):
                await self._session.mute(on)
            case Say():
                await self._say(wish)
            case Suspend(muted):
                await self._suspend(muted=muted)

    async def _say(self, wish: Say) -> None:
        self._saying = wish
        try:
            with anyio.fail_after(None if wish.waits else _SAY_LIMIT_S):
                await self._session.say(wish.text)
        except TimeoutError:
            self._face.left_out(wish.text, "Too many turns wait for an answer; this one was left out")
        except RuntimeError as refused:
            self._face.left_out(wish.text, f"Not said, for {refused}")
        self._saying = None

    def _tell_unsaid(self) -> None:
        """What was typed and did not get into the talk before its end."""
        for wish in (self._saying, *self._wishes.rest()):
            if isinstance(wish, Say):
                self._face.left_out(wish.text, "Not said")

    async def _suspend(self, *, muted: bool) -> None:
        """Nothing is heard and said meanwhile: the microphone is closed, and the reply is cut."""
        closes = not muted and isinstance(self._session.discussion.listener, Mutable)
        await self._session.interrupt()
        if closes:
            await self._session.mute(True)
        await self._face.suspend()
        if closes:
            await self._session.mute(False)


async def _stamp(settings: Settings) -> tuple[int, int] | None:
    """Of the recording: another one after a talk says that something of the talk is in it."""
    if settings.output is None:
        return None
    try:
        found = await anyio.Path(settings.output).stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _introduction(talk: "Talk") -> str:
    where = f"Microphone: {talk.microphone}. Loudspeaker: {talk.loudspeaker}. Answers come from {talk.responder}."
    return where if talk.recording is None else f"{where} {_recorded(talk.recording)}"


def _recorded(recording: "TalkRecording") -> str:
    kept = f"its last {recording.to.minutes:g} minutes are kept"
    return f"All that is heard and said is recorded in {recording.to.folder}; {kept}."


def _summary(session: Session) -> str:
    """The talk in one line."""
    state = session.state
    waits = [timing["to_first_audio_s"] for timing in state["timings"]]
    if not waits:
        return "No answers."
    wait = f"median wait {statistics.median(waits):.2f} s"
    return f"Answers: {len(waits)}, {wait}, interrupted {state['interruption_rate']:.0%}."
