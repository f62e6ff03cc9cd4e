"""What a model gets of a thread: a question that came to nothing is not asked again."""

from typing import Any

import pytest

from discussion_helper.errors import ResponderError
from discussion_helper.text import (
    Manager,
    MemoryThreads,
    State,
    Step,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    Tools,
    Turn,
    UserMessageEvent,
    answered_only,
    react,
    system_prompt,
)
from discussion_helper.text.errors import ProcessError
from discussion_helper.text.providers.messages import messages_of
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider

pytestmark = pytest.mark.anyio


def turns_of(*said: str) -> list[Turn]:
    """`u` user, `a` assistant, `x` cut off, `c` a call of a tool, `t` its result, `s` system; then the text."""
    made: dict[str, Any] = {
        "u": lambda text: Turn("user", (Text(text),)),
        "a": lambda text: Turn("assistant", (Text(text),)),
        "x": lambda text: Turn("assistant", (Text(text),) if text else (), interrupted=True),
        "c": lambda text: Turn("assistant", (ToolCall(text, "look", "{}"),)),
        "t": lambda text: Turn("tool", (ToolResult(text, "5"),)),
        "s": lambda text: Turn("system", (Text(text),)),
    }
    return [made[each[0]](each[1:]) for each in said]


@pytest.mark.parametrize(
    ("thread", "without"),
    [
        ([], []),
        (["u1"], []),
        (["u1", "a1", "u2"], []),
        (["u1", "u2"], ["u1"]),
        (["u1", "u2", "u3", "a3", "u4", "u5"], ["u1", "u2", "u4"]),
        (["u1", "u2", "a2"], ["u1"]),
        (["s0", "u1", "s1", "u2"], ["u1"]),
        (["u1", "x", "u2"], []),  # cut off before a word of it was heard
        (["u1", "xHalf of", "u2"], []),
        (["u1", "c1", "t1"], []),  # a loop of tools that goes on
        (["u0", "u1", "c1", "t1", "c2"], ["u0"]),
        (["u1", "c1", "t1", "u2"], []),  # a tool may have had its effect
        (["u1", "c1", "u2"], []),
        (["u1", "c1", "t1", "a1", "u2"], []),
    ],
)
def test_questions_without_an_answer_are_left_out_but_the_newest(thread: list[str], without: list[str]) -> None:
    state = State(turns_of(*thread))
    view = answered_only(state)

    assert turns_of(*(each for each in thread if each not in without)) == list(view.turns)
    assert turns_of(*thread) == list(state.turns)


async def process(provider: ScriptedProvider, *texts: str, tools: Tools | None = None) -> tuple[Turn, ...]:
    """What is in the thread after these messages, of which some may fail."""
    steps = {"transforms": [answered_only, system_prompt("Be brief.")]}
    step = lambda _: Step(**steps, handlers=[tools] if tools else [])  # type: ignore[arg-type]  # noqa: E731
    async with Manager(MemoryThreads(), provider, step, react) as manager:
        stream = await manager.create()
        for text in texts:
            try:
                await stream.process(UserMessageEvent(text))
            except ProcessError:
                continue
        return stream.thread.state.turns


async def test_what_an_endpoint_refuses_does_not_make_the_thread_unusable() -> None:
    def answer(state: State) -> list[Any]:
        refused = any("forbidden" in turn.text for turn in state.turns)
        return [ResponderError("It refused.")] if refused else [TextDelta("Yes.")]

    provider = ScriptedProvider(answer)
    turns = await process(provider, "something forbidden", "hi", "and now?")

    assert ["something forbidden", "hi", "Yes.", "and now?", "Yes."] == [turn.text for turn in turns]
    told = messages_of(provider.states[-1])
    assert ["Be brief.", "hi", "Yes.", "and now?"] == [message["content"] for message in told]


async def test_a_cancelled_question_is_not_answered_with_the_next_one() -> None:
    provider = ScriptedProvider([FOREVER])
    async with Manager(MemoryThreads(), provider, lambda _: Step(transforms=[answered_only])) as manager:
        stream = await manager.create()
        stream.submit(UserMessageEvent("Write an essay."))
        await provider.asked()
        stream.cancel()
        stream.submit(UserMessageEvent("hi"))
        await provider.asked(2)
        stream.cancel()

    assert [["Write an essay."], ["hi"]] == [[turn.text for turn in s.turns] for s in provider.states]


async def test_a_loop_of_tools_is_seen_whole() -> None:
    def look() -> str:
        """Look."""
        return "5"

    provider = ScriptedProvider([ValueError("no")], [ToolCall("1", "look", "{}")], [TextDelta("It is 5.")])
    await process(provider, "lost", "How many?", tools=Tools(look))

    assert ["system", "user", "assistant", "tool"] == [turn.role for turn in provider.states[-1].turns]
    assert "How many?" == provider.states[-1].turns[1].text
