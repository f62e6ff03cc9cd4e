"""What `discussion-helper serve` gives its app: sessions on this machine's devices, and what answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from discussion_helper.app import open_talk, responder_for
from discussion_helper.choices import choose_llm, recogniser_of
from discussion_helper.commands.interpreter import PromptInterpreter
from discussion_helper.errors import ModelError, SettingError
from discussion_helper.parts import Responder
from discussion_helper.policy import wake_word_file
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.web import Wish

__all__ = ["ServeParts"]


class ServeParts:
    """Made from the settings of the command line; a wish may name another voice and language."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._interpreter = PromptInterpreter()

    @asynccontextmanager
    async def open_voice(self, wish: Wish) -> AsyncIterator[Session]:
        """A session on the microphone and the loudspeaker. Raises SettingError, ModelError, DeviceError."""
        settings = self._wished(wish)
        if wish.language is None:
            _check_language(settings)
        async with self._interpreter.watching(partial(open_talk, thread=wish.thread))(settings) as talk:
            yield talk.session

    def open_responder(self, wish: Wish) -> Responder:
        """What answers. Blocks while model files are hashed that were not before. Raises SettingError, ModelError."""
        settings = self._wished(wish)
        return responder_for(choose_llm(settings), settings)

    def _wished(self, wish: Wish) -> Settings:
        usual = self._settings
        if wish.voice is not None and wish.voice.lower().endswith(".onnx"):  # no client names files on this machine
            raise SettingError("voice: it is a file.", fix="Use the name of a voice, or leave it out.")
        if wish.policy.wake_word != usual.policy.wake_word and wake_word_file(wish.policy.wake_word) is not None:
            raise SettingError("wake_word: it is a file.", fix="Use the name of a wake word, or leave it out.")
        return replace(
            usual, voice=wish.voice or usual.voice, language=wish.language or usual.language, policy=wish.policy
        )


def _check_language(settings: Settings) -> None:
    """Raises ModelError where the server's own recogniser does not know its own language: no request is to blame."""
    try:
        recogniser_of(settings)
    except SettingError as error:
        raise ModelError(error.what, fix=error.fix) from error
