"""A talk that is kept as a thread."""

import argparse
from pathlib import Path

import pytest

from discussion_helper.command_line import parse
from discussion_helper.commands.chat import request_of
from discussion_helper.commands.talk_json import document_of
from discussion_helper.commands.talk_thread import SHOWN, add_keeping, kept_id, kept_thread, past_of
from discussion_helper.errors import SettingError
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text.threads.sqlite import SqliteThreads
from discussion_helper.types import Utterance

pytestmark = pytest.mark.anyio


def arguments(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_keeping(parser)
    return parser.parse_args(options)


async def test_nothing_is_kept_unless_asked_for() -> None:
    async with kept_thread(arguments()) as thread:
        assert thread is None


async def test_what_was_said_is_in_the_thread_and_another_talk_goes_on_with_it(tmp_path: Path) -> None:
    store = f"--store={tmp_path / 'talks.sqlite'}"
    async with kept_thread(arguments("--keep", store)) as thread:
        assert thread is not None
        await thread.append(Utterance("user", "hello"))
        thread_id = thread.thread.id
    async with kept_thread(arguments(f"--thread={thread_id}", store)) as thread:
        assert thread is not None
        await thread.append(Utterance("agent", "Hello!"))
        assert ["hello", "Hello!"] == [message["content"] for message in thread.messages()]


async def test_a_new_thread_in_which_nothing_was_said_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "talks.sqlite"
    async with kept_thread(arguments("--keep", "--store", str(file))):
        pass
    async with SqliteThreads(file) as store:
        assert [] == await store.list()


@pytest.mark.parametrize("which", ["--last", "--thread=some-thread"])
async def test_going_on_makes_no_database(which: str, tmp_path: Path) -> None:
    file = tmp_path / "slip.sqlite"
    with pytest.raises(SettingError, match=r"--store: .*slip\.sqlite is not there"):
        async with kept_thread(arguments(which, "--store", str(file))):
            pass
    assert not file.exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--store", "x.sqlite"], "--store: nothing is kept"),
        (["--keep", "--store", "."], "--store: "),
        (["--thread", "no-such-thread", "--store", ":memory:"], "--thread: there is no thread"),
        (["--thread="], "--thread: it is empty"),
        (["--thread=", "--keep"], "--thread: it is empty"),
        (["--last", "--store", ":memory:"], "--last: there is no thread yet"),
    ],
)
async def test_what_cannot_be_kept_is_told_by_its_option(options: list[str], says: str) -> None:
    with pytest.raises(SettingError, match=says) as refused:
        async with kept_thread(arguments(*options)):
            pass
    assert refused.value.fix


async def test_where_it_is_kept_and_what_was_said_before_are_told_at_the_start(tmp_path: Path) -> None:
    store = f"--store={tmp_path / 'talks.sqlite'}"
    async with kept_thread(arguments("--keep", store)) as thread:
        assert thread is not None
        thread_id = thread.thread.id
        assert [f"This talk is kept as thread {thread_id}."] == list(past_of(thread))
        assert kept_id(thread) is None
        await thread.append(Utterance("user", "one\ntwo\x1b"))
        assert [f"Going on with 1 turn of thread {thread_id}.", "you: one two\ufffd"] == list(past_of(thread))
        for text in ("x" * 1000, "", "3", "4", "5"):
            await thread.append(Utterance("agent", text))
    async with kept_thread(arguments("--last", store)) as thread:
        assert thread is not None
        assert thread_id == kept_id(thread)
        session = Session(ScriptedListener([]), EchoResponder(), SilentVoice())
        assert thread_id == document_of(session, thread)["thread_id"]
        head, left_out, first, *rest = past_of(thread)
        assert (f"Going on with 6 turns of thread {thread_id}.", "...") == (head, left_out)
        assert first.startswith("agent: xxx")
        assert 200 == len(first)
        assert ["agent: 3", "agent: 4", "agent: 5"] == rest
        assert SHOWN == 1 + len(rest)


def test_a_chat_takes_an_empty_name_for_no_thread_either() -> None:
    with pytest.raises(SettingError, match="--thread: it is empty"):
        request_of(parse(["chat", "--thread="]))


def test_of_what_is_not_kept_nothing_is_told() -> None:
    assert [] == list(past_of(None))
    assert kept_id(None) is None
