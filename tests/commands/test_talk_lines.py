"""The picture of a talk."""

from typing import Any

import pytest

from discussion_helper.commands.talk_lines import (
    STYLE,
    Transcript,
    entry_lines,
    header,
    keys,
    left_lines,
    live_lines,
    problem_lines,
)
from discussion_helper.commands.talk_state import LEVELS, Entry, Remark, TalkState, Turn, Wait
from discussion_helper.commands.wrap import Line, cells
from discussion_helper.types import Floor

WAIT = Wait((("endpoint", 200), ("recognise", 150), ("think", 100), ("speak", 50)), 500)


def text_of(line: Line) -> str:
    return "".join(text for _, text in line)


def texts(lines: list[Line]) -> list[str]:
    return [text_of(line).rstrip() for line in lines]


def state_of(**fields: Any) -> TalkState:
    return TalkState(**fields)


def test_the_heard_words_stand_out_from_the_unheard() -> None:
    (line,) = entry_lines(Turn("agent", "Good day", "to you.", interrupted=True), 80)

    assert " agent Good day [not heard: to you.]" == text_of(line)
    assert {"Good", "day"} == {text for style, text in line if style == "" and text.strip()}
    assert {"[not", "heard:", "to", "you.]"} == {
        text for style, text in line if style == "class:unheard" and text.strip()
    }


@pytest.mark.parametrize(
    ("turn", "shown"),
    [
        (Turn("agent", "Good day", "to you.", True), " agent Good day [not heard: to you.]"),
        (Turn("agent", "A ruler,", "had one.", True), " agent A ruler, [not heard: had one.]"),
        (Turn("agent", "A word.", "", True), " agent A word. [interrupted]"),
        (Turn("agent", "", "A word.", True), " agent [not heard: A word.]"),
        (Turn("user", "Hello."), " you   Hello."),
    ],
)
def test_a_cut_is_told_without_colours_too(turn: Turn, shown: str) -> None:
    assert [shown] == texts(entry_lines(turn, 80)) == left_lines(turn, 80)


def test_long_turns_hang_below_their_speaker() -> None:
    lines = entry_lines(Turn("user", "one two three four five six seven"), 24)

    assert [" you   one two three", "       four five six", "       seven"] == texts(lines)


def test_the_stages_of_a_wait_and_their_sum_are_named() -> None:
    assert ["       endpoint 200  recognise 150  think 100  speak 50  = 500 ms"] == texts(entry_lines(WAIT, 80))


@pytest.mark.parametrize(
    "entry", [Turn("user", "a\x1b]0;x\x07b"), Turn("agent", "\x1b[2J", "\x1b[1A"), Remark("\x9b5n")]
)
def test_no_control_character_comes_from_a_text(entry: Entry) -> None:
    assert not any(c < " " or c in "\x7f\x9b" for line in entry_lines(entry, 80) for c in text_of(line))


@pytest.mark.parametrize("width", [1, 5, 12, 40, 60, 80, 200])
@pytest.mark.parametrize("floor", list(Floor))
@pytest.mark.parametrize("muted", [False, True])
def test_the_header_fits_its_width(width: int, floor: Floor, muted: bool) -> None:
    assert cells(header(state_of(floor=floor, muted=muted, level=7), width)) <= width


def test_the_header_tells_the_floor_and_the_level() -> None:
    assert " ● listening".ljust(56) + "microphone ██████░░░░░░ " == text_of(
        header(state_of(floor=Floor.LISTENING, level=6), 80)
    )
    assert " ▶ speaking".ljust(29) + "mic ██████ " == text_of(header(state_of(floor=Floor.SPEAKING, level=LEVELS), 40))
    assert text_of(header(state_of(muted=True), 80)).endswith("microphone muted ")


def test_the_bottom_line_has_the_keys_that_fit() -> None:
    assert " Esc interrupt  ^T mute  PgUp/PgDn scroll  ^Q quit " == text_of(keys(80, speaking=True))
    assert " Esc interrupt  ^T mute  ^Q quit " == text_of(keys(40, speaking=True))
    assert " 12 more lines below: PgDn" == text_of(keys(80, below=12))
    assert all(cells(keys(width, below=below)) <= width for width in range(1, 30) for below in (0, 12))


def test_an_interruption_is_offered_only_while_there_is_something_to_interrupt() -> None:
    assert " ^T mute  PgUp/PgDn scroll  ^Q quit " == text_of(keys(80))


def test_problems_are_shown_whole() -> None:
    lines = problem_lines(state_of(problems={"microphone": "The microphone is silent. Unmute it with the switch."}), 30)

    assert ["! The microphone is silent.", "  Unmute it with the switch."] == texts(lines)


def test_the_turn_under_way_is_shown() -> None:
    assert [" you   What is …"] == texts(live_lines(state_of(floor=Floor.LISTENING, partial="What is"), 80))
    assert [" agent …"] == texts(live_lines(state_of(floor=Floor.SPEAKING), 80))
    assert [" agent Good day."] == texts(live_lines(state_of(floor=Floor.SPEAKING, saying="Good day."), 80))
    assert ["       ignored: no words"] == texts(live_lines(state_of(note="ignored: no words"), 80))
    assert [" you   Um …", "       a note"] == texts(live_lines(state_of(partial="Um", note="a note"), 80))
    assert [] == live_lines(state_of(floor=Floor.THINKING), 80)


def test_typed_turns_that_wait_are_shown_on_a_line_each_and_not_all_of_many() -> None:
    state = state_of(floor=Floor.SPEAKING, waiting=["one two three", *"abcd"])

    assert [
        " agent …",
        "       waiting: one t…",
        "       waiting: a",
        "       waiting: b",
        "       waiting: 2 more",
    ] == texts(live_lines(state, 22))
    assert {"class:faint"} == {style for line in live_lines(state_of(waiting=["a"]), 80) for style, _ in line}
    assert not any("\x1b" in text_of(line) for line in live_lines(state_of(waiting=["\x1b[2J"]), 80))


def test_every_style_that_is_used_is_defined() -> None:
    state = state_of(floor=Floor.SPEAKING, level=LEVELS, problems={"microphone": "x"}, saying="y")
    lines = [header(state, 80), keys(80), *problem_lines(state, 80), *live_lines(state, 80)]
    lines += entry_lines(Turn("user", "a"), 80) + entry_lines(Turn("agent", "a", "b"), 80) + entry_lines(WAIT, 80)
    lines += [header(state_of(floor=floor), 80) for floor in Floor] + [header(state_of(muted=True), 80)]

    used = {style.removeprefix("class:") for line in lines for style, _ in line if style}
    assert {*STYLE} - {"bar"} == used


# -- the transcript


def numbered(count: int) -> list[Entry]:
    return [Turn("user", f"turn {number}") for number in range(count)]


def test_the_newest_lines_are_visible() -> None:
    transcript = Transcript(state_of(entries=numbered(30)))

    assert [f" you   turn {number}" for number in range(25, 30)] == texts(transcript.visible(80, 5))


def test_the_turn_under_way_stands_below_the_newest() -> None:
    transcript = Transcript(state_of(entries=numbered(3), floor=Floor.SPEAKING))

    assert [" you   turn 2", " agent …"] == texts(transcript.visible(80, 2))


def test_a_view_that_was_scrolled_stays_where_it_is_when_more_comes() -> None:
    state = state_of(entries=numbered(30))
    transcript = Transcript(state)
    transcript.visible(80, 5)

    transcript.scroll(2)
    before = texts(transcript.visible(80, 5))
    state.entries += numbered(3)

    assert before == texts(transcript.visible(80, 5)) == [f" you   turn {number}" for number in range(17, 22)]
    assert transcript.below == 11


def test_scrolling_ends_at_both_ends() -> None:
    transcript = Transcript(state_of(entries=numbered(12)))
    transcript.visible(80, 5)

    transcript.scroll(50)
    assert " you   turn 0" == texts(transcript.visible(80, 5))[0]
    transcript.scroll(-50)
    assert " you   turn 11" == texts(transcript.visible(80, 5))[-1]


def test_another_width_wraps_anew() -> None:
    transcript = Transcript(state_of(entries=[Turn("user", "one two three four five six seven")]))

    assert 1 == len(transcript.visible(80, 10))
    assert 3 == len(transcript.visible(24, 10))
    assert 1 == len(transcript.visible(80, 10))


@pytest.mark.parametrize("height", [0, 1, 2])
def test_a_view_without_room_does_no_harm(height: int) -> None:
    transcript = Transcript(state_of(entries=numbered(9), floor=Floor.SPEAKING))
    transcript.scroll(1)

    assert height == len(transcript.visible(3, height))
    transcript.scroll(-9)
    assert height == len(transcript.visible(3, height))


def test_tools_that_run_stand_below_the_turns_on_a_line_each() -> None:
    state = state_of(calls={"a": "calls weather \x1b[2J " + "x" * 200, "b": "calls order {} …"}, note="a note")
    first, *others = texts(live_lines(state, 40))

    assert first.startswith("       calls weather ")
    assert "\x1b" not in first
    assert len(first) <= 40
    assert ["       calls order {} …", "       a note"] == others
