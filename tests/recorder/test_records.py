"""Records: what was written whole is read, whatever became of the rest."""

import json
import struct
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Captured, DeviceLost, Played
from discussion_helper.audio.playback import Position
from discussion_helper.recorder.codec import DamagedError, decoded, encoded, header_of, header_record
from discussion_helper.recorder.entries import Cleaned, Entry, Gap, Header, Noted, OwnVoice, Taken, Told
from discussion_helper.recorder.note_line import note_line
from discussion_helper.recorder.records import MAGIC, Kind, framed, unframed
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed, TurnStarted
from discussion_helper.voice.audio_work import HalfDuplex, Listening
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.notes import (
    Attends,
    Decided,
    Ducked,
    InterimWanted,
    Level,
    Muted,
    Note,
    Onset,
    ProsodyWanted,
    Resumed,
    Turn,
    WordsWanted,
)

RECORDS = st.lists(st.tuples(st.sampled_from(Kind), st.binary(max_size=60)), max_size=12)
JSON = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
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
        Taken(Words(text="äh", final=True, voiced_s=0.4, echo=True, refused="x"), 3.0),
        OwnVoice(True),
        OwnVoice(False),
        OwnVoice(True, learning=True),
        Noted(b'{"note":"Muted","on":true}'),
        Taken(Words(text="x", doubt=float("inf")), 3.0),
        Told(4.0, {"kind": "floor", "at_s": 1.0, "floor": "idle"}),
        Gap(7, Listening("m", 16_000)),
    ],
)
def test_everything_else_comes_back_as_it_was(entry: Entry) -> None:
    ((kind, payload),), _ = unframed(MAGIC + encoded(entry))
    assert entry == decoded(kind, payload)


def test_cleaned_audio_comes_back_as_it_was() -> None:
    ((kind, payload),), _ = unframed(MAGIC + encoded(Cleaned(160, np.full(160, 0.1, np.float32), -3.5, 0.1)))
    back = decoded(kind, payload)

    assert isinstance(back, Cleaned)
    assert (160, -3.5, 0.1) == (back.start, back.near_db, back.expected_db)
    assert np.full(160, 0.1, np.float32).tobytes() == back.samples.tobytes()


def test_a_header_comes_back_and_one_of_another_format_is_refused() -> None:
    ((_, payload),), _ = unframed(MAGIC + header_record(HEADER))

    assert HEADER == header_of(payload)
    with pytest.raises(DamagedError, match="another version"):
        header_of(payload.replace(b'"format":5', b'"format":1'))


# -- contents that no talk has, behind a right checksum


BLOCK = struct.Struct("<ddIqB")
PLACE = struct.Struct("<qqI")
CLEANED = struct.Struct("<qddB")
TEN_MS = bytes(320)
DIGITS = "9" * 400


def block(now: float = 1.0, at_s: float = 1.0, rate: int = 16_000, start: int = 0, form: int = 1) -> bytes:
    return BLOCK.pack(now, at_s, rate, start, form)


@pytest.mark.parametrize(
    "changes",
    [
        {"started_utc_s": 1e300},
        {"started_utc_s": -1e12},
        {"started_utc_s": 10**400},
        {"started_utc_s": float("nan")},
        {"started_utc_s": "1"},
        {"zero_s": 1e300},
        {"zero_s": None},
        *({"index": index} for index in ("a", None, 0, -1, 1.0, True, 10**400)),
        *({"listening": {"rate": rate}} for rate in ("48000", 48_000.5, 3, 1, True, -5, 10**9, 10**400, None)),
        {"listening": {"microphone": 5}},
        {"listening": 5},
        {"package": 5},
        {"machine": None},
        {"machine": "\ud800"},
        {"settings": []},
        {"unheard_of": 1},
    ],
)
def test_a_header_that_no_talk_has_is_damaged(changes: dict[str, Any]) -> None:
    values = {"format": 5, "started_utc_s": 1.0, "zero_s": 2.0, "package": "0.1.0", "settings": {}}
    header_of(json.dumps(values).encode())

    with pytest.raises(DamagedError, match="its header is wrong"):
        header_of(json.dumps(values | changes).encode())


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (Kind.CAPTURED, block(now=1e300) + TEN_MS),
        (Kind.CAPTURED, block(at_s=1e12) + TEN_MS),
        (Kind.CAPTURED, block(at_s=float("nan")) + TEN_MS),
        (Kind.CAPTURED, block(rate=1) + TEN_MS),
        (Kind.CAPTURED, block(start=-1) + TEN_MS),
        (Kind.CAPTURED, block(start=2**62) + TEN_MS),
        (Kind.CAPTURED, block(form=9) + TEN_MS),
        (Kind.CAPTURED, block() + bytes(11 * 32_000)),
        (Kind.PLAYED, PLACE.pack(1, 0, 0) + block() + TEN_MS),
        (Kind.PLAYED, PLACE.pack(-9, 0, 48_000) + block() + TEN_MS),
        (Kind.PLAYED, PLACE.pack(1, -1, 48_000) + block() + TEN_MS),
        (Kind.PLAYED, PLACE.pack(1, 0, 48_000) + block(at_s=1e12) + TEN_MS),
        (Kind.CLEANED, CLEANED.pack(2**62, -9.0, -9.0, 1) + TEN_MS),
        (Kind.CLEANED, CLEANED.pack(0, -9.0, -9.0, 1) + bytes(2)),
        (Kind.CLEANED, CLEANED.pack(0, -9.0, -9.0, 7) + TEN_MS),
        (Kind.OWN, b""),
        (Kind.OWN, b"\4"),
        (Kind.CALLED, b'[1e300,"",{}]'),
        (Kind.CALLED, b'[NaN,"",{}]'),
        (Kind.CALLED, b'[true,"",{}]'),
        (Kind.CALLED, b'[1,["words"],{}]'),
        (Kind.CALLED, b'[1,"words",{}]'),
        (Kind.CALLED, b'[1,"words",{"text":null}]'),
        (Kind.CALLED, b'[1,"words",{"text":"x","final":1}]'),
        (Kind.CALLED, b'[1,"words",{"text":"x","voiced_s":"1"}]'),
        (Kind.CALLED, b'[1,"words",{"text":"x","voiced_s":1e99}]'),
        (Kind.CALLED, b'[1,"words",{"text":"\\ud800"}]'),
        (Kind.CALLED, b'[1,"words",{"text":"\xed\xa0\x80"}]'),
        (Kind.CALLED, b'[1,"listening",{"rate":1}]'),
        (Kind.CALLED, b'[1,"listening",{"rate":true}]'),
        (Kind.CALLED, b'[1,"lost",{"which":"both","reason":"x"}]'),
        (Kind.CALLED, b'[1,"lost",{"which":"capture","reason":5}]'),
        (Kind.GAP, b'[1,{"rate":"x"}]'),
        (Kind.GAP, b'[1,{"rate":-7}]'),
        (Kind.GAP, b'[-2,{"rate":0}]'),
        (Kind.GAP, b'["x",{"rate":0}]'),
        (Kind.TOLD, f'[{DIGITS},{{"kind":"x"}}]'.encode()),
        (Kind.TOLD, b'[1e400,{"kind":"x"}]'),
        (Kind.TOLD, b'[1,{"kind":"\\ud800"}]'),
        (Kind.TOLD, b'[1,"kind"]'),
        (Kind.NOTED, b'{"note":"WordsWanted"}'),
        (Kind.NOTED, b'{"note":"Turn"}'),
        (Kind.NOTED, b'{"note":5}'),
        (Kind.NOTED, b'{"note":[]}'),
        (Kind.NOTED, b'{"note":"Unheard"}'),
        (Kind.NOTED, b'{"note":"Resumed","at_s":"x"}'),
        (Kind.NOTED, b'{"note":"Muted","on":1}'),
        (Kind.NOTED, b'{"note":"Ducked","at_s":1,"generation":' + DIGITS.encode() + b"}"),
        *(
            (
                Kind.NOTED,
                b'{"note":"Turn","decided_at_s":1,"started_at_s":1,"voiced_until_s":1,"event":' + event.encode() + b"}",
            )
            for event in (
                "null",
                "{}",
                "[]",
                '{"event":"TurnEnded"}',
                '{"event":"TurnStarted","at":"x"}',
                '{"event":"TurnPaused","samples":{},"start":0,"end":1,"voiced_s":1}',
                '{"event":"TurnPaused","samples":{"samples":1,"crc32":1},"start":[],"end":1,"voiced_s":1}',
            )
        ),
        (
            Kind.NOTED,
            b'{"note":"WordsWanted","samples":{"samples":1,"crc32":1},"start":"a","end":null,"voiced_s":"x"}',
        ),
    ],
)
def test_a_record_that_no_talk_has_is_damaged(kind: Kind, payload: bytes) -> None:
    with pytest.raises(DamagedError):
        decoded(kind, payload)


@given(st.sampled_from(Kind), st.recursive(JSON, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_a_payload_of_any_json_is_an_entry_or_damaged(kind: Kind, value: Any) -> None:
    payload = json.dumps(value).encode()
    for read in (lambda: decoded(kind, payload), lambda: header_of(payload)):
        try:
            read()
        except DamagedError:
            continue


NOTES = (
    Turn(TurnStarted(160), 1.0, 1.0, 1.0),
    Turn(TurnResumed(160), 1.0, 1.0, 1.0),
    Turn(TurnPaused(np.zeros(5, np.float32), 0, 5, 0.1), 1.0, 1.0, 1.0, own=True),
    Turn(TurnEnded(np.zeros(5, np.float32), 0, 5, 0.1), 1.0, 1.0, 1.0, ignored="x", decided=True),
    Onset(1.0, 0.1),
    Ducked(1.0, 3),
    Resumed(1.0),
    WordsWanted(np.zeros(5, np.float32), 0, 5, 0.1),
    ProsodyWanted(np.zeros(5, np.float32), 0, 5, 3),
    Decided(
        at_s=1.0,
        started_at_s=0.5,
        voiced_until_s=1.0,
        what="ignored",
        why="x",
        voiced_s=0.1,
        ducked_s=0.1,
        level_dbfs=float("-inf"),
        over_echo_db=float("nan"),
        text="half of one: \ud83d",
        doubt=float("nan"),
    ),
    Attends(1.0, "awake", "okay_nabu", 0.9),
    Level(-60.0),
    Muted(True),
)


@pytest.mark.parametrize("note", NOTES, ids=lambda note: type(note).__name__)
def test_every_note_that_is_recorded_is_read(note: Note) -> None:
    assert {type(note) for note in NOTES} == set(get_args(Note)) - {InterimWanted}
    assert Noted(note_line(note)) == decoded(Kind.NOTED, note_line(note))


def test_halves_of_characters_are_not_recorded() -> None:
    entry = Told(1.0, {"kind": "utterance", "text": "a\ud83d"})
    ((kind, payload),), _ = unframed(MAGIC + encoded(entry))

    assert Told(1.0, {"kind": "utterance", "text": "a?"}) == decoded(kind, payload)
