"""Spoken and typed turns in one stored thread."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from discussion_helper.parts import check_parts
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text.artifacts import Text, TextDelta, ToolCall
from discussion_helper.text.errors import SaveError
from discussion_helper.text.inputs import UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.providers.messages import messages_of
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.state import State, Turn
from discussion_helper.text.step import Step
from discussion_helper.text.threads.document import unanswered
from discussion_helper.text.threads.json_files import JsonThreads
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.text.threads.sqlite import SqliteThreads
from discussion_helper.text.transforms import answered_only
from discussion_helper.tool_use import ToolUse
from discussion_helper.types import Conversation, SpokenUtterance, Utterance

pytestmark = pytest.mark.anyio

STORES: dict[str, Callable[[Path], Any]] = {
    "memory": lambda _: MemoryThreads(),
    "json": JsonThreads,
    "sqlite": lambda folder: SqliteThreads(folder / "threads.db"),
}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Real threads take part: loops on real time."""
    return str(request.param)


@pytest.fixture(params=sorted(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """One of each kind."""
    return STORES[request.param](tmp_path)


async def test_of_the_agent_what_was_heard_is_stored(store: Any) -> None:
    async with store:
        thread = await store.create()
        spoken = SpokenThread(store, thread)
        check_parts(thread=spoken)
        await spoken.append(Utterance("user", "How far is the moon?"))
        await spoken.append(Utterance("agent", "It is", interrupted=True, said="It is far away."))
        await spoken.append(Utterance("user", "Thanks."))
        assert (
            Turn("user", (Text("How far is the moon?"),)),
            Turn("assistant", (Text("It is"),), interrupted=True, said="It is far away."),
            Turn("user", (Text("Thanks."),)),
        ) == thread.state.turns


async def test_a_turn_that_wanted_silence_alone_asked_nothing(store: Any) -> None:
    async with store:
        spoken = SpokenThread(store, await store.create())
        await spoken.append(Utterance("agent", "It is", interrupted=True, said="It is far away."))
        await spoken.append(SpokenUtterance("user", "Stop.", wants_answer=False))
        turns = (await store.get(spoken.thread.id)).state.turns

        assert [True, False] == [turn.wants_answer for turn in turns]
        assert [False, False] == unanswered(turns)
        assert ["It is"] == [turn.text for turn in answered_only(State([*turns, turns[1]])).turns[:-1]]


async def test_the_tools_that_a_reply_used_are_in_the_thread_and_in_its_messages(store: Any) -> None:
    use = ToolUse("c1", "weather", '{"city": "Rome"}', "22 degrees")
    conversation = Conversation(
        [
            Utterance("user", "How warm is it?"),
            Utterance("agent", "It is warm.", calls=(use,)),
            Utterance("user", "And now?"),
            Utterance("agent", "The same."),
        ]
    )
    async with store:
        thread = await store.create()
        spoken = SpokenThread(store, thread)
        for utterance in conversation.utterances:
            await spoken.append(utterance)
        assert ["user", "assistant", "tool", "assistant", "user", "assistant"] == [it.role for it in thread.state.turns]
        assert conversation.as_messages() == spoken.messages()
        assert [use.as_dict()] == spoken.messages()[1]["calls"]
        assert ["assistant", "tool", "assistant"] == [it["role"] for it in messages_of(thread.state)[1:4]]


async def test_the_messages_are_those_of_the_whole_thread(store: Any) -> None:
    async with store:
        thread = await store.create()
        for turn in (
            Turn("system", (Text("Be brief."),)),
            Turn("user", (Text("typed"),)),
            Turn("assistant", (ToolCall("c", "f"),)),
            Turn("tool", (Text("result"),)),
            Turn("assistant", (Text("an"), Text("swer"))),
        ):
            await store.append(thread, turn)
        spoken = SpokenThread(store, thread)
        await spoken.append(Utterance("user", "spoken"))
        await spoken.append(Utterance("agent", "", interrupted=True))
        await spoken.append(Utterance("user", "  "))
        assert [
            {"role": "user", "content": "typed"},
            {"role": "assistant", "content": "answer"},
            {"role": "user", "content": "spoken"},
        ] == spoken.messages()


async def test_after_a_restart_the_messages_are_those_of_the_conversation(store: Any) -> None:
    conversation = Conversation(
        [
            Utterance("user", "How far is the moon?"),
            Utterance("agent", "It is", interrupted=True, said="It is far away."),
            Utterance("user", "And the sun?"),
            Utterance("agent", "", interrupted=True, said="Farther."),
        ]
    )
    async with store:
        thread = await store.create()
        spoken = SpokenThread(store, thread)
        for utterance in conversation.utterances:
            await spoken.append(utterance)
        assert conversation.as_messages() == spoken.messages()
    if isinstance(store, MemoryThreads):
        return
    async with store:
        spoken = SpokenThread(store, await store.get(thread.id))
        assert conversation.as_messages() == spoken.messages()
        assert "Farther." == spoken.messages()[-1]["unheard"]


async def test_after_a_restart_go_on_reads_the_rest(store: Any) -> None:
    async with store:
        thread = await store.create()
        spoken = SpokenThread(store, thread)
        await spoken.append(Utterance("user", "How far is the moon?"))
        await spoken.append(Utterance("agent", "It is", interrupted=True, said="It is far away."))
        responder, voice = EchoResponder(), SilentVoice()
        await Session(ScriptedListener(["Go on."]), responder, voice, thread=spoken).start().wait()

        assert (["far away."], []) == (voice.spoken, responder.seen)
        assert ["Go on.", "far away."] == [turn.text for turn in thread.state.turns[-2:]]


async def test_spoken_and_typed_turns_have_one_order(store: Any) -> None:
    provider = ScriptedProvider([TextDelta("typed "), TextDelta("answer")])
    async with store:
        async with Manager(store, provider, lambda _: Step()) as manager:
            stream = await manager.create()
            spoken = SpokenThread(store, stream.thread)

            async def talk() -> None:
                for number in range(15):
                    await spoken.append(Utterance("user", f"said {number}"))
                    await spoken.append(Utterance("agent", f"heard {number}"))

            async def write() -> None:
                for number in range(15):
                    await stream.process(UserMessageEvent(f"typed {number}"))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(talk)
                tasks.start_soon(write)
            thread_id, turns = stream.id, stream.thread.state.turns
        texts = [turn.text for turn in turns]
        assert 60 == len(turns)
        assert [f"said {n}" for n in range(15)] == [text for text in texts if text.startswith("said")]
        assert [f"typed {n}" for n in range(15)] == [
            text for text in texts if text.startswith("typed ") and text[6] != "a"
        ]
    if isinstance(store, MemoryThreads):
        return
    async with store:
        assert turns == (await store.get(thread_id)).state.turns


async def test_a_turn_that_cannot_be_stored_says_so(store: Any) -> None:
    async with store:
        thread = await store.create()
        spoken = SpokenThread(store, thread)
        await store.delete(thread.id)
        with pytest.raises(SaveError):
            await spoken.append(Utterance("user", "hello?"))
        assert [] == spoken.messages()


async def test_a_turn_that_goes_on_with_another_is_added_and_read_in_its_place(store: Any) -> None:
    """What is stored is never changed; whoever reads the thread, also later, sees one turn."""
    async with store:
        spoken = SpokenThread(store, await store.create())
        for turn in (
            Utterance("user", "Good day."),
            Utterance("agent", "Hello."),
            SpokenUtterance("user", "I want"),
            Utterance("agent", "", interrupted=True, said="What do you want?"),
            SpokenUtterance("user", "I want a pizza", revises="I want"),
            Utterance("agent", "Here", interrupted=True, said="Here you are."),
            SpokenUtterance("user", "I want a pizza and a drink", revises="I want a pizza"),
        ):
            await spoken.append(turn)
        assert 7 == len(spoken.thread.state)
        expected = ["Good day.", "Hello.", "Here", "I want a pizza and a drink"]
        assert expected == [message["content"] for message in spoken.messages()]
        thread_id = spoken.thread.id
        spoken._handle.thread = None  # type: ignore[assignment]
        again = await store.get(thread_id)
        assert 7 == len(again.state)
        assert expected == [turn.text for turn in again.state.turns]
        assert [False, False, False, True] == unanswered(again.state.turns)
