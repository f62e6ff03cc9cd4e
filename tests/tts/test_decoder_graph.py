"""The second half of a voice's network."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discussion_helper.tts.decoder_graph import decoder_of
from discussion_helper.tts.protobuf import message

WEIGHTS = message(5, message(8, b"dec.weight") + message(9, b"1234"))
OTHERS = message(5, message(8, b"enc.weight") + message(9, bytes(200)))


def node(name: bytes, operator: bytes, inputs: tuple[bytes, ...], output: bytes) -> bytes:
    given = b"".join(message(1, one) for one in inputs)
    return message(1, given + message(2, output) + message(3, name) + message(4, operator))


CONSTANT = node(b"/enc/Constant", b"Constant", (), b"/axis")
ENCODER = node(b"/enc/Conv", b"Conv", (b"input", b"enc.weight"), b"/frames")
DECODER = node(b"/dec/Conv", b"Conv", (b"/frames", b"dec.weight"), b"/dec/sound")
END = node(b"/Unsqueeze", b"Unsqueeze", (b"/dec/sound", b"/axis"), b"output")
OUTPUT = message(12, message(1, b"output"))


def model(*nodes: bytes) -> bytes:
    return b"\x08\x08" + message(8, b"\x10\x0f") + message(7, WEIGHTS + OTHERS + b"".join(nodes) + OUTPUT)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "voice.onnx"


def test_it_has_the_nodes_and_weights_behind_the_frames_and_no_others(file: Path) -> None:
    file.write_bytes(model(CONSTANT, ENCODER, DECODER, END))
    found = decoder_of(file)

    assert found is not None
    assert "/frames" == found.frames
    for part in (CONSTANT, DECODER, END, WEIGHTS, OUTPUT, message(8, b"\x10\x0f")):
        assert 1 == found.network.count(part)
    assert b"enc.weight" not in found.network


SPEAKER = node(b"/emb_g/Gather", b"Gather", (b"sid",), b"/speaker")
TWO = node(b"/dec/Conv", b"Conv", (b"/frames", b"/speaker"), b"/dec/sound")


@pytest.mark.parametrize("nodes", [(), (ENCODER, END), (SPEAKER, ENCODER, TWO, END)])
def test_without_the_one_place_there_is_none(file: Path, nodes: tuple[bytes, ...]) -> None:
    file.write_bytes(model(*nodes))
    assert decoder_of(file) is None


@given(st.binary(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_no_network_has_none(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert decoder_of(file) is None


@given(st.integers(1, 600))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_breaks_off_has_none(file: Path, kept: int) -> None:
    whole = model(CONSTANT, ENCODER, DECODER, END)
    file.write_bytes(whole[: min(kept, len(whole) - 1)])
    assert decoder_of(file) is None
