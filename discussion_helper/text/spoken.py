"""A stored thread as the thread of a voice session: spoken and typed turns in one order."""

from discussion_helper.text.artifacts import Text
from discussion_helper.text.state import Role, Turn
from discussion_helper.text.threads.base import Thread, ThreadStore
from discussion_helper.text.threads.handle import ThreadHandle
from discussion_helper.types import Conversation, Message, Speaker, SpokenUtterance, Utterance

__all__ = ["SpokenThread"]


class SpokenThread:
    """Fits `discussion_helper.parts.Thread`. Streams may write to the same thread at the same time.

    The order is the one in which the turns became durable, in memory and stored.
    """

    def __init__(self, store: ThreadStore, thread: Thread) -> None:
        """The store stays open for as long as this is used."""
        self._handle = ThreadHandle(store, thread)

    @property
    def thread(self) -> Thread:
        """As the store knows it."""
        return self._handle.thread

    async def append(self, utterance: Utterance) -> None:
        """Store one turn: the user's, or of the agent's what was heard of it.

        Raises SaveError and StoreBusyError.
        """
        role: Role = "user" if utterance.speaker == "user" else "assistant"
        artifacts = (Text(utterance.text),)
        wants_answer = not isinstance(utterance, SpokenUtterance) or utterance.wants_answer
        cut, said = utterance.interrupted, utterance.said
        await self._handle.append(Turn(role, artifacts, interrupted=cut, said=said, wants_answer=wants_answer))

    def messages(self) -> list[Message]:
        """What user and assistant said in the whole thread, in order, as `Conversation.as_messages` has it."""
        turns = self.thread.state.turns
        return Conversation([_utterance_of(turn) for turn in turns if turn.role in ("user", "assistant")]).as_messages()


def _utterance_of(turn: Turn) -> Utterance:
    speaker: Speaker = "user" if turn.role == "user" else "agent"
    return Utterance(speaker, turn.text, interrupted=turn.interrupted, said=turn.said)
