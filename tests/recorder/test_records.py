"""Records: what was written whole is read, whatever became of the rest."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Captured, DeviceLost, Played
from discussion_helper.audio.playback import Position
from discussion_helper.recorder.codec import DamagedError, decoded, encoded, header_of, header_record
from discussion_helper.recorder.entries import Cleaned, Entry, Gap, Header, Noted, OwnVoice, Taken, Told
from discussion_helper.recorder.records import MAGIC, Kind, framed, unframed
from discussion_helper.voice.audio_work import HalfDuplex, Listening
from discussion_helper.voice.deciding import Words

RECORDS = st.lists(st.tuples(st.sampled_from(Kind), st.binary(max_size=60)), max_size=12)
HEADER = Header(started_utc_s=1.0, zero_s=2.0, package="0.1.0", settings={"language": "en"})


def file_of(records: list[tuple[Kind, bytes]]) -> bytes:
    return MAGIC + b"".join(framed(*record) for record in records)


@given(RECORDS, st.data())
def test_a_cut_anywhere_leaves_all_whole_records(records: list[tuple[Kind, bytes]], data: Any) -> None:
    whole = file_of(records)
    cut = data.draw(st.integers(0, len(whole)))
    found, end = unframed(whole[:cut])

    fits = [number for number in range(len(records) + 1) if len(file_of(records[:number])) <= cut]
    assert records[: fits[-1] if fits else 0] == found
    assert (len(file_of(found)) if fits else 0) == end


@given(RECORDS, st.data())
def test_a_flipped_bit_costs_what_comes_behind_it_and_nothing_before(
    records: list[tuple[Kind, bytes]], data: Any
) -> None:
    whole = bytearray(file_of(records))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= 1 << data.draw(st.integers(0, 7))
    found, _ = unframed(bytes(whole))

    before = [number for number in range(len(records) + 1) if len(file_of(records[:number])) <= place]
    assert records[: before[-1] if before else 0] == found


@given(st.sampled_from(Kind), st.binary(max_size=80))
def test_a_payload_of_any_bytes_is_an_entry_or_damaged(kind: Kind, payload: bytes) -> None:
    for read in (lambda: decoded(kind, payload), lambda: header_of(payload)):
        try:
            read()
        except DamagedError:
            continue


SHORTS = st.lists(st.integers(-32768, 32767), max_size=20).map(lambda xs: np.array(xs, np.float32) / np.float32(32768))
FLOATS = st.lists(st.floats(width=32), max_size=20).map(lambda xs: np.array(xs, np.float32))
TIMES = st.floats(0.0, 1e9)


@given(st.one_of(SHORTS, FLOATS), TIMES, TIMES, st.integers(0, 1 << 40))
def test_audio_keeps_every_bit(samples: Any, at_s: float, now: float, start: int) -> None:
    frame = Frame(samples.copy(), 44_100, start)
    for item in (Captured(frame, at_s), Played(frame, at_s, Position(3, 5, 22_050))):
        ((kind, payload),), _ = unframed(MAGIC + encoded(Taken(item, now)))
        back = decoded(kind, payload)
        assert isinstance(back, Taken)
        assert isinstance(back.item, type(item))
        assert (now, at_s, 44_100, start) == (back.now, back.item.at_s, back.item.frame.rate, back.item.frame.start)
        assert samples.tobytes() == back.item.frame.samples.tobytes()
        assert not isinstance(back.item, Played) or Position(3, 5, 22_050) == back.item.position


def test_sixteen_bits_are_enough_where_they_are_exact() -> None:
    exact = Taken(Captured(Frame(np.full(480, -0.5, np.float32), 48_000), 0.0), 0.0)
    other = Taken(Captured(Frame(np.full(480, 0.1, np.float32), 48_000), 0.0), 0.0)

    assert 960 == len(encoded(other)) - len(encoded(exact))


@pytest.mark.parametrize(
    "entry",
    [
        Taken(None, 1.5),
        Taken(DeviceLost("capture", "gone", "fix it", returns=False), 2.0),
        Taken(Listening("a microphone", 44_100), 0.25),
        Taken(HalfDuplex(), 0.5),
        Taken(Words(text="äh \ud800", final=True, voiced_s=0.4, echo=True, refused="x"), 3.0),
        OwnVoice(True),
        OwnVoice(False),
        Noted(b'{"note":"Muted","on":true}'),
        Told(4.0, {"kind": "floor", "at_s": 1.0, "floor": "idle"}),
        Gap(7, Listening("m", 16_000)),
    ],
)
def test_everything_else_comes_back_as_it_was(entry: Entry) -> None:
    ((kind, payload),), _ = unframed(MAGIC + encoded(entry))
    assert entry == decoded(kind, payload)


def test_cleaned_audio_comes_back_as_it_was() -> None:
    ((kind, payload),), _ = unframed(MAGIC + encoded(Cleaned(160, np.array([0.1, -0.5], np.float32), -3.5, 0.1)))
    back = decoded(kind, payload)

    assert isinstance(back, Cleaned)
    assert (160, -3.5, 0.1) == (back.start, back.near_db, back.expected_db)
    assert np.array([0.1, -0.5], np.float32).tobytes() == back.samples.tobytes()


def test_a_header_comes_back_and_one_of_another_format_is_refused() -> None:
    ((_, payload),), _ = unframed(MAGIC + header_record(HEADER))

    assert HEADER == header_of(payload)
    with pytest.raises(DamagedError, match="another version"):
        header_of(payload.replace(b'"format":1', b'"format":2'))
