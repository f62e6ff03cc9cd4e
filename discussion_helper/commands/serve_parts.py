"""What `discussion-helper serve` gives its app: sessions on this machine's devices, and what answers."""

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from discussion_helper.app import Talk, open_talk, responder_for
from discussion_helper.choices import choose_llm, model_named, recogniser_of
from discussion_helper.commands.interpreter import PromptInterpreter
from discussion_helper.errors import DeviceError, ModelError, SettingError
from discussion_helper.parts import Responder
from discussion_helper.policy import wake_word_file
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.text.providers.base import Provider
from discussion_helper.text_app import provider_for
from discussion_helper.voice.devices import remote_devices
from discussion_helper.voice.remote_link import RemoteLink
from discussion_helper.voice.remote_talk import RemoteTalk, remote_talk
from discussion_helper.web import Wish

__all__ = ["ServeParts"]

_DEVICES = ("microphone", "loudspeaker")
_log = logging.getLogger(__name__)


class ServeParts:
    """Made from the settings of the command line; a wish may have another voice, language and system prompt."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._interpreter = PromptInterpreter()

    @asynccontextmanager
    async def open_voice(self, wish: Wish) -> AsyncIterator[Session]:
        """A session on the microphone and the loudspeaker. Raises SettingError, ModelError, DeviceError."""
        async with self._opened(wish) as talk:
            yield talk.session

    @asynccontextmanager
    async def open_remote(self, wish: Wish) -> AsyncIterator[RemoteTalk]:
        """A session on the microphone and the loudspeaker of a client. Raises SettingError, ModelError."""
        link = RemoteLink()
        async with self._opened(wish, devices=remote_devices(link)) as talk, remote_talk(talk.session, link) as remote:
            yield remote

    def open_responder(self, wish: Wish) -> Responder:
        """What answers. Blocks while model files are hashed that were not before. Raises SettingError, ModelError."""
        settings = self._wished(wish)
        with _servers_own():
            return responder_for(choose_llm(settings), settings)

    def provider(self) -> Provider:
        """What answers texts. Blocks as `open_responder`. Raises ModelError."""
        with _servers_own():
            return provider_for(self._settings)

    @asynccontextmanager
    async def _opened(self, wish: Wish, **options: Any) -> AsyncIterator[Talk]:
        settings = self._wished(wish)
        self._check_names(wish)
        if wish.language is None:
            _check_language(settings)
        opening = self._interpreter.watching(partial(open_talk, thread=wish.thread, **options))(settings)
        async with AsyncExitStack() as stack:
            with _servers_own("" if wish.language is None else "language"):
                talk = await stack.enter_async_context(opening)
            yield talk

    def _wished(self, wish: Wish) -> Settings:
        usual = self._settings
        if wish.voice is not None and wish.voice.lower().endswith(".onnx"):  # no client names files on this machine
            raise SettingError("voice: it is a file.", fix="Use the name of a voice, or leave it out.")
        if wish.policy.wake_word != usual.policy.wake_word and wake_word_file(wish.policy.wake_word) is not None:
            raise SettingError("wake_word: it is a file.", fix="Use the name of a wake word, or leave it out.")
        return replace(
            usual,
            voice=wish.voice or usual.voice,
            language=wish.language or usual.language,
            system=wish.system or usual.system,
            policy=wish.policy,
        )

    def _check_names(self, wish: Wish) -> None:
        """Raises SettingError that names those there are, and no files."""
        if wish.voice is not None:
            model_named("voice", wish.voice)
        if wish.policy.turn_policy == "wake_word" and wish.policy.wake_word != self._settings.policy.wake_word:
            model_named("wake_word", wish.policy.wake_word)


@contextmanager
def _servers_own(asked: str = "") -> Iterator[None]:
    """A setting that became wrong while it is served is no request's fault, unless it is the one that was `asked` for.

    Who asks can do nothing about it and does not know its files, so the reason goes to the log.
    """
    try:
        yield
    except SettingError as error:
        field = error.what.partition(" ")[0].rstrip(":")
        if field == asked:
            raise
        if field in _DEVICES:
            raise DeviceError(error.what, fix=error.fix) from error
        _log.warning("%s", error)
        what = f"The server's own {field} cannot be used any more."
        raise ModelError(what, fix="Ask whoever runs the server: its log says why.") from error


def _check_language(settings: Settings) -> None:
    """Raises ModelError where the server's own recogniser does not know its own language: no request is to blame."""
    try:
        recogniser_of(settings)
    except SettingError as error:
        raise ModelError(error.what, fix=error.fix) from error
