"""Server-sent events out of a stream of bytes."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.client.errors import ServerError
from discussion_helper.client.server_events import MOST_BYTES, EventReader, ServerEvent

TEXTS = st.text(alphabet=st.sampled_from("ab: \u2028\u2029\x85\x0b\x0c\r\né🎙"), max_size=12)


def framed(event: ServerEvent) -> bytes:
    """As the server writes it."""
    told = json.dumps({"kind": event.kind, "at_s": event.at_s, **event.data}, ensure_ascii=False)
    place = f"id: {event.id}\n" if event.id else ""
    return f"{place}event: {event.kind}\ndata: {told}\n\n".encode()


@given(texts=st.lists(TEXTS, max_size=6), cuts=st.lists(st.integers(0, 400), max_size=10))
def test_events_are_the_same_wherever_the_bytes_are_parted(texts: list[str], cuts: list[int]) -> None:
    events = [
        ServerEvent(f"0123abcd-{number}" if number % 3 else "", "utterance", number / 4, {"text": text})
        for number, text in enumerate(texts)
    ]
    stream = b"retry: 250\n\n:\n\n" + b":\n\n".join(map(framed, events))
    reader, read = EventReader(), []
    places = sorted({0, *cuts, len(stream)} & set(range(len(stream) + 1)))
    for start, end in itertools.pairwise(places):
        read += reader.feed(stream[start:end])

    assert (events, 0.25) == (read, reader.retry_s)


def test_an_event_that_is_not_whole_is_none() -> None:
    reader = EventReader()

    assert [] == reader.feed(framed(ServerEvent("0-1", "floor", 1.0))[:-1])
    assert ["floor"] == [event.kind for event in reader.feed(b"\n")]


def test_lines_may_end_as_a_proxy_has_them() -> None:
    (event,) = EventReader().feed(framed(ServerEvent("0-1", "gap", None, {"missed": 3})).replace(b"\n", b"\r\n"))

    assert ("gap", None, 3) == (event.kind, event.at_s, event.data["missed"])


@pytest.mark.parametrize(
    "data",
    [b"data: {\n\n", b"data: []\n\n", b"data: {}\n\n", b'data: {"kind": 1}\n\n', b'data: {"kind":"a","at_s":"b"}\n\n'],
)
def test_what_is_no_event_of_the_server_is_told(data: bytes) -> None:
    with pytest.raises(ServerError, match="another form"):
        EventReader().feed(data)


def test_an_event_without_end_fills_no_memory() -> None:
    reader = EventReader()
    held = [reader.feed(b"data: " + bytes(MOST_BYTES // 2)), reader.feed(bytes(MOST_BYTES // 3))]
    with pytest.raises(ServerError, match="more than"):
        reader.feed(bytes(MOST_BYTES // 3))

    assert [[], []] == held


@pytest.mark.parametrize(("value", "seconds"), [(b"10", 0.01), (b"-1", 1.0), (b"999999999", 60.0), (b"x", 1.0)])
def test_how_long_to_wait_is_bounded(value: bytes, seconds: float) -> None:
    reader = EventReader()
    reader.feed(b"retry: " + value + b"\n\n")

    assert seconds == reader.retry_s
