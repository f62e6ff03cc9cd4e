"""The picture of a chat as a function of its stream's events."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from discussion_helper.commands.chat_entries import Called, Remark, Returned, Said, Spent, Thought, You
from discussion_helper.commands.chat_lines import Transcript, header, keys, waiting_lines
from discussion_helper.commands.chat_state import ChatState
from discussion_helper.commands.wrap import Line, cells
from discussion_helper.errors import ResponderError
from discussion_helper.text.artifacts import (
    Artifact,
    Image,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolResult,
    Usage,
)
from discussion_helper.text.inputs import EventContext
from discussion_helper.text.outputs import (
    ArtifactEvent,
    ClosedEvent,
    ErrorEvent,
    LifecycleEvent,
    OutputEvent,
    PropertiesEvent,
    TurnCompleteEvent,
)
from discussion_helper.text.state import Turn

FIRST = EventContext(event_id="first")
CALL = ToolCall("c1", "weather", '{"town": "Rome"}')
TOOLED = [
    Turn("user", (Text("How is it?"),)),
    Turn("assistant", (Reasoning("I must look."), CALL, Usage(9, 5, 14))),
    Turn("tool", (ToolResult("c1", "sunny"),)),
    Turn("assistant", (Text("It is *sunny*."), Usage(20, 4, 24))),
]


def after(*events: OutputEvent, turns: Iterable[Turn] = ()) -> ChatState:
    state = ChatState.of(list(turns))
    for event in events:
        state.take(event)
    return state


def came(*artifacts: Artifact) -> list[OutputEvent]:
    return [ArtifactEvent(artifact, FIRST) for artifact in artifacts]


def asked(text: str) -> list[OutputEvent]:
    turn = Turn("user", (Text(text),))
    return [TurnCompleteEvent(turn, FIRST), LifecycleEvent("submitted", FIRST), LifecycleEvent("streaming", FIRST)]


def answered(*artifacts: Artifact) -> list[OutputEvent]:
    return [TurnCompleteEvent(Turn("assistant", artifacts), FIRST), LifecycleEvent("done", FIRST)]


def rows(lines: Iterable[Line]) -> list[str]:
    return ["".join(text for _, text in line).rstrip() for line in lines]


def seen(state: ChatState, width: int = 40, height: int = 100) -> list[str]:
    return rows(Transcript(state).visible(width, height))


# -- events


def test_an_answer_grows_and_then_is_whole() -> None:
    state = after(*asked("Hello?"), *came(TextDelta("Good "), TextDelta("day.")))
    assert ([You("Hello?")], "Good day.", True) == (state.entries, state.live.text, state.running)

    for event in [*came(Text("Good day.")), *answered(Text("Good day."))]:
        state.take(event)
    assert ([You("Hello?"), Said("Good day.")], "", False) == (state.entries, state.live.text, state.running)


def test_a_whole_artifact_behind_its_pieces_is_not_shown_twice() -> None:
    state = after(*came(TextDelta("a"), Text("a"), Text("b"), TextDelta("c"), ReasoningDelta("r"), Reasoning("r")))

    assert ("abc", "r") == (state.live.text, state.live.thought)


def test_calls_grow_by_their_index_and_a_whole_call_is_not_shown_twice() -> None:
    pieces = [ToolCallDelta(0, "c1", "wea"), ToolCallDelta(1, "c2", "time"), ToolCallDelta(0, "", "ther", "{}")]
    state = after(*came(*pieces, ToolCall("c1", "weather", "{}"), ToolCall("c3", "news", "")))

    assert [Called("weather", "{}"), Called("time", ""), Called("news", "")] == state.live.calls


def test_every_part_of_a_turn_is_an_entry() -> None:
    assert [
        You("How is it?"),
        Thought("I must look."),
        Called("weather", '{"town": "Rome"}'),
        Spent(9, 5),
        Returned("weather", "sunny"),
        Said("It is *sunny*."),
        Spent(20, 4),
    ] == after(turns=TOOLED).entries


def test_a_picture_is_its_address() -> None:
    assert [Said("![image](http://a/b.png)")] == after(turns=[Turn("assistant", (Image("http://a/b.png"),))]).entries


def test_what_was_cancelled_stays_in_sight_as_cut_off() -> None:
    cancelled = [LifecycleEvent("cancelled", FIRST), LifecycleEvent("done", FIRST)]
    state = after(*asked("Hi."), *came(ReasoningDelta("Hm."), TextDelta("Well, ")), *cancelled)

    assert [You("Hi."), Thought("Hm."), Said("Well, ", cut=True), Remark("Cancelled.")] == state.entries
    assert not state.running


def test_an_empty_answer_is_told() -> None:
    assert Remark("The answer is empty.") == after(*asked("Hello?"), *answered(Usage(1, 0, 1))).entries[-1]
    for turn in (Turn("assistant", (CALL,)), Turn("assistant", interrupted=True), Turn("assistant", (Text("5"),))):
        assert Remark("The answer is empty.") not in after(turns=[Turn("user", (Text("?"),)), turn]).entries


def test_an_earlier_question_without_an_answer_is_marked() -> None:
    cancelled, tooled = Turn("user", (Text("Never mind."),)), TOOLED[:3]
    state = ChatState.of([cancelled, *TOOLED, *tooled])

    marked = [before for before, entry in pairwise(state.entries) if entry == Remark("[not answered]")]
    assert [You("Never mind."), You("How is it?")] == marked
    assert "  [not answered]" in seen(state)


def test_an_error_is_one_line_with_its_fix() -> None:
    failed = ErrorEvent(ResponderError("Nobody\nanswers.", fix="Start the server."), FIRST)
    state = after(*asked("Hi."), *came(TextDelta("We")), failed, LifecycleEvent("done", FIRST))

    problem = Remark("Nobody answers. Start the server.", problem=True)
    assert [You("Hi."), Said("We", cut=True), problem] == state.entries
    assert "! Nobody answers. Start the server." == seen(state)[-1]


def test_a_message_waits_until_its_turn_or_its_end() -> None:
    state = ChatState()
    for event_id in ("first", "second"):
        state.sent(event_id, event_id)
    state.take(asked("first")[0])
    assert {"second": "second"} == state.waiting

    state.take(LifecycleEvent("done", EventContext(event_id="second")))  # it could not be stored
    assert {} == state.waiting


def test_what_an_interrupt_dropped_is_told_when_it_is_over() -> None:
    state = ChatState()
    for event_id in ("second", "third"):
        state.sent(event_id, event_id)
    state.dropped()
    assert ({}, []) == (state.waiting, state.entries)

    state.take(LifecycleEvent("done", FIRST))
    assert [Remark("2 waiting messages were dropped.")] == state.entries


def test_properties_are_merged_key_by_key() -> None:
    state = after(PropertiesEvent({"model": "m", "a": "1"}), PropertiesEvent({"a": None, "b": "2"}))

    assert {"model": "m", "b": "2"} == state.properties


@pytest.mark.parametrize("event", [ClosedEvent(), *came(Usage(1, 2, 3)), *came(ToolResult("c"))])
def test_what_looks_like_nothing_needs_no_drawing(event: OutputEvent) -> None:
    assert not ChatState().take(event)


# -- lines


def test_details_are_folded_to_a_line_and_unfolded_for_the_newest_exchange_alone() -> None:
    state = after(turns=[*TOOLED, *TOOLED])
    folded = [
        "> How is it?",
        "  thought: I must look.",
        '  calls weather {"town": "Rome"}',
        "  weather gives sunny",
        "",
        "● It is sunny.",
    ]
    assert [*folded, "", *folded] == seen(state)

    state.toggle()
    unfolded = [
        *["> How is it?", "  thought: I must look.", '  calls weather: {"town": "Rome"}'],
        *["  tokens: 9 read, 5 written", "  weather gives: sunny", "", "● It is sunny."],
        "  tokens: 20 read, 4 written",
    ]
    assert [*folded, "", *unfolded] == seen(state)


def test_a_long_thought_shows_its_end_in_a_line_and_all_of_it_unfolded() -> None:
    thought = " ".join(f"word{number}" for number in range(50))
    state = after(*asked("Hi."), *came(ReasoningDelta(thought)))
    (line,) = [row for row in seen(state) if "thought" in row]
    assert line.startswith("  thought: …")
    assert line.endswith("word48 word49")
    assert cells([("", line)]) <= 40

    state.toggle()
    assert thought == " ".join(" ".join(seen(state)[1:]).split()).removeprefix("thought: ")


def test_a_failed_tool_is_told_as_that() -> None:
    state = after(turns=[*TOOLED[:2], Turn("tool", (ToolResult("c1", "no such town", is_error=True),))])

    assert "  weather fails no such town" == seen(state)[-1]


def test_markdown_is_drawn_while_it_comes() -> None:
    state = after(*asked("Hi."), *came(TextDelta("# A head\n\n- one\n- t")))

    assert [["●", "A", "head"], ["•", "one"], ["•", "t"]] == [row.split() for row in seen(state)[2:] if row]


def test_before_the_first_word_there_is_something_to_see() -> None:
    assert ["> Hi.", "…"] == seen(after(*asked("Hi.")))


def test_the_header_tells_what_goes_on_and_what_answers() -> None:
    state = after(PropertiesEvent({"model": "a model"}))
    assert [f" ○ ready{'a model'.rjust(31)}"] == rows([header(state, 40)])

    state = after(*asked("Hi."), PropertiesEvent({"model": "a model"}))
    state.sent("second", "x")
    assert [f" ▶ answering  1 waiting{'a model'.rjust(16)}"] == rows([header(state, 40)])
    assert [" ▶ ans…"] == rows([header(state, 7)])


def test_what_waits_is_shown_up_to_three() -> None:
    state = after(*asked("Hi."))
    for number in range(5):
        state.sent(str(number), f"message\n{number}")

    assert [" ⋯ message 0", " ⋯ message 1", " ⋯ message 2", " ⋯ and 2 more"] == rows(waiting_lines(state, 40))


def test_keys_that_do_not_fit_are_left_out() -> None:
    assert [" ^O details  Esc cancel"] == rows([keys(24)])
    assert [" 7 more lines below: PgDn"] == rows([keys(40, below=7)])


def test_a_view_that_is_scrolled_up_stays_where_it_is() -> None:
    state = after(*(TurnCompleteEvent(Turn("user", (Text(f"turn {number}"),))) for number in range(20)))
    transcript = Transcript(state)
    assert ["> turn 19"] == rows(transcript.visible(40, 5))[-1:]

    transcript.scroll(1)
    before = rows(transcript.visible(40, 5))
    for event in [*asked("more"), *came(TextDelta("and\n\nmore"))]:
        state.take(event)
        assert before == rows(transcript.visible(40, 5))
    for event in answered(Text("and\n\nmore")):
        state.take(event)
        assert before == rows(transcript.visible(40, 5))

    transcript.scroll(-9)
    assert "  more" == rows(transcript.visible(40, 5))[-1]
    transcript.scroll(99)
    assert "> turn 0" == rows(transcript.visible(40, 5))[0]


def test_only_what_is_looked_at_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def lines(text: str, width: int) -> list[Line]:
        made.append(text)
        return [[("", text)]]

    monkeypatch.setattr("discussion_helper.commands.chat_lines.markdown_lines", lines)
    transcript = Transcript(after(turns=[Turn("assistant", (Text(f"answer {n}"),)) for n in range(1000)]))
    for _ in range(2):
        assert "● answer 999" == rows(transcript.visible(40, 6))[-1]
    assert ["answer 999", "answer 998", "answer 997"] == made


@pytest.mark.parametrize("width", [1, 2, 3, 7, 20, 80])
def test_any_width_and_any_text_can_be_drawn(width: int) -> None:
    hostile = "\x1b]0;owned\x07\n\x9b2J\u202e日本語 \ud800 &#27;[2J &#8238;" * 3
    parts: list[Any] = [Reasoning(hostile), ToolCall("c", hostile, hostile), Text(hostile), Usage(1, 1, 2)]
    turns = [Turn("user", (Text(hostile),)), Turn("assistant", tuple(parts)), Turn("tool", (ToolResult("c", hostile),))]
    state = after(*asked("Hi."), *came(ReasoningDelta(hostile), TextDelta(hostile)), turns=turns)
    state.remark(hostile, problem=True)
    state.sent("x", hostile)
    state.properties["model"] = hostile
    for _ in range(2):
        state.toggle()
        around = [*waiting_lines(state, width), header(state, width), keys(width)]
        lines = [*Transcript(state).visible(width, 500), *around]
        text = "".join(text for line in lines for _, text in line)
        assert all(character.isprintable() for character in text)
        assert "\u202e" not in text
        assert width < 7 or all(cells(line) <= width for line in lines)
