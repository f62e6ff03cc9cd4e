"""From settings to streams on a real store."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from discussion_helper import text_app
from discussion_helper.commands.chat_request import ChatRequest, opened
from discussion_helper.errors import ModelMissing, ResponderError, SettingError
from discussion_helper.settings import Settings
from discussion_helper.text import Manager, MemoryThreads
from discussion_helper.text.artifacts import TextDelta, ToolCall, ToolResult
from discussion_helper.text.errors import ProcessError
from discussion_helper.text.inputs import UserMessageEvent
from discussion_helper.text.providers.openai_compatible import EndpointProvider
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text.threads.sqlite import SqliteThreads
from discussion_helper.text_app import SYSTEM, data_folder, open_texts, step_for
from discussion_helper.tools import Tool, Toolbox

pytestmark = pytest.mark.anyio

LLM = "m@http://127.0.0.1:9"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> ScriptedProvider:
    """What answers instead of an endpoint."""
    provider = ScriptedProvider([TextDelta("Yes.")])

    async def warmup() -> None:
        pass

    monkeypatch.setattr(text_app, "_provider", lambda choice: (provider, warmup))
    return provider


def request(path: Path, *, system: str = "", **which: Any) -> ChatRequest:
    return ChatRequest(Settings(llm=LLM, system=system), path / "threads.sqlite", **which)


async def said(request: ChatRequest, text: str = "Hello?") -> str:
    """The thread in which a message was sent."""
    async with opened(request) as (_, stream):
        await stream.process(UserMessageEvent(text))
        return stream.id


async def test_the_model_is_told_beforehand_who_it_is(provider: ScriptedProvider, tmp_path: Path) -> None:
    await said(request(tmp_path))

    assert [("system", SYSTEM), ("user", "Hello?")] == [(turn.role, turn.text) for turn in provider.states[0].turns]
    assert provider.closed


async def test_a_threads_system_prompt_stays_until_there_is_another(provider: ScriptedProvider, tmp_path: Path) -> None:
    thread = await said(request(tmp_path, system="Be brief."))
    await said(request(tmp_path, thread_id=thread))
    await said(request(tmp_path, thread_id=thread, system="Be kind."))
    await said(request(tmp_path, last=True))

    assert ["Be brief.", "Be brief.", "Be kind.", "Be kind."] == [state.turns[0].text for state in provider.states]
    assert ["system", *["user", "assistant"] * 3, "user"] == [turn.role for turn in provider.states[3].turns]


async def test_tools_are_offered_and_run_where_there_are_some() -> None:
    def weather(city: str) -> str:
        """The weather."""
        return f"{city}: 22 °C"

    called = ToolCall("1", "weather", '{"city": "Rome"}')
    provider = ScriptedProvider([called], [TextDelta("It is warm.")])
    step = partial(step_for, system="", tools=[Tool.of(weather)])
    async with Manager(MemoryThreads(), provider, step) as manager:
        await (await manager.create()).process(UserMessageEvent("How warm is it?"))

    offered = [one.schemas for options in provider.options for one in options if isinstance(one, Toolbox)]
    assert ["weather"] * 2 == [schema["name"] for schemas in offered for schema in schemas]
    assert (ToolResult("1", "Rome: 22 °C"),) == provider.states[1].turns[-1].artifacts


async def test_a_thread_in_which_nothing_was_said_is_forgotten(provider: ScriptedProvider, tmp_path: Path) -> None:
    thread = await said(request(tmp_path))
    async with opened(request(tmp_path)) as (texts, _):
        assert 2 == len(await texts.store.list())
        async with SqliteThreads(tmp_path / "threads.sqlite") as other:
            await other.create()  # left behind by a process that died
    async with opened(request(tmp_path, last=True)) as (texts, stream):
        assert thread == stream.id
        assert 2 == len(await texts.store.list())


async def test_a_thread_that_is_not_there_is_named(provider: ScriptedProvider, tmp_path: Path) -> None:
    with pytest.raises(
        SettingError, match=r"--thread: there is no thread 'nowhere-at-all'. See: .* threads list --store=."
    ):
        await said(request(tmp_path, thread_id="nowhere-at-all"))
    with pytest.raises(SettingError, match="--last: there is no thread yet"):
        await said(request(tmp_path, last=True))


async def test_an_endpoint_is_described_and_asked_for_itself(tmp_path: Path) -> None:
    async with open_texts(Settings(llm=LLM), store=tmp_path / "t.sqlite") as texts:
        assert "m at http://127.0.0.1:9/v1" == texts.answers
        assert isinstance(texts.manager._provider, EndpointProvider)


async def test_a_missing_model_is_named_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    with pytest.raises(ModelMissing, match="models pull SmolLM2-135M"):
        async with open_texts(Settings(), store=tmp_path / "t.sqlite"):
            pass
    assert [] == os.listdir(tmp_path)


async def test_a_system_prompt_beyond_all_measure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="system: it is too long"):
        async with open_texts(Settings(llm=LLM, system="x" * 70_000), store=tmp_path / "t.sqlite"):
            pass


def test_what_a_user_said_is_in_a_folder_of_that_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name, **_: str(tmp_path / "share" / name))
    folder = data_folder()

    assert tmp_path / "share" / "discussion_helper" == folder == data_folder()
    assert os.name == "nt" or 0o700 == folder.stat().st_mode & 0o777  # Windows has no such bits


def test_a_folder_that_cannot_be_made_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name, **_: str(tmp_path / "file" / name))
    with pytest.raises(SettingError, match=r"file.*cannot be made.*--store"):
        data_folder()


@pytest.mark.models
async def test_the_default_model_answers(tmp_path: Path) -> None:
    async with open_texts(Settings(), store=tmp_path / "t.sqlite") as texts:
        stream = await texts.manager.create()
        await stream.process(UserMessageEvent("What is the capital of France?"))
        last = stream.thread.state.last
        assert last is not None
        assert ("assistant", True) == (last.role, bool(last.text.strip()))


async def test_a_question_that_came_to_nothing_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    provider = ScriptedProvider([ResponderError("It refused.")], [TextDelta("Yes.")])
    monkeypatch.setattr(text_app, "_provider", lambda choice: (provider, None))
    async with opened(request(tmp_path)) as (_, stream):
        with pytest.raises(ProcessError):
            await stream.process(UserMessageEvent("Something forbidden."))
        await stream.process(UserMessageEvent("Hello?"))

    assert [SYSTEM, "Hello?"] == [turn.text for turn in provider.states[1].turns]
    assert ["Something forbidden.", "Hello?", "Yes."] == [turn.text for turn in stream.thread.state.turns]
