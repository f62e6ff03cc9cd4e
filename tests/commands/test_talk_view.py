"""The live view, with keys from a pipe and a screen that can be read."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input

from discussion_helper.commands.ending import HANGUP, INTERRUPTED
from discussion_helper.commands.full_screen import FRAME_S
from discussion_helper.commands.screen import can_suspend
from discussion_helper.commands.talk_view import LONGEST_TURN, TerminalFace
from discussion_helper.commands.talk_wishes import WISHES_HELD, Interrupt, Mute, Say, Suspend, Wishes
from discussion_helper.events import Event
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice

pytestmark = pytest.mark.anyio


Shows = Callable[..., AbstractAsyncContextManager[Any]]


def face_of(view: Any) -> TerminalFace:
    """The live view for it; `view.take(kind, **data)` shows it an event."""
    options: Any = {"keyboard": view.keyboard, "stop_job": view.screen.stop_job}
    view.wishes = Wishes()
    face = TerminalFace(view.wishes, view.end, view.lend, **options)
    view.take = lambda kind, **data: face.take(Event(kind, 0.0, data))
    return face


@pytest.fixture
def shown(seen: Any) -> Shows:
    return lambda width=80, height=24: seen(face_of, (width, height))


async def test_a_conversation_appears_as_it_happens(shown: Shows) -> None:
    async with shown() as view:
        session = Session(ScriptedListener(["Hello."], stays_open=True), EchoResponder(2), SilentVoice(0.01))
        events = session.events("*")
        session.start()
        view.face.tell("A remark.")
        async for event in events:
            view.face.take(event)
            if event.kind == "floor" and event.data["floor"] == "listening" and session.state["timings"]:
                break
        rows = await view.until(lambda rows: any("ms" in row for row in rows) and "listening" in rows[0])
        await session.stop()

    assert view.screen.size.rows == len(rows)
    assert rows[0].startswith(" ● listening")
    assert ["       A remark.", " you   Hello.", " agent Hello. Hello. (2)"] == rows[1:4]
    assert "ms" in rows[4]
    assert [" >", " ^T mute  PgUp/PgDn scroll  ^Q quit"] == rows[-2:]


async def test_the_agents_words_appear_as_it_says_them(shown: Shows) -> None:
    async with shown() as view:
        view.take("floor", floor="speaking")
        view.take("partial", speaker="agent", text="Good day.")
        await view.until(lambda rows: " agent Good day." in rows)
        view.take("partial", speaker="agent", text="How are you?")
        await view.until(lambda rows: " agent Good day. How are you?" in rows)
        view.take("partial", text="Fine")
        await view.until(lambda rows: " you   Fine …" in rows and " agent Good day. How are you?" in rows)


async def test_a_small_screen_keeps_everything_that_matters(shown: Shows) -> None:
    async with shown(40, 12) as view:
        view.take("device", which="microphone", state="silent", fix="Unmute it with the switch at its side.")
        for number in range(20):
            view.take("utterance", speaker="user", text=f"turn {number}", interrupted=False)
        rows = await view.until(lambda rows: " you   turn 19" in rows and any("Unmute" in row for row in rows))

    assert " ○ idle".ljust(29) + "mic ░░░░░░" == rows[0]
    assert ["! The microphone is silent. Unmute it", "  with the switch at its side.", " >"] == rows[8:11]
    assert " ^T mute  PgUp/PgDn scroll  ^Q quit" == rows[11]


@pytest.mark.parametrize(
    ("keys", "wish"),
    [
        ("\x1b", Interrupt()),
        ("\x18", Interrupt()),
        ("\x14", Mute(on=True)),
        pytest.param("\x1a", Suspend(muted=False), marks=pytest.mark.skipif(not can_suspend(), reason="no shell jobs")),
        ("Good day, 日本!\r", Say("Good day, 日本!")),
        ("\x1b[200~two\nlines\x1b[201~\r", Say("two lines")),
    ],
)
async def test_keys_are_wishes(shown: Shows, keys: str, wish: object) -> None:
    async with shown() as view:
        view.keyboard.send_text(keys)

        assert wish == await view.wishes.next()


async def test_the_key_that_interrupts_is_shown_while_the_agent_speaks(shown: Shows) -> None:
    async with shown() as view:
        view.take("floor", floor="speaking")
        await view.until(lambda rows: rows[-1].startswith(" Esc interrupt"))
        view.take("floor", floor="listening")
        await view.until(lambda rows: rows[-1].startswith(" ^T mute"))


async def test_a_note_goes_when_something_else_happens(shown: Shows) -> None:
    async with shown() as view:
        view.face.note("Nothing to interrupt.")
        await view.until(lambda rows: "       Nothing to interrupt." in rows)
        view.take("floor", floor="thinking")
        await view.until(lambda rows: "thinking" in rows[0] and not any("Nothing" in row for row in rows))


@pytest.mark.parametrize(("key", "code"), [("\x03", INTERRUPTED), ("\x11", 0)])
async def test_keys_that_end_the_talk(shown: Shows, key: str, code: int) -> None:
    async with shown() as view:
        view.keyboard.send_text(key)
        await view.ended.wait()

    assert [code] == view.codes


async def test_a_muted_microphone_is_opened_by_the_same_key(shown: Shows) -> None:
    async with shown() as view:
        view.take("device", which="microphone", state="muted")
        assert any("microphone muted" in row for row in await view.until(lambda rows: "muted" in rows[0]))
        view.keyboard.send_text("\x14")

        assert Mute(on=False) == await view.wishes.next()


async def test_the_screen_is_given_back_while_the_program_is_stopped(shown: Shows) -> None:
    async with shown() as view:
        assert view.screen.alternate
        view.take("utterance", speaker="user", text="Hello.", interrupted=False)
        await view.until(lambda rows: " you   Hello." in rows)
        await view.face.suspend()
        await view.until(lambda rows: view.screen.alternate and " you   Hello." in rows)

    assert [False] == view.screen.stopped


async def test_an_empty_line_says_nothing_and_a_sent_one_is_emptied(shown: Shows) -> None:
    async with shown() as view:
        view.keyboard.send_text("  \rHello.\r")
        assert Say("Hello.") == await view.wishes.next()

        assert " >" == (await view.until(lambda rows: " >" in rows))[-2]


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    ["x" * 100_000, f"{'word ' * 16}\r" * 1_250, "x\r" * 50_000, "\t" * 100_000, f"\x1b[200~{'x' * 100_000}\x1b[201~"],
)
async def test_a_key_that_ends_is_not_held_up_by_a_long_paste(shown: Shows, text: str) -> None:
    async with shown() as view:
        await view.leave(text)

    assert [INTERRUPTED] == view.codes


async def test_what_a_typed_turn_cannot_hold_is_told_and_the_rest_can_be_said(shown: Shows) -> None:
    async with shown() as view:
        view.keyboard.send_text("x" * LONGEST_TURN + "y")
        told = f"       A typed turn holds {LONGEST_TURN} characters: what came after them was left out."
        await view.until(lambda rows: told in rows)
        view.keyboard.send_text("\r")
        assert Say("x" * LONGEST_TURN) == await view.wishes.next()


async def test_keys_are_drawn_at_most_every_frame(shown: Shows) -> None:
    async with shown() as view:
        began, before = anyio.current_time(), view.screen.drawn
        for _ in range(200):
            view.keyboard.send_text("x")
            await anyio.lowlevel.checkpoint()
        await view.until(lambda rows: f" > {'x' * 70}"[:70] in rows[-2])
        assert view.screen.drawn - before <= (anyio.current_time() - began) / FRAME_S + 2


async def test_what_cannot_be_taken_stays_in_the_line_with_a_bell(shown: Shows) -> None:
    async with shown() as view:
        for number in range(WISHES_HELD):
            view.wishes.put(Say(str(number)))
        view.keyboard.send_text("Hello.\r")

        await view.until(lambda rows: " > Hello." in rows and view.screen.bells == 1)


async def test_typed_turns_are_seen_from_enter_until_they_are_said(shown: Shows) -> None:
    async with shown() as view:
        view.keyboard.send_text("One.\rTwo.\r")  # nobody takes wishes yet: models may be loading
        waits = ["       waiting: One.", "       waiting: Two."]
        await view.until(lambda rows: waits == [row for row in rows if "waiting" in row])
        view.take("utterance", speaker="user", text="One.", interrupted=False)
        await view.until(lambda rows: " you   One." in rows and waits[1:] == [row for row in rows if "waiting" in row])
        view.face.left_out("Two.", "Too many")
        await view.until(lambda rows: "       Too many: Two." in rows and not any("waiting" in row for row in rows))


async def scroll(view: Any) -> None:
    """Fill the view with turns, and go a page up."""
    for number in range(30):
        view.take("utterance", speaker="user", text=f"turn {number}", interrupted=False)
    await view.until(lambda rows: " you   turn 29" in rows)
    view.keyboard.send_text("\x1b[5~")


async def test_a_typed_turn_is_seen_also_where_the_view_was_scrolled(shown: Shows) -> None:
    async with shown(40, 12) as view:
        await scroll(view)
        await view.until(lambda rows: any("below" in row for row in rows))
        view.keyboard.send_text("Hello.\r")
        await view.until(lambda rows: "       waiting: Hello." in rows)


async def test_the_transcript_scrolls(shown: Shows) -> None:
    async with shown(40, 12) as view:
        await scroll(view)
        rows = await view.until(lambda rows: any("below" in row for row in rows))
        assert " you   turn 21" == rows[9]
        assert " 8 more lines below: PgDn" == rows[11]

        view.keyboard.send_text("\x1b[6~")
        await view.until(lambda rows: " you   turn 29" in rows)


async def test_any_size_can_be_drawn(shown: Shows) -> None:
    async with shown() as view:
        view.take("device", which="microphone", state="silent", fix="Unmute it. " * 20)
        view.take("utterance", speaker="agent", text="日本語 " * 50, interrupted=True, said="日本語 " * 99)
        view.take("floor", floor="speaking")
        for width, height in ((1, 1), (2, 5), (3, 3), (9, 40), (300, 2), (40, 12)):
            view.screen.size = Size(rows=height, columns=width)
            assert view.face.application is not None
            drawn = view.screen.drawn
            view.face.application._on_resize()
            assert view.screen.drawn > drawn
        rows = await view.until(lambda rows: len(rows) == 12)

    assert " ▶ speaking" == rows[0][:11]


async def test_nothing_is_drawn_while_nothing_looks_different(shown: Shows) -> None:
    async with shown() as view:
        view.take("level", dbfs=-50.0)
        await view.until(lambda rows: "█" in rows[0])
        before = view.screen.drawn
        for dbfs in (-50.4, -49.0, -48.0, -50.0) * 20:
            view.take("level", dbfs=dbfs)
            await anyio.lowlevel.checkpoint()
        assert before == view.screen.drawn

        view.take("level", dbfs=-30.0)
        await view.until(lambda rows: "███" in rows[0])


async def test_a_text_cannot_send_anything_to_the_terminal(shown: Shows) -> None:
    async with shown() as view:
        view.take("utterance", speaker="agent", text="\x1b]0;owned\x07 \x9b2J", interrupted=False)
        view.take("partial", text="\x1b[31mred")
        view.take("decision", what="\x1b[1m", why="\x07")
        view.face.tell("\x1bc")
        rows = await view.until(lambda rows: any("owned" in row for row in rows))

    assert not any(c < " " or "\x7f" <= c < "\xa0" for row in rows for c in row)


async def test_a_keyboard_that_goes_away_ends_the_talk(shown: Shows) -> None:
    async with shown() as view:
        view.keyboard.close()
        await view.ended.wait()

    assert [HANGUP] == view.codes


async def test_a_face_cancelled_before_it_was_drawn_leaves_nothing(view_of: Any) -> None:
    with create_pipe_input() as keyboard:
        view = view_of((80, 24), keyboard)
        view.face = face_of(view)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await view.face.run()

    assert not view.screen.alternate


async def test_the_transcript_is_left_behind(view_of: Any) -> None:
    with create_pipe_input() as keyboard:
        view = view_of((80, 24), keyboard)
        view.face = face_of(view)
        view.take("utterance", speaker="user", text="Hello.", interrupted=False)
        view.take("utterance", speaker="agent", text="Hi.", interrupted=True, said="Hi. How are you?")
        view.take("ended", reason="finished")

        assert [
            " you   Hello.",
            " agent Hi. [not heard: How are you?]",
            "       The talk is over.",
        ] == view.face.farewell()
