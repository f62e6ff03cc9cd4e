"""What `discussion-helper serve` gives its app: sessions on this machine's devices, and what answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from discussion_helper.app import open_talk, responder_for
from discussion_helper.choices import choose
from discussion_helper.errors import SettingError
from discussion_helper.parts import Responder
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.web import Wish

__all__ = ["ServeParts"]


class ServeParts:
    """Made from the settings of the command line; a wish may name another voice and language."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @asynccontextmanager
    async def open_voice(self, wish: Wish) -> AsyncIterator[Session]:
        """A session on the microphone and the loudspeaker. Raises SettingError, ModelError, DeviceError."""
        async with open_talk(self._wished(wish), thread=wish.thread) as talk:
            yield talk.session

    def open_responder(self, wish: Wish) -> Responder:
        """What answers. Blocks while model files are hashed that were not before. Raises SettingError, ModelError."""
        settings = self._wished(wish)
        choice = choose(settings).llm
        assert choice is not None
        return responder_for(choice, settings)

    def _wished(self, wish: Wish) -> Settings:
        usual = self._settings
        if wish.voice is not None and wish.voice.lower().endswith(".onnx"):  # no client names files on this machine
            raise SettingError("voice: it is a file.", fix="Use the name of a voice, or leave it out.")
        return replace(
            usual, voice=wish.voice or usual.voice, language=wish.language or usual.language, policy=wish.policy
        )
