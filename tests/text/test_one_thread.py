"""A voice session and a text stream on one thread: one transcript, in one order."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice, VirtualTimeLoop
from discussion_helper.text import (
    Manager,
    MemoryThreads,
    SpokenThread,
    Step,
    TextDelta,
    UserMessageEvent,
)
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.types import Message

Make = Callable[..., Manager]


def provider() -> ScriptedProvider:
    return ScriptedProvider([0.1, TextDelta("as you say")])


@pytest.mark.anyio
async def test_each_side_knows_what_was_said_to_the_other(manager_of: Make) -> None:
    text_side, voice_side = provider(), EchoResponder()
    async with manager_of(text_side) as manager:
        stream = await manager.create()
        await stream.process(UserMessageEvent("typed first"))
        listener = ScriptedListener(["spoken second"])
        session = Session(listener, voice_side, SilentVoice(), thread=SpokenThread(manager.store, stream.thread))
        await session.start().wait()
        await stream.process(UserMessageEvent("typed third"))

        said = [(turn.role, turn.text) for turn in stream.thread.state.turns]
        assert [
            ("user", "typed first"),
            ("assistant", "as you say"),
            ("user", "spoken second"),
            ("assistant", "spoken second"),
            ("user", "typed third"),
            ("assistant", "as you say"),
        ] == said
        heard = [(message["role"], message["content"]) for message in voice_side.seen[0]]
        assert said[:3] == heard
        assert said[:5] == [(turn.role, turn.text) for turn in text_side.states[-1].turns]


class _Hears(EchoResponder):
    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        await anyio.sleep(0.1)
        yield "I hear you"


moments = st.lists(st.tuples(st.sampled_from(["type", "say"]), st.floats(0.0, 0.6)), max_size=10)


async def both(todo: list[tuple[str, float]]) -> tuple[list[str], list[str], list[str]]:
    async with Manager(MemoryThreads(), provider(), lambda _: Step()) as manager:
        stream = await manager.create()
        voice: Any = SilentVoice(0.2)
        listener = ScriptedListener([], stays_open=True)
        thread = SpokenThread(manager.store, stream.thread)
        session = Session(listener, _Hears(), voice, thread=thread).start()
        typed, spoken = list[str](), list[str]()
        for number, (way, wait_s) in enumerate(todo):
            await anyio.sleep(wait_s)
            text = f"{way} {number}"
            if way == "type":
                typed.append(text)
                stream.submit(UserMessageEvent(text))
            else:
                spoken.append(text)
                await session.say(text)
        await anyio.sleep(20)
        await session.stop()
        return [turn.text for turn in stream.thread.state.turns], typed, spoken


@settings(max_examples=60)
@given(todo=moments)
def test_under_any_interleaving_every_turn_is_there_once_and_each_side_in_its_order(
    todo: list[tuple[str, float]],
) -> None:
    options = {"loop_factory": VirtualTimeLoop}
    turns, typed, spoken = anyio.run(both, todo, backend_options=options)

    assert typed == [text for text in turns if text in typed]
    assert spoken == [text for text in turns if text in spoken]
    assert (len(typed), len(spoken)) == (turns.count("as you say"), turns.count("I hear you"))
