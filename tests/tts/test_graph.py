"""The network's file with one more output."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discussion_helper.tts.graph import graph_with_durations


def field(number: int, content: bytes) -> bytes:
    length = len(content)
    return bytes([number << 3 | 2, *([length & 127 | 128, length >> 7] if length > 127 else [length])]) + content


def node(operator: bytes, output: bytes) -> bytes:
    return field(1, field(1, b"in") + field(2, output) + field(3, b"name") + field(4, operator))


def model(*nodes: bytes) -> bytes:
    version, weights, double = b"\x08\x96\x01", field(5, bytes(300)), b"\x51" + bytes(8)
    return version + field(2, b"maker") + field(7, weights + b"".join(nodes)) + double


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "voice.onnx"


def test_the_output_of_the_only_rounding_up_is_added_after_the_file(file: Path) -> None:
    file.write_bytes(model(node(b"Exp", b"e"), node(b"Ceil", b"/up"), node(b"Floor", b"f")))
    assert graph_with_durations(file) == file.read_bytes() + field(7, field(12, field(1, b"/up")))


def test_a_long_name_is_kept_whole(file: Path) -> None:
    file.write_bytes(model(node(b"Ceil", b"n" * 200)))
    found = graph_with_durations(file)
    assert found is not None
    assert found.endswith(field(7, field(12, field(1, b"n" * 200))))


@pytest.mark.parametrize("nodes", [(), (node(b"Exp", b"e"),), (node(b"Ceil", b"a"), node(b"Ceil", b"b"))])
def test_without_the_one_place_nothing_is_told(file: Path, nodes: tuple[bytes, ...]) -> None:
    file.write_bytes(model(*nodes))
    assert graph_with_durations(file) is None


@given(st.binary(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_no_network_is_told_by_none(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert graph_with_durations(file) is None


@given(st.integers(1, 370))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_breaks_off_is_told_by_none(file: Path, kept: int) -> None:
    whole = model(node(b"Ceil", b"up"))
    file.write_bytes(whole[: min(kept, len(whole) - 10)])
    assert graph_with_durations(file) is None
