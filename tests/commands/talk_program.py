"""`talk` with fakes, as a program: `python talk_program.py STATE [ARGUMENT...]`.

It comes into STATE and stays there: opening, warming, listening, thinking, speaking. Or its listener fails: failing.
Or it ends by itself: ending. Or its recogniser hangs, in the first turn or once one was answered: reading, answered.
Or its listener has a key, and tells what that does: pushing.
What it does is told in words, one a line, on the descriptor that TOLD names, if any.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import anyio

from discussion_helper import cli
from discussion_helper.app import Talk
from discussion_helper.commands import talk
from discussion_helper.errors import RecogniserError
from discussion_helper.parts import Reporter
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.testing import ScriptedListener, SilentVoice
from discussion_helper.types import Message, SpokenSentence, Utterance

STUCK_S = 60.0
STATE = sys.argv[1]
GREETINGS = {"ending": "Hello.\x1b\x7f\u2028"}


def tell(word: str) -> None:
    if told := os.environ.get("TOLD"):
        os.write(int(told), f"{word}\n".encode())


class Listener(ScriptedListener):
    def __init__(self, state: str) -> None:
        super().__init__([] if state == "listening" else [GREETINGS.get(state, "Hello.")], stays_open=state != "ending")
        self._state = state
        self.session: Session

    async def warmup(self) -> None:
        if self._state == "warming":
            tell("warming")
            await anyio.to_thread.run_sync(time.sleep, STUCK_S)

    async def utterances(self) -> AsyncIterator[Utterance]:
        tell("microphone open")
        if self._state == "listening":
            tell("listening")
        if self._state == "failing":
            raise RecogniserError("The recogniser broke.", fix="Mend it.")
        if self._state == "warming":
            await anyio.sleep_forever()
        if self._state == "reading":
            await self._hang()
        answered = self.session.events("timing") if self._state == "answered" else None
        async for turn in super().utterances():
            yield turn
            if answered is not None:
                await anext(answered)
                await self._hang()

    async def _hang(self) -> None:
        tell(self._state)
        await anyio.to_thread.run_sync(time.sleep, STUCK_S)

    async def aclose(self) -> None:
        tell("microphone closed")
        await super().aclose()
        if self._state in ("reading", "answered"):
            await anyio.to_thread.run_sync(time.sleep, STUCK_S)


class KeyListener(Listener):
    """Hears nothing, and numbers what its key does."""

    def __init__(self, state: str) -> None:
        super().__init__("listening")
        self._strokes = 0

    def attach(self, reporter: Reporter) -> None:
        super().attach(reporter)
        self._told = reporter

    async def utterances(self) -> AsyncIterator[Utterance]:
        self._told.report("attention", state="released", why="the key")
        async for turn in super().utterances():
            yield turn

    async def press(self) -> None:
        self._strokes += 1
        self._told.report("attention", state="pressed", why="the key")
        tell(f"down {self._strokes}")

    async def release(self) -> None:
        self._told.report("attention", state="released", why="the key")
        tell(f"up {self._strokes}")


class Responder:
    def __init__(self, state: str) -> None:
        self._state = state

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        if self._state == "thinking":
            tell("thinking")
            await anyio.sleep_forever()
        yield "Good day to you."

    async def aclose(self) -> None:
        pass


class Voice(SilentVoice):
    async def speak(self, sentence: str) -> SpokenSentence:
        asyncio.get_running_loop().call_soon(tell, "speaking")
        return await super().speak(sentence)


class Told(Session):
    async def say(self, text: str) -> None:
        await super().say(text)
        tell(f"took {text}")


@asynccontextmanager
async def open_fakes(settings: Settings) -> AsyncIterator[Talk]:
    state = STATE
    if state == "opening":
        tell("opening")
        await anyio.to_thread.run_sync(time.sleep, STUCK_S)
    voice = Voice(0.0 if state in ("ending", "answered") else STUCK_S)
    listener = KeyListener(state) if state == "pushing" else Listener(state)
    session = Told(listener, Responder(state), voice, settings.policy)
    listener.session = session
    os.write(1, b"a library on stdout\n")
    try:
        yield Talk(session, "a microphone", "a loudspeaker", "a model", None)
    finally:
        with anyio.CancelScope(shield=True):
            await session.stop()


if __name__ == "__main__":
    if sys.stdin.isatty():
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C is a signal
    talk._open = lambda arguments, settings: open_fakes(settings)
    sys.argv[1:] = ["talk", "--microphone", "fake", "--llm", "none", *sys.argv[2:]]
    cli.entry()
