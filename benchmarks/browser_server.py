"""The server of `benchmarks.browser`: the real models; with `--texts` what is said in answer is long enough to be cut.

    python -m benchmarks.browser_server [--texts]

Prints the port it listens on. The token is in DISCUSSION_HELPER_TOKEN. SIGTERM ends it.
"""

import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import cycle

import anyio

from discussion_helper.app import open_talk
from discussion_helper.bench.texts import TEXTS
from discussion_helper.commands.interpreter import PromptInterpreter
from discussion_helper.settings import Settings
from discussion_helper.types import Message
from discussion_helper.voice.devices import remote_devices
from discussion_helper.voice.remote_link import RemoteLink
from discussion_helper.voice.remote_talk import RemoteTalk, remote_talk
from discussion_helper.web import Server, Wish, bound_socket, create_app

__all__ = ["main"]


class Reader:
    """Answers with one text after the other."""

    def __init__(self) -> None:
        self._texts = cycle(TEXTS)

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:  # noqa: ARG002 - the port's
        """A sentence at a time, at once."""
        for sentence in next(self._texts).split(". "):
            yield sentence.removesuffix(".") + "."

    async def aclose(self) -> None:
        """Nothing to release."""


@asynccontextmanager
async def _opened(wish: Wish, *, reads: bool, interpreter: PromptInterpreter) -> AsyncIterator[RemoteTalk]:
    link = RemoteLink()
    opener = partial(open_talk, responder=Reader() if reads else None, devices=remote_devices(link))
    async with (
        interpreter.watching(opener)(Settings(policy=wish.policy)) as talk,
        remote_talk(talk.session, link) as it,
    ):
        yield it


async def _serve(*, reads: bool) -> None:
    opened = partial(_opened, reads=reads, interpreter=PromptInterpreter())
    app = create_app(token=os.environ["DISCUSSION_HELPER_TOKEN"], open_remote=opened)
    with bound_socket("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        await Server(app, started=lambda: print(port, flush=True)).serve([listening])


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until a signal."""
    given = sys.argv[1:] if argv is None else argv
    anyio.run(partial(_serve, reads="--texts" in given))
    return 0


if __name__ == "__main__":
    sys.exit(main())
