"""The screen of a chat, on a real stream, with keys from a pipe and a screen that can be read."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.history import InMemoryHistory

from discussion_helper.commands import chat_turns
from discussion_helper.commands.chat_history import KEPT_BYTES, TypedHistory
from discussion_helper.commands.chat_state import ChatState
from discussion_helper.commands.chat_turns import LONGEST_MESSAGE, ChatTurns
from discussion_helper.commands.chat_view import LONGEST_TYPED, ChatScreen
from discussion_helper.commands.ending import HANGUP, INTERRUPTED
from discussion_helper.errors import ResponderError
from discussion_helper.text.artifacts import ReasoningDelta, TextDelta
from discussion_helper.text.errors import QueueFullError
from discussion_helper.text.manager import Manager
from discussion_helper.text.outputs import LifecycleEvent
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider
from discussion_helper.text.step import Step
from discussion_helper.text.stream import Stream
from discussion_helper.text.threads.memory import MemoryThreads

pytestmark = pytest.mark.anyio


Shows = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture
def shown(seen: Any) -> Shows:
    """`shown(*answers)`: a chat whose model gives these."""

    @asynccontextmanager
    async def show(
        *answers: Any, size: tuple[int, int] = (80, 24), history: Any = None, options: Any = None
    ) -> AsyncIterator[Any]:
        manager = Manager(MemoryThreads(), ScriptedProvider(*answers), lambda _: Step(), **(options or {}))
        async with manager:
            stream = await manager.create()
            make = face_of(stream, history or InMemoryHistory())
            async with seen(make, size) as view, anyio.create_task_group() as tasks:
                tasks.start_soon(follow, stream.subscribe(buffer=10_000), view)
                yield view
                tasks.cancel_scope.cancel()

    return show


def face_of(stream: Stream, history: InMemoryHistory) -> Callable[[Any], ChatScreen]:
    def make(view: Any) -> ChatScreen:
        view.stream, view.state = stream, ChatState.of(stream.thread.state.turns)
        options: Any = {"keyboard": view.keyboard, "history": history}
        return ChatScreen(view.state, ChatTurns(stream, view.state), view.end, view.lend, **options)

    return make


async def follow(events: Any, view: Any) -> None:
    async for event in events:
        view.face.take(event)


async def test_a_message_is_answered_as_the_answer_comes(shown: Shows) -> None:
    go_on = anyio.Event()
    answer = [ReasoningDelta("Greet them."), TextDelta("Good "), go_on, TextDelta("**day**.")]
    async with shown(answer) as view:
        view.type("Hello?\r")
        rows = await view.until(lambda rows: "● Good" in rows)
        assert [" ▶ answering", "> Hello?", "  thought: Greet them.", "", "● Good"] == rows[:5]

        go_on.set()
        rows = await view.until(lambda rows: rows[0] == " ○ ready")
    assert ["> Hello?", "  thought: Greet them.", "", "● Good day."] == rows[1:5]
    assert [" >", " ^O details  Esc cancel  PgUp/PgDn scroll  ^Q quit  Alt-Enter new line"] == rows[-2:]
    assert 1 == view.screen.bells


@pytest.mark.parametrize("key", ["\x1b\r", "\n", "\x1b[13;2u", "\x1b[27;2;13~"])
async def test_a_message_of_several_lines(shown: Shows, key: str) -> None:
    async with shown([TextDelta("Yes.")]) as view:
        view.type(f"one{key}two")
        rows = await view.until(lambda rows: "   two" in rows)
        assert [" > one", "   two"] == rows[-3:-1]

        view.type("\r")
        rows = await view.until(lambda rows: "● Yes." in rows)
    assert ["> one", "  two"] == rows[1:3]


async def test_pasted_lines_are_one_message(shown: Shows) -> None:
    async with shown([TextDelta("Yes.")]) as view:
        view.type("\x1b[200~one\rtwo\x1b[201~\r")
        assert ["> one", "  two"] == (await view.until(lambda rows: "● Yes." in rows))[1:3]


async def test_what_was_typed_comes_back(shown: Shows, tmp_path: Path) -> None:
    file = tmp_path / "typed.txt"
    async with shown([TextDelta("Yes.")], history=TypedHistory(file)) as view:
        view.type("first\rsecond\r")
        await view.until(lambda rows: rows.count("● Yes.") == 2)
        view.type("\x1b[A\x1b[A")
        await view.until(lambda rows: " > first" in rows)
        view.type("\x1b[B")
        await view.until(lambda rows: " > second" in rows)

    async with shown(history=TypedHistory(file)) as view:
        while not view.rows[-2].endswith("second"):  # the file is read beside
            view.type("\x1b[A")
            await view.screen.changed.wait()


async def test_details_are_unfolded_and_folded(shown: Shows) -> None:
    async with shown([ReasoningDelta("one\ntwo"), TextDelta("Yes.")]) as view:
        view.type("Hello?\r")
        await view.until(lambda rows: "  thought: one two" in rows and "● Yes." in rows)
        view.type("\x0f")
        await view.until(lambda rows: "  thought: one" in rows and "    two" in rows)
        view.type("\x0f")
        await view.until(lambda rows: "  thought: one two" in rows)


async def test_esc_cancels_the_turn_and_what_waits_goes_on(shown: Shows) -> None:
    async with shown([TextDelta("Well"), FOREVER], [TextDelta("Yes.")]) as view:
        view.type("one\r")
        await view.until(lambda rows: "● Well" in rows)
        view.type("two\r")
        await view.until(lambda rows: " ⋯ two" in rows and "1 waiting" in rows[0])
        view.type("\x1b")
        rows = await view.until(lambda rows: "● Yes." in rows and rows[0] == " ○ ready")

    assert ["● Well", "  — cut off, and not kept", "  Cancelled.", "", "> two", "", "● Yes."] == rows[3:10]
    assert 1 == view.screen.bells


async def test_a_second_esc_drops_what_waits(shown: Shows) -> None:
    async with shown([TextDelta("Well"), FOREVER]) as view:
        view.type("one\r")
        await view.until(lambda rows: "● Well" in rows)
        view.type("two\rthree\rfour\r")
        await view.until(lambda rows: "3 waiting" in rows[0])
        view.type("\x1b\x1b")
        rows = await view.until(lambda rows: rows[0] == " ○ ready" and any("dropped" in row for row in rows))

        assert not any("three" in row for row in rows if not row.startswith(" >"))
        assert ["one"] == [turn.text for turn in view.stream.thread.state.turns][:1]
        assert {} == view.state.waiting
        assert 0 == view.screen.bells


async def test_a_later_esc_cancels_again() -> None:
    submitted: list[str] = []

    class Fake:
        def submit(self, event: Any) -> None:
            submitted.append(event.kind)

        def cancel(self) -> None:
            submitted.append("cancel")

    state = ChatState()
    turns = ChatTurns(Fake(), state)
    turns.escape()
    assert [] == submitted  # nothing runs

    state.take(LifecycleEvent("submitted"))
    turns._asked_s = anyio.current_time() - chat_turns.AGAIN_S - 0.001
    turns.escape()
    turns.escape()
    assert ["cancel", "interrupt"] == submitted


async def test_an_error_is_told_in_the_chat_and_the_chat_goes_on(shown: Shows) -> None:
    failing = [TextDelta("We"), ResponderError("It broke.", fix="Mend it.")]
    async with shown(failing, [TextDelta("Yes.")]) as view:
        view.type("one\r")
        await view.until(lambda rows: "! It broke. Mend it." in rows)
        view.type("two\r")
        await view.until(lambda rows: "● Yes." in rows)


async def test_a_message_that_is_not_taken_stays_where_it_was_typed(shown: Shows) -> None:
    async with shown([FOREVER], options={"inbox": 1}) as view:
        view.type("one\r")
        await view.until(lambda rows: "> one" in rows and "thinking" in rows[0])
        view.type("two\rthree\r")
        rows = await view.until(lambda rows: any(row.startswith("! ") for row in rows))
        assert " > three" == rows[-2]
        assert any(str(QueueFullError(view.stream.id, 1))[:20] in row for row in rows)


@pytest.mark.timed
@pytest.mark.parametrize("text", ["x" * 100_000, f"{'word ' * 16}\n" * 1_250, "x\r" * 50_000])
async def test_a_key_that_leaves_is_not_held_up_by_a_long_paste(shown: Shows, text: str) -> None:
    async with shown() as view:
        await view.leave(text)

    assert [INTERRUPTED] == view.codes


async def test_what_cannot_be_typed_in_one_message_is_told_until_it_is_sent(shown: Shows) -> None:
    async with shown([TextDelta("Yes.")]) as view:
        await anyio.to_thread.run_sync(view.type, "x" * (LONGEST_TYPED + 1))
        told = f"  A message here holds {LONGEST_TYPED} characters, and the rest was left out: chat --pipe"
        await view.until(lambda rows: told in rows and "  takes more." in rows)
        view.type("\r")
        await view.until(lambda rows: "● Yes." in rows and told not in rows)
        assert LONGEST_TYPED == len(view.stream.thread.state.turns[0].text)


async def test_a_message_beyond_all_measure_is_refused() -> None:
    state = ChatState()
    assert not ChatTurns(None, state).send("x" * (LONGEST_MESSAGE + 1))  # type: ignore[arg-type]
    assert state.entries[-1].problem  # type: ignore[union-attr]


@pytest.mark.parametrize(("key", "code"), [("\x03", INTERRUPTED), ("\x11", 0), ("\x04", 0), ("x\x03", INTERRUPTED)])
async def test_keys_that_leave(shown: Shows, key: str, code: int) -> None:
    async with shown() as view:
        view.type(key)
        await view.ended.wait()

    assert [code] == view.codes


async def test_an_empty_message_is_none(shown: Shows) -> None:
    async with shown([TextDelta("Yes.")]) as view:
        view.type("\r  \rHello?\r")
        rows = await view.until(lambda rows: "● Yes." in rows)

    assert 1 == sum(row.startswith("> ") for row in rows)


async def test_the_transcript_scrolls_and_sending_returns_to_its_end(shown: Shows) -> None:
    async with shown([TextDelta("\n\n".join(f"line {n}" for n in range(40)))], size=(40, 12)) as view:
        view.type("Hello?\r")
        await view.until(lambda rows: "  line 39" in rows and rows[0] == " ○ ready")
        view.type("\x1b[5~")
        rows = await view.until(lambda rows: "more lines below" in rows[-1])
        assert "  line 39" not in rows
        view.type("Again\r")
        await view.until(lambda rows: "more lines below" not in rows[-1])


async def test_any_size_can_be_drawn(shown: Shows) -> None:
    async with shown([ReasoningDelta("日本語 " * 50), TextDelta("日本語 " * 50 + "\n\n- a\n- b")]) as view:
        view.type("日本語 " * 20 + "\r")
        await view.until(lambda rows: rows[0] == " ○ ready" and any("日" in row for row in rows))
        view.type("some more that is not sent")
        for width, height in ((1, 1), (2, 5), (3, 3), (20, 10), (9, 40), (300, 2), (40, 12)):
            view.screen.size = Size(rows=height, columns=width)
            assert view.face.application is not None
            drawn = view.screen.drawn
            view.face.application._on_resize()
            assert view.screen.drawn > drawn
        rows = await view.until(lambda rows: len(rows) == 12)

    assert " ○ ready" == rows[0]


async def test_a_fast_answer_is_drawn_at_most_every_frame_and_an_idle_chat_never(shown: Shows) -> None:
    async with shown([TextDelta("word ") for _ in range(2000)]) as view:
        began, before = anyio.current_time(), view.screen.drawn
        view.type("Hello?\r")
        await view.until(lambda rows: rows[0] == " ○ ready" and any("word" in row for row in rows))
        frames = (anyio.current_time() - began) / 0.016
        drawn = view.screen.drawn
        assert drawn - before <= frames + len("Hello?\r") + 3

        for _ in range(1000):
            await anyio.lowlevel.checkpoint()
        assert drawn == view.screen.drawn


async def test_a_text_cannot_send_anything_to_the_terminal(shown: Shows) -> None:
    async with shown([TextDelta("\x1b]0;owned\x07 \x9b2J &#27;[2J")]) as view:
        view.type("Hello?\r")
        rows = await view.until(lambda rows: any("owned" in row for row in rows))

    assert all(character.isprintable() for row in rows for character in row)


async def test_a_closed_terminal_ends_the_chat(shown: Shows) -> None:
    async with shown() as view:
        view.keyboard.close()
        await view.ended.wait()

    assert [HANGUP] == view.codes


# -- what was typed


def test_what_is_typed_is_for_its_user_alone(tmp_path: Path) -> None:
    file = tmp_path / "typed.txt"
    file.write_text("")
    file.chmod(0o644)
    TypedHistory(file).store_string("a secret\nof two lines")

    assert os.name == "nt" or 0o600 == file.stat().st_mode & 0o777  # Windows has no such bits
    assert ["a secret\nof two lines"] == list(TypedHistory(file).load_history_strings())


def test_the_older_half_of_what_was_typed_goes(tmp_path: Path) -> None:
    file = tmp_path / "typed.txt"
    history = TypedHistory(file)
    for number in range(KEPT_BYTES // 1000 + 1):
        history.store_string(f"{number} {'x' * 1000}")
    typed = list(TypedHistory(file).load_history_strings())

    assert KEPT_BYTES // 2 >= file.stat().st_size
    assert str(KEPT_BYTES // 1000) == typed[0].split()[0]
    assert all(text.split()[0].isdecimal() for text in typed)


def test_a_history_that_cannot_be_kept_is_empty(tmp_path: Path) -> None:
    history = TypedHistory(tmp_path)
    history.store_string("lost")

    assert [] == list(history.load_history_strings())
