"""Frames of the audio protocol, as they come and as they go."""

import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.voice.remote_messages import (
    NAME_LENGTH,
    Bye,
    FrameError,
    Held,
    Hello,
    Mute,
    Pause,
    Play,
    Pong,
    Progress,
    Prompt,
    Resume,
    Sound,
    Stop,
)
from discussion_helper.web.audio_wire import MOST_BYTES, encode, parse

RATE = 16_000
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = ("type", "rate", "take", "name", "sample", "reply", "at", "state", "on", "n")
KINDS = st.sampled_from(["hello", "onset", "played", "mute", "pong", "bye", "pause"]) | ANY


def header(kind: int = 1, seq: int = 0, sample: int = 0, at: float = 1.5) -> bytes:
    return struct.pack("<BBHIQd", kind, 0, 0, seq, sample, at)


def test_a_block_of_the_microphone_is_read() -> None:
    samples = np.array([0, 16_384, -32_768] * 40, "<i2")

    sound = parse(header(seq=7, sample=320) + samples.tobytes(), RATE)

    assert isinstance(sound, Sound)
    assert (7, 320, 1.5) == (sound.seq, sound.sample, sound.at)
    assert [0.0, 0.5, -1.0] == sound.samples[:3].tolist()
    assert len(sound.samples) == 120
    assert sound.samples.dtype == np.float32


@pytest.mark.parametrize(
    ("fields", "read"),
    [
        ({"type": "onset", "sample": 480}, Prompt(480)),
        (
            {"type": "played", "reply": 2, "sample": 960, "at": 3, "state": "paused"},
            Progress(2, 960, 3.0, "paused"),
        ),
        ({"type": "mute", "on": True}, Mute(True)),
        ({"type": "pong", "n": 4}, Pong(4)),
        ({"type": "bye", "more": "is left alone"}, Bye()),
    ],
)
def test_a_message_is_read(fields: dict[str, Any], read: object) -> None:
    assert read == parse(json.dumps(fields), RATE)


def test_a_hello_is_read_and_its_name_is_fit_to_be_shown() -> None:
    name = "Chrome\x1b[2J \n" + "x" * 500

    hello = parse(json.dumps({"type": "hello", "rate": 44_100, "take": True, "name": name}), None)

    assert hello == Hello(44_100, True, ("Chrome[2J " + "x" * 500)[:NAME_LENGTH])


@pytest.mark.parametrize(
    ("frame", "rate", "code", "says"),
    [
        ("{", RATE, "form", "no JSON"),
        ("[" * 100_000, RATE, "form", "bytes"),
        ("[" * 60_000, RATE, "form", "no JSON"),
        ("[1]", RATE, "form", "no object"),
        ('{"type": "sing"}', RATE, "form", "'sing'"),
        ('{"type": ["hello"]}', RATE, "form", "type"),
        ('{"type": "hello", "rate": 48000}', RATE, "order", "before"),
        ('{"type": "bye"}', None, "order", "no hello"),
        (header() + bytes(640), None, "order", "no hello"),
        ('{"type": "hello"}', None, "field", "rate"),
        ('{"type": "hello", "rate": 7999}', None, "field", "rate"),
        ('{"type": "hello", "rate": true}', None, "field", "rate"),
        ('{"type": "hello", "rate": 48000, "take": 1}', None, "field", "take"),
        ('{"type": "hello", "rate": 48000, "name": 1}', None, "field", "name"),
        ('{"type": "onset", "sample": -1}', RATE, "field", "sample"),
        ('{"type": "played", "reply": 1, "sample": 1, "at": NaN}', RATE, "field", "at"),
        ('{"type": "played", "reply": 1, "sample": 1.5, "at": 1}', RATE, "field", "sample"),
        ('{"type": "played", "reply": 1, "sample": 1, "at": 1, "state": "gone"}', RATE, "field", "state"),
        ('{"type": "mute"}', RATE, "field", "on"),
        (f'{{"type": "pong", "n": {10**300}}}', RATE, "field", "n"),
        (b"", RATE, "form", "0 bytes"),
        (header()[:-1], RATE, "form", "23 bytes"),
        (header(kind=2) + bytes(640), RATE, "form", "kind"),
        (header() + bytes(641), RATE, "form", "641 bytes"),
        (header() + bytes(158), RATE, "form", "158 bytes"),
        (header() + bytes(6402), RATE, "form", "6402 bytes"),
        (header(at=float("nan")) + bytes(640), RATE, "field", "at"),
        (header(at=float("-inf")) + bytes(640), RATE, "field", "at"),
        (header(sample=2**60) + bytes(640), RATE, "field", "sample"),
        (bytes(MOST_BYTES + 1), RATE, "form", "bytes"),
    ],
)
def test_a_wrong_frame_is_told_of_with_a_way_out(frame: str | bytes, rate: int | None, code: str, says: str) -> None:
    with pytest.raises(FrameError) as refused:
        parse(frame, rate)

    assert code == refused.value.code
    assert says in refused.value.what
    assert refused.value.fix.endswith(".")
    assert "\n" not in str(refused.value)


def parsed(frame: str | bytes, rate: int | None) -> Any:
    """What it is, or the error's text."""
    try:
        return parse(frame, rate)
    except FrameError as refused:
        return str(refused)


@given(frame=st.binary(max_size=2_000), rate=st.sampled_from([None, 8_000, 48_000]))
def test_any_bytes_are_a_frame_or_an_error(frame: bytes, rate: int | None) -> None:
    read = parsed(frame, rate)
    assert isinstance(read, Sound) or len(read) < 300


@given(kind=KINDS, fields=st.dictionaries(st.sampled_from(NAMES), ANY), rate=st.sampled_from([None, 8_000, 48_000]))
def test_any_json_is_a_frame_or_an_error(kind: Any, fields: dict[str, Any], rate: int | None) -> None:
    read = parsed(json.dumps({**fields, "type": kind}), rate)
    assert len(read) < 300 if isinstance(read, str) else isinstance(read, Hello) is (rate is None)


@given(text=st.text())
def test_any_text_is_a_frame_or_an_error(text: str) -> None:
    with pytest.raises(FrameError):
        parse(text, RATE)


def test_samples_of_a_reply_are_written() -> None:
    play = Play(3, 960, np.array([0.0, 1.0, -2.0, 0.5], np.float32), last=True)

    frame = encode(play, 2**32 + 5)

    assert isinstance(frame, bytes)
    assert (2, 1, 0, 5, 3, 0, 960) == struct.unpack_from("<BBHIIIQ", frame)
    assert [0, 32_767, -32_767, 16_384] == np.frombuffer(frame[24:], "<i2").tolist()


@pytest.mark.parametrize(
    ("down", "fields"),
    [
        (Pause(2, 0.03), {"type": "pause", "reply": 2, "ramp_s": 0.03}),
        (Resume(2, 0.03), {"type": "resume", "reply": 2, "ramp_s": 0.03}),
        (Held(True), {"type": "muted", "on": True}),
        (Stop(2), {"type": "stop", "reply": 2}),
        ({"type": "ping", "n": 1}, {"type": "ping", "n": 1}),
    ],
)
def test_an_order_is_written(down: Any, fields: dict[str, Any]) -> None:
    frame = encode(down, 0)

    assert isinstance(frame, str)
    assert fields == json.loads(frame)
