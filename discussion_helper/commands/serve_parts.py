"""What `discussion-helper serve` gives its app: sessions on this machine's devices, and what answers."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from discussion_helper.app import open_talk
from discussion_helper.choices import choose
from discussion_helper.errors import SettingError
from discussion_helper.parts import Responder
from discussion_helper.responder.base import api_key_for
from discussion_helper.responder.prompt import system_prompt
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
        if wish.thread is not None:
            fix = "Leave it out, or use the transport remote."
            raise SettingError("thread_id: a session on this machine's devices is not stored.", fix=fix)
        async with open_talk(self._wished(wish)) as talk:
            yield talk.session

    def open_responder(self, wish: Wish) -> Responder:
        """What answers. Blocks while model files are hashed that were not before. Raises SettingError, ModelError."""
        settings = self._wished(wish)
        choice, prompt = choose(settings).llm, system_prompt(settings.language, text=settings.system)
        if isinstance(choice, Path):
            from discussion_helper.responder.embedded import EmbeddedResponder

            return EmbeddedResponder(choice, system=prompt)
        from discussion_helper.responder.endpoint import EndpointResponder

        key = api_key_for(choice.base_url, os.environ)
        return EndpointResponder(base_url=choice.base_url, api_key=key, model=choice.model, system=prompt)

    def _wished(self, wish: Wish) -> Settings:
        usual = self._settings
        if wish.voice is not None and wish.voice.lower().endswith(".onnx"):  # no client names files on this machine
            raise SettingError("voice: it is a file.", fix="Use the name of a voice, or leave it out.")
        return replace(
            usual, voice=wish.voice or usual.voice, language=wish.language or usual.language, policy=wish.policy
        )
