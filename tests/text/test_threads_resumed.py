"""A conversation that goes on after the process ended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.text.artifacts import Text, TextDelta, ToolCall, ToolResult, Usage
from discussion_helper.text.errors import ProcessError, SaveError, ThreadCorruptError, ThreadNotFoundError
from discussion_helper.text.inputs import EventContext, UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text.state import State, Turn
from discussion_helper.text.step import Step
from discussion_helper.text.threads.json_files import JsonThreads
from discussion_helper.text.threads.sqlite import SqliteThreads

pytestmark = pytest.mark.anyio

STORES: dict[str, Callable[[Path], Any]] = {
    "json": JsonThreads,
    "sqlite": lambda folder: SqliteThreads(folder / "threads.db"),
}
CALL = ToolCall("c1", "weather", '{"city": "Bern"}')
RESULT = ToolResult("c1", "rain", {"mm": 2.5, "days": [1, 2]})


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Real threads take part: loops on real time."""
    return str(request.param)


class Weather:
    """Runs the tool call."""

    async def handle_turn(self, step: Step, state: State, turn: Turn) -> None:
        if any(isinstance(artifact, ToolCall) for artifact in turn.artifacts):
            await step.submit(state, "tool", RESULT)

    async def __call__(self, step: Step, state: State, artifact: object) -> None:
        """Not called: it handles whole turns."""


def said(content: str) -> UserMessageEvent:
    return UserMessageEvent(content, EventContext("slack-1"))


def manager_on(store: Any, provider: ScriptedProvider) -> Manager:
    return Manager(store, provider, lambda _: Step(handlers=[Weather()]))


@pytest.mark.parametrize("kind", sorted(STORES))
async def test_a_new_process_goes_on_where_the_old_one_ended(kind: str, tmp_path: Path) -> None:
    tools = ScriptedProvider([Text("Let me see."), CALL, Usage(3, 4, 7)], [TextDelta("o"), TextDelta("k")])
    async with STORES[kind](tmp_path) as store, manager_on(store, tools) as manager:
        stream = await manager.create(metadata={"channel": "C1"})
        await stream.process(said("Will it rain?"))
        old, thread_id = stream.thread.state.turns, stream.id
    assert ["user", "assistant", "tool", "assistant"] == [turn.role for turn in old]
    tmp_path.joinpath("broken_one.json").write_text("{", encoding="utf-8")

    echo = ScriptedProvider([Text("Yes.")])
    async with STORES[kind](tmp_path) as store, manager_on(store, echo) as manager:
        stream = await manager.attach(thread_id)
        assert stream.thread is await store.find("channel", "C1")
        await stream.process(said("Really?"))
        seen = echo.states[0].turns
        assert (*old, Turn("user", (Text("Really?"),))) == seen
        assert [Text("Let me see."), CALL, Usage(3, 4, 7), RESULT, Text("ok")] == [
            artifact for turn in seen[1:4] for artifact in turn.artifacts
        ]
        assert [Text, ToolCall, Usage, ToolResult, Text] == [
            type(each) for turn in seen[1:4] for each in turn.artifacts
        ]
        assert [turn.at for turn in old] == [turn.at for turn in seen[:4]]
        with pytest.raises(ThreadNotFoundError):
            await manager.attach("../x")
        if kind == "json":
            assert ["broken_one.json"] == list(store.problems)
            with pytest.raises(ThreadCorruptError):
                await manager.attach("broken_one")
    async with STORES[kind](tmp_path) as store:
        assert 6 == len((await store.get(thread_id)).state)


async def test_an_answer_that_could_not_be_stored_is_stored_with_the_next_turn(tmp_path: Path) -> None:
    provider = ScriptedProvider([Text("one")], [Text("two")])
    async with JsonThreads(tmp_path) as store, manager_on(store, provider) as manager:
        stream = await manager.create()
        path = tmp_path / f"{stream.id}.json"
        real = store.append

        async def failing(thread: Any, turn: Turn) -> None:
            if turn.text == "one":
                raise SaveError("no space")
            await real(thread, turn)

        store.append = failing  # type: ignore[method-assign]
        with pytest.raises(ProcessError, match="no space"):
            await stream.process(said("first"))
        assert ["first", "one"] == [turn.text for turn in stream.thread.state.turns]
        assert "one" in path.read_text(encoding="utf-8")
        await stream.process(said("second"))
        thread_id = stream.id
    async with JsonThreads(tmp_path) as store:
        texts = [turn.text for turn in (await store.get(thread_id)).state.turns]
    assert ["first", "one", "second", "two"] == texts


async def test_a_stream_goes_on_where_another_process_wrote_to_its_thread(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    provider = ScriptedProvider([TextDelta("yes")])
    async with (
        SqliteThreads(path) as here,
        SqliteThreads(path) as there,
        Manager(here, provider, lambda _: Step()) as ours,
    ):
        stream = await ours.create()
        await stream.process(said("first"))
        elsewhere = await there.get(stream.id)
        await there.append(elsewhere, Turn("user", (Text("from elsewhere"),)))
        await stream.process(said("second"))
        await stream.process(said("third"))

        texts = ["first", "yes", "from elsewhere", "second", "yes", "third", "yes"]
        assert texts == [turn.text for turn in stream.thread.state.turns]
        assert texts[:4] == [turn.text for turn in provider.states[1].turns]
    async with SqliteThreads(path) as stored:
        assert texts == [turn.text for turn in (await stored.get(stream.id)).state.turns]


async def test_an_answer_to_what_is_overtaken_is_refused_and_the_next_message_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"
    async with SqliteThreads(path) as here, SqliteThreads(path) as there:

        class Slow(ScriptedProvider):
            async def invoke(self, state: State, *options: Any) -> Any:
                if len(self.states) == 0:  # while this one is being answered
                    await there.append(await there.get(stream.id), Turn("user", (Text("from elsewhere"),)))
                async for artifact in super().invoke(state, *options):
                    yield artifact

        async with Manager(here, Slow([TextDelta("yes")]), lambda _: Step()) as ours:
            stream = await ours.create()
            with pytest.raises(ProcessError):
                await stream.process(said("first"))
            await stream.process(said("second"))

    async with SqliteThreads(path) as stored:
        texts = [turn.text for turn in (await stored.get(stream.id)).state.turns]
        assert ["first", "from elsewhere", "second", "yes"] == texts
