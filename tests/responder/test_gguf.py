"""The description at the beginning of a GGUF file."""

import struct
from pathlib import Path

import pytest

from discussion_helper.responder.gguf import chat_templates_in


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def pair(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def described(*pairs: bytes, version: int = 3) -> bytes:
    return struct.pack("<4sIQQ", b"GGUF", version, 0, len(pairs)) + b"".join(pairs)


WORDS = pair("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + text("yes") + text("no"))
SCORES = pair("tokenizer.ggml.scores", 9, struct.pack("<IQff", 6, 2, 0.5, 0.25))
NUMBER, FLAG = pair("general.alignment", 4, struct.pack("<I", 32)), pair("tokenizer.ggml.add_bos_token", 7, b"\x01")
TEMPLATE = pair("tokenizer.chat_template", 8, text("{{ messages }}"))
NAMED = pair("tokenizer.chat_template.tool_use", 8, text("{{ tools }}"))


def found(tmp_path: Path, content: bytes) -> list[str] | None:
    (tmp_path / "model.gguf").write_bytes(content)
    return chat_templates_in(tmp_path / "model.gguf")


def test_the_templates_are_found_among_all_else(tmp_path: Path) -> None:
    content = described(NUMBER, WORDS, TEMPLATE, SCORES, FLAG, NAMED)

    assert found(tmp_path, content) == ["{{ messages }}", "{{ tools }}"]
    assert found(tmp_path, described(NUMBER, version=2)) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GGUF",
        b"no model at all, but long enough to have a head",
        described(TEMPLATE, version=1),
        described(TEMPLATE)[:-1],
        described(NUMBER, pair("young", 99, b"")),
        described(pair("tokenizer.chat_template", 8, struct.pack("<Q", 1 << 60))),
        described(pair("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 4, 1 << 60)), TEMPLATE),
    ],
    ids=["empty", "magic", "other", "old", "cut", "kind", "long", "many"],
)
def test_of_what_cannot_be_read_nothing_is_known(tmp_path: Path, content: bytes) -> None:
    assert found(tmp_path, content) is None


def test_of_a_file_that_is_not_there_neither(tmp_path: Path) -> None:
    assert chat_templates_in(tmp_path / "gone.gguf") is None
