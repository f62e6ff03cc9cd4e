"""The frames of the client are those of the server."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.client.errors import ServerError
from discussion_helper.client.wire import SUBPROTOCOL, read, sound
from discussion_helper.voice.remote_messages import Play, Sound
from discussion_helper.web import audio_wire

RATE = 8_000


def test_both_name_the_same_protocol() -> None:
    assert audio_wire.SUBPROTOCOL == SUBPROTOCOL


@given(seq=st.integers(0, 2**40), sample=st.integers(0, 2**53 - 1), at_s=st.floats(-1e9, 1e9), level=st.floats(-2, 2))
def test_the_server_reads_what_the_client_says(seq: int, sample: int, at_s: float, level: float) -> None:
    block = np.full(160, level, np.float32)
    heard = audio_wire.parse(sound(block, seq=seq, sample=sample, at_s=at_s), RATE)

    assert isinstance(heard, Sound)
    assert (seq % 2**32, sample, at_s) == (heard.seq, heard.sample, heard.at)
    assert np.allclose(np.clip(block, -1.0, 1.0), heard.samples, atol=1e-4)


@given(reply=st.integers(0, 2**32 - 1), sample=st.integers(0, 2**63), last=st.booleans(), level=st.floats(-1, 1))
def test_the_client_reads_what_the_server_plays(reply: int, sample: int, last: bool, level: float) -> None:
    said = Play(reply, sample, np.full(160, level, np.float32), last)
    frame = audio_wire.encode(said, 3)
    heard = read(frame)

    assert isinstance(heard, Play)
    assert (reply, sample, last) == (heard.reply, heard.sample, heard.last)
    assert np.allclose(said.samples, heard.samples, atol=1e-4)


@pytest.mark.parametrize("frame", ["", "[]", "{}", '{"type": 1}', b"", b"\x02", bytes(24), b"\x02" + bytes(24)])
def test_what_is_no_frame_is_told(frame: str | bytes) -> None:
    with pytest.raises(ServerError, match="another form"):
        read(frame)
