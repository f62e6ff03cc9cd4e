"""The course of a talk that was opened, from its start to its end."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

import anyio

from discussion_helper.commands.screen import complain
from discussion_helper.commands.talk_face import Face
from discussion_helper.commands.talk_files import FOLLOWED, RecordedTurns
from discussion_helper.commands.talk_grants import Grants
from discussion_helper.commands.talk_leaving import Leaving
from discussion_helper.commands.talk_summary import summary
from discussion_helper.commands.talk_wishes import Wishes
from discussion_helper.commands.wrap import printable
from discussion_helper.errors import DiscussionError, RecogniserError
from discussion_helper.event_loop import start_in
from discussion_helper.events import Event, Subscription
from discussion_helper.settings import Settings

if TYPE_CHECKING:
    from discussion_helper.app import Talk
    from discussion_helper.recorder.talk_recording import TalkRecording

__all__ = ["CLOSE_LIMIT_S", "TalkCourse"]

CLOSE_LIMIT_S = 1.0
"""How long a listener that was heard to its end may take to close; then the talk is stopped."""


class TalkCourse:
    """A talk from its start to its end."""

    def __init__(self, talk: "Talk", face: Face, wishes: Wishes) -> None:
        self._talk = talk
        self._session = talk.session
        self._face = face
        self._grants = Grants(talk.session, face, wishes)
        self._understood: int | None = None

    async def hold(
        self, settings: Settings, suggest: Callable[[Settings], Awaitable[str]] | None, leaving: Leaving
    ) -> None:
        """Hold the talk to its end. Raises what it failed with, after everything was told."""
        events = self._session.events("*")
        before = await anyio.to_thread.run_sync(_stamp, settings)
        leaving.begin(partial(self._leave, settings, before))
        try:
            async with anyio.create_task_group() as tasks:
                start_in(tasks, self._face.run)
                start_in(tasks, self._grants.run)
                if self._talk.files is not None:
                    start_in(tasks, self._say_recordings, settings, self._session.events(*FOLLOWED))
                if self._talk.recording is not None:
                    start_in(tasks, self._tell_trouble, self._talk.recording)
                self._session.start()
                if suggest is not None:
                    start_in(tasks, self._tell_suggestion, suggest, settings)
                await self._follow(events)
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self._session.stop()
                await self._follow(events)
                await anyio.to_thread.run_sync(leaving.say)
        await self._check(settings)

    async def _follow(self, events: Subscription[Event]) -> None:
        async for event in events:
            self._face.take(event)

    def _leave(self, settings: Settings, before: tuple[int, int] | None) -> None:
        """Blocks while it writes; the clock of the process's end may be the one that does."""
        written = _stamp(settings) not in (None, before)
        where = f" The recording is {settings.output}." if written else ""
        self._grants.tell_unsaid()
        for line in [*self._face.farewell(), summary(self._session) + where]:
            complain(line)

    async def _check(self, settings: Settings) -> None:
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
            if settings.policy.turn_policy == "wake_word":
                fix = f"Have them say {settings.policy.wake_word} before anything else, or add --open-microphone."
            raise RecogniserError("Nothing was understood in the recordings.", fix=fix)

    # -- beside

    async def _say_recordings(self, settings: Settings, events: Subscription[Event]) -> None:
        assert self._talk.files is not None
        names = [path.name for path in settings.inputs]
        heard_out = self._talk.heard_out
        turns = RecordedTurns(self._talk.files, names, events, self._face.tell, heard_out=heard_out)
        self._understood = await turns.hold()
        await self._finish()

    async def _finish(self) -> None:
        """Have the session end by itself, as finished: its listener has nothing more to say."""
        with anyio.move_on_after(CLOSE_LIMIT_S) as limit:
            await self._session.discussion.listener.aclose()
        if limit.cancelled_caught:
            await self._session.stop()

    async def _tell_suggestion(self, suggest: Callable[[Settings], Awaitable[str]], settings: Settings) -> None:
        if text := await suggest(settings):
            self._face.tell(text)

    async def _tell_trouble(self, recording: "TalkRecording") -> None:
        self._face.tell(await recording.trouble())


def _stamp(settings: Settings) -> tuple[int, int] | None:
    """Of the recording: another one after a talk says that something of the talk is in it."""
    if settings.output is None:
        return None
    try:
        found = settings.output.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
