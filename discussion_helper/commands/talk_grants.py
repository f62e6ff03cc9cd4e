"""What becomes of the wishes of the person at the keyboard."""

import anyio

from discussion_helper.commands.talk_face import Face
from discussion_helper.commands.talk_wishes import Interrupt, Mute, Press, Say, Suspend, Wish, Wishes
from discussion_helper.errors import DiscussionError
from discussion_helper.parts import Mutable
from discussion_helper.session import Session

__all__ = ["SAY_LIMIT_S", "Grants"]

SAY_LIMIT_S = 1.0
"""How long a typed turn may wait for room among those that wait for an answer."""
_NOT_SPEAKING = "Nothing to interrupt: the agent is not speaking."


class Grants:
    """Has the session do what is wished, and tells what it refuses."""

    def __init__(self, session: Session, face: Face, wishes: Wishes) -> None:
        self._session = session
        self._face = face
        self._wishes = wishes
        self._saying: Say | None = None
        """The typed turn that waits for room."""

    async def run(self) -> None:
        """Grant one wish after the other; runs until it is cancelled."""
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
            case Press(down):
                await (self._session.press() if down else self._session.release())
            case Say():
                await self._say(wish)
            case Suspend(muted):
                await self._suspend(muted=muted)

    async def _say(self, wish: Say) -> None:
        self._saying = wish
        try:
            with anyio.fail_after(None if wish.waits else SAY_LIMIT_S):
                await self._session.say(wish.text)
        except TimeoutError:
            self._face.left_out(wish.text, "Too many turns wait for an answer; this one was left out")
        except RuntimeError as refused:
            self._face.left_out(wish.text, f"Not said, for {refused}")
        self._saying = None

    def tell_unsaid(self) -> None:
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
