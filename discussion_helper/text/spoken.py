"""A stored thread as the thread of a voice session: spoken and typed turns in one order."""

from collections.abc import Iterable, Iterator
from typing import Any

from discussion_helper.text.artifacts import Text, ToolCall, ToolResult
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import Thread, ThreadStore
from discussion_helper.text.threads.handle import ThreadHandle
from discussion_helper.tool_use import ToolUse
from discussion_helper.types import Conversation, Message, SpokenUtterance, Utterance

__all__ = ["SpokenThread"]


class SpokenThread:
    """Fits `discussion_helper.parts.Thread`. Streams may write to the same thread at the same time.

    The order is the one in which the turns became durable, in memory and stored. Tools that a reply used are stored as
    a stream stores them: the calls, then the results, then what was said.
    """

    def __init__(self, store: ThreadStore, thread: Thread) -> None:
        """The store stays open for as long as this is used."""
        self._handle = ThreadHandle(store, thread)

    @property
    def id(self) -> str:
        """The thread's."""
        return self.thread.id

    @property
    def thread(self) -> Thread:
        """As the store knows it."""
        return self._handle.thread

    async def append(self, utterance: Utterance) -> None:
        """Store one turn: the user's, or of the agent's what was heard of it.

        One that goes on with an earlier turn is stored behind it and read in its place.
        Raises SaveError and StoreBusyError.
        """
        for turn in _turns_of(utterance):
            await self._handle.append(turn)

    def messages(self) -> list[Message]:
        """What user and assistant said in the whole thread, in order, as `Conversation.as_messages` has it."""
        return Conversation(list(_utterances_of(self.thread.state.turns))).as_messages()


def _turns_of(utterance: Utterance) -> Iterator[Turn]:
    said, cut = utterance.said, utterance.interrupted
    if utterance.speaker == "user":
        heard: dict[str, Any] = {}
        if isinstance(utterance, SpokenUtterance):
            heard = {"wants_answer": utterance.wants_answer, "revises": utterance.revises}
        yield Turn("user", (Text(utterance.text),), interrupted=cut, said=said, **heard)
        return
    if utterance.calls:
        yield Turn("assistant", tuple(ToolCall(use.id, use.name, use.arguments) for use in utterance.calls))
        yield Turn("tool", tuple(ToolResult(use.id, use.result, is_error=use.is_error) for use in utterance.calls))
    yield Turn("assistant", (Text(utterance.text),), interrupted=cut, said=said)


def _utterances_of(turns: Iterable[Turn]) -> Iterator[Utterance]:
    """An agent's has the tools that were used before it; a call without a result is left out."""
    calls: dict[str, ToolCall] = {}
    uses: list[ToolUse] = []
    for turn in turns:
        if turn.role == "tool":
            uses += [_use(calls[it.tool_call_id], it) for it in _results(turn) if it.tool_call_id in calls]
        elif turn.role == "user":
            yield Utterance("user", turn.text, interrupted=turn.interrupted, said=turn.said)
        elif turn.role == "assistant":
            made = [artifact for artifact in turn.artifacts if isinstance(artifact, ToolCall)]
            calls |= {call.id: call for call in made}
            if not made or turn.text.strip():
                yield Utterance("agent", turn.text, interrupted=turn.interrupted, said=turn.said, calls=tuple(uses))
                uses = []


def _results(turn: Turn) -> list[ToolResult]:
    return [artifact for artifact in turn.artifacts if isinstance(artifact, ToolResult)]


def _use(call: ToolCall, result: ToolResult) -> ToolUse:
    return ToolUse(call.id, call.name, call.arguments, result.for_model, result.is_error)
