"""The owner of a talk: it opens it, follows it, and leaves nothing of it behind."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

import anyio

from discussion_helper.commands.ending import LastResort
from discussion_helper.commands.held import held
from discussion_helper.commands.screen import complain
from discussion_helper.commands.talk_course import TalkCourse
from discussion_helper.commands.talk_face import FaceOf
from discussion_helper.commands.talk_leaving import Leaving
from discussion_helper.commands.talk_plan import Plan
from discussion_helper.commands.talk_summary import introduction
from discussion_helper.commands.talk_thread import past_of
from discussion_helper.commands.talk_wishes import Wishes
from discussion_helper.event_loop import start_in
from discussion_helper.settings import Settings

if TYPE_CHECKING:
    from discussion_helper.app import Talk

__all__ = ["PATIENCE_S", "Opener", "TalkOwner"]

PATIENCE_S = 1.0
"""What is refused is refused sooner, on a machine that is not busy: then nothing gets ready."""

Opener = Callable[[Settings], AbstractAsyncContextManager["Talk"]]


class TalkOwner:
    """Holds one talk. Everything that the talk needs runs as its tasks."""

    def __init__(
        self,
        opener: Opener,
        face_of: FaceOf,
        leaving: Leaving,
        last_resort: LastResort,
        *,
        suggest: Callable[[Settings], Awaitable[str]] | None = None,
    ) -> None:
        """`suggest` looks for something worth telling beside the talk; "" for nothing."""
        self._opener = opener
        self._face_of = face_of
        self._leaving = leaving
        self._document = leaving.document
        self._last_resort = last_resort
        self._suggest = suggest

    async def hold(self, make_plan: Callable[[], Plan]) -> int:
        """Hold the talk to its end; the exit code. `make_plan` may block.

        Raises DiscussionError, after the document was printed, unless the person ended the talk first.
        """

        async def work(end: Callable[[int], None]) -> None:
            try:
                plan = await anyio.to_thread.run_sync(make_plan)
                await self._open(plan, end)
            finally:
                self._document.print()

        return await held(work, self._last_resort) or self._document.lost

    async def _open(self, plan: Plan, end: Callable[[int], None]) -> None:
        opening = anyio.CancelScope()
        async with anyio.create_task_group() as tasks:
            start_in(tasks, _tell_if_late, opening)
            async with self._opener(plan.settings) as talk:
                opening.cancel()
                await self._show(talk, plan, end)

    async def _show(self, talk: "Talk", plan: Plan, end: Callable[[int], None]) -> None:
        self._document.session, self._document.thread = talk.session, talk.thread
        wishes = Wishes()
        face = self._face_of(wishes, end)
        for remark in (*plan.remarks, introduction(talk), *past_of(talk.thread)):
            face.tell(remark)
        await anyio.lowlevel.checkpoint_if_cancelled()
        await TalkCourse(talk, face, wishes).hold(plan.settings, self._suggest, self._leaving)


async def _tell_if_late(opening: anyio.CancelScope) -> None:
    with opening:
        await anyio.sleep(PATIENCE_S)
        complain("Getting ready ...")
