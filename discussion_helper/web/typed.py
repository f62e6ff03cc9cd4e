"""A voice session for who only types and reads: it has no microphone and no loudspeaker."""

from collections.abc import AsyncIterator

import anyio

from discussion_helper.types import SpokenSentence, Utterance

__all__ = ["NoLoudspeaker", "NoMicrophone"]


class NoMicrophone:
    """A `Listener` that hears nothing, and stays."""

    async def utterances(self) -> AsyncIterator[Utterance]:
        """None, ever."""
        await anyio.sleep_forever()
        yield Utterance("user", "")  # what makes this a generator

    async def speech_started(self) -> None:
        """Never."""
        await anyio.sleep_forever()

    async def aclose(self) -> None:
        """Nothing to release."""


class NoLoudspeaker:
    """A `Voice` whose sentences are read: each has arrived as soon as it is there."""

    async def speak(self, sentence: str) -> SpokenSentence:
        """All of it."""
        await anyio.lowlevel.checkpoint()
        return SpokenSentence(sentence, heard=sentence)

    async def stop(self) -> None:
        """Nothing is ever pending."""

    async def aclose(self) -> None:
        """Nothing to release."""
