"""A talk that is kept as a thread."""

import argparse
from pathlib import Path

import pytest

from discussion_helper.commands.talk_thread import add_keeping, kept_thread
from discussion_helper.errors import SettingError
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


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--store", "x.sqlite"], "--store: nothing is kept"),
        (["--keep", "--store", "."], "--store: "),
        (["--thread", "no-such-thread", "--store", ":memory:"], "--thread: there is no thread"),
    ],
)
async def test_what_cannot_be_kept_is_told_by_its_option(options: list[str], says: str) -> None:
    with pytest.raises(SettingError, match=says) as refused:
        async with kept_thread(arguments(*options)):
            pass
    assert refused.value.fix
