"""An answer out of its chunks: calls of tools however a server cuts them, reasoning, usage, bounds."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.text.artifacts import (
    Artifact,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    Usage,
    is_delta,
)
from discussion_helper.text.merging import Merger
from discussion_helper.text.providers.answer import Answer
from discussion_helper.tools.call_pieces import CallPieces
from discussion_helper.tools.json_text import is_object


def piece(index: Any = None, call_id: Any = None, name: Any = None, arguments: Any = None) -> Any:
    return SimpleNamespace(index=index, id=call_id, function=SimpleNamespace(name=name, arguments=arguments))


def calls_of(*pieces: Any, used: tuple[str, ...] = ()) -> list[Any]:
    taking, merger = CallPieces(used), Merger()
    for each in pieces:
        if (delta := taking.feed(each)) is not None:
            merger.add(delta)
    return list(merger.flush())


A, B = ToolCall("a", "add", '{"x": 1}'), ToolCall("b", "sub", '{"y": 2}')


@pytest.mark.parametrize(
    "pieces",
    [
        [
            piece(0, "a", "add", ""),
            piece(0, None, None, '{"x"'),
            piece(0, None, None, ": 1}"),
            piece(1, "b", "sub", '{"y": 2}'),
        ],
        [
            piece(0, "a", "add"),
            piece(1, "b", "sub"),
            piece(1, None, None, '{"y": 2}'),
            piece(0, None, None, '{"x": 1}'),
        ],
        [piece(0, "a", "add", '{"x": 1}'), piece(0, "b", "sub", '{"y": 2}')],
        [piece(None, "a", "add", '{"x": 1}'), piece(None, "b", "sub", '{"y": 2}')],
        [
            piece(None, "a", "add"),
            piece(None, None, None, '{"x": 1}'),
            piece(None, "b", "sub"),
            piece(None, "b", None, '{"y": 2}'),
        ],
        [piece(0, "a", "add", '{"x"'), piece(0, "a", "add", ": 1}"), piece(1, "b", "sub", {"y": 2})],
        [piece(7, "a", "ad", None), piece(7, "", "d", '{"x": 1}'), piece(3, "b", "sub", '{"y": 2}')],
        [
            *(piece(0, "a", "add", '{"x"'), piece(0, "a2", None, ": "), piece(0, "a3", "", "1}")),
            *(piece(1, "b", "sub", ""), piece(1, "b2", None, '{"y": 2}')),
        ],
        [
            *(piece(None, "a", "add", '{"x"'), piece(None, "a2", None, ": 1}")),
            *(piece(None, "b", "sub"), piece(None, "b2", None, '{"y": 2}')),
        ],
        [
            *(piece(0, "a", "add", '{"x"'), piece(0, "a2", None, ": 1}")),
            *(piece(0, "b", "sub", ""), piece(0, "b2", None, '{"y": 2}')),
        ],
    ],
    ids=[
        *("in turn", "interleaved", "all number 0", "no numbers", "no numbers in pieces", "repeating", "odd"),
        *("changing ids", "changing ids without numbers", "changing ids all number 0"),
    ],
)
def test_two_calls_however_they_are_cut(pieces: list[Any]) -> None:
    assert calls_of(*pieces) == [A, B]


def test_an_id_that_is_empty_or_used_is_replaced() -> None:
    pieces = [piece(0, "", "add", "{}"), piece(1, "a", "add", "{}"), piece(2, None, "add"), piece(3, "x" * 300, "add")]
    calls = calls_of(*pieces, used=("a",))
    ids = [call.id for call in calls]
    assert len(set(ids)) == 4
    assert all(made.startswith("call_") for made in ids)


def test_calls_without_ids_and_numbers_are_told_apart_by_their_names() -> None:
    calls = calls_of(piece(None, None, "add", "{}"), piece(None, None, "sub", "{}"))
    assert [(call.name, call.arguments) for call in calls] == [("add", "{}"), ("sub", "{}")]


def test_an_id_that_comes_late_changes_nothing_any_more() -> None:
    [call] = calls_of(piece(0, None, "add"), piece(0, "late", None, "{}"))
    assert call.id.startswith("call_")
    assert (call.name, call.arguments) == ("add", "{}")


@given(
    names=st.lists(st.sampled_from(["add", "sub", "mul"]), min_size=1, max_size=4),
    seed=st.randoms(use_true_random=False),
)
def test_pieces_in_any_mixture(names: list[str], seed: Any) -> None:
    wanted = [ToolCall(f"id{number}", name, json.dumps({name: number})) for number, name in enumerate(names)]
    rests = {number: list(call.arguments) for number, call in enumerate(wanted)}
    pieces = [piece(number, call.id, call.name, "") for number, call in enumerate(wanted)]
    while rests:
        number = seed.choice(sorted(rests))
        pieces.append(piece(number, None, None, rests[number].pop(0)))
        if not rests[number]:
            del rests[number]
    assert calls_of(*pieces) == wanted


@given(
    st.lists(
        st.builds(
            piece,
            st.none() | st.integers(-1, 2) | st.text(max_size=1) | st.booleans(),
            st.none() | st.sampled_from(["", "a", "b"]) | st.integers(),
            st.none() | st.sampled_from(["", "add"]) | st.lists(st.none()),
            st.none() | st.text(max_size=2) | st.dictionaries(st.just("k"), st.integers(), max_size=1),
        )
        | st.none()
        | st.integers(),
        max_size=8,
    )
)
def test_pieces_of_any_shape_make_calls_with_ids_of_their_own(pieces: list[Any]) -> None:
    calls = calls_of(*pieces)
    ids = [call.id for call in calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)


def test_what_is_no_json_in_an_object_is_left_for_the_tool_to_refuse() -> None:
    [call] = calls_of(piece(0, "a", "add", {"k": float("nan")}))
    assert call.arguments == '{"k": NaN}'
    assert not is_object(call.arguments)


# -- whole answers


def chunk(usage: Any = None, **delta: Any) -> Any:
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(**delta))], usage=usage)


def whole(*chunks: Any, max_chars: int = 10_000) -> list[Artifact]:
    answer, merger, rest = Answer(used_ids=(), max_chars=max_chars), Merger(), list[Artifact]()
    for artifact in [each for one in chunks for each in answer.read(one)] + answer.end():
        if is_delta(artifact):
            merger.add(artifact)  # type: ignore[arg-type]
        else:
            rest.append(artifact)
    return [*merger.flush(), *rest]


@pytest.mark.parametrize("cut", range(1, 30))
def test_thoughts_between_tags_are_reasoning(cut: int) -> None:
    text = "<think>\nHm. 1 < 2</think>\n\nYes. a<b"
    pieces = [text[at : at + cut] for at in range(0, len(text), cut)]
    assert whole(*[chunk(content=each) for each in pieces]) == [Reasoning("Hm. 1 < 2"), Text("Yes. a<b")]


def test_a_block_that_never_ends_is_all_reasoning() -> None:
    assert whole(chunk(content="<think>Hm <"), chunk(content="/thi")) == [Reasoning("Hm </thi")]


def test_reasoning_in_a_field_of_its_own() -> None:
    chunks = [chunk(content=None, reasoning_content="Hm. "), chunk(reasoning="Yes."), chunk(content="Yes.")]
    assert whole(*chunks) == [Reasoning("Hm. Yes."), Text("Yes.")]


def test_the_last_usage_counts_and_comes_once() -> None:
    def used(**counts: Any) -> Any:
        return chunk(SimpleNamespace(**counts))

    chunks = [
        used(prompt_tokens=1),
        used(prompt_tokens=3, completion_tokens=4, total_tokens=7),
        used(),
        used(total_tokens="x"),
    ]
    assert whole(*chunks) == [Usage(3, 4, 7)]


def test_an_answer_has_a_bound() -> None:
    answer = Answer(used_ids=(), max_chars=50)
    assert answer.read(chunk(content="x" * 30)) == [TextDelta("x" * 30)]
    assert not answer.full
    assert answer.read(chunk(reasoning="y" * 30)) == [ReasoningDelta("y" * 4)]
    assert answer.full
    assert answer.read(chunk(content="z", tool_calls=[piece(0, "a", "add")])) == []


def test_half_an_emoji_comes_out_as_text() -> None:
    assert whole(chunk(content="a\ud83d")) == [Text("a?")]
