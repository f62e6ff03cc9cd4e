"""The settings of a talk."""

from pathlib import Path
from typing import Any

import pytest

from discussion_helper.errors import SettingError
from discussion_helper.settings import Settings


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("language", 5),
        ("language", "english"),
        ("stt", None),
        ("stt", " "),
        ("voice", b"x"),
        ("llm", 3),
        ("system", 5),
        ("system", "\udcff"),
        ("filler", "Mh\ud83d."),
        ("microphone", 5),
        ("loudspeaker", b""),
        ("inputs", "a.wav"),
        ("inputs", (1,)),
        ("inputs", None),
        ("output", "a.wav"),
        ("policy", None),
        ("policy", {}),
        ("tuning", None),
        ("tuning", {"vad.threshold": 0.5}),
    ],
)
def test_a_setting_of_the_wrong_kind_is_named(field: str, value: Any) -> None:
    with pytest.raises(SettingError, match=f"^{field}: "):
        Settings(**{field: value})


def test_the_language_may_be_found_out_and_is_then_spoken_as_the_voice_does() -> None:
    assert (Settings(language="auto").spoken_language, Settings(language="de").spoken_language) == (None, "de")


@pytest.mark.parametrize("hints", ["Aachen", ["Aachen"], (5,)])
def test_hints_are_a_tuple_of_texts(hints: Any) -> None:
    with pytest.raises(SettingError, match=r"hints: .* is not a tuple of texts"):
        Settings(hints=hints)


def test_an_output_without_recordings_is_refused() -> None:
    with pytest.raises(SettingError, match="output: it needs recordings"):
        Settings(output=Path("a.wav"))


def test_a_recording_is_never_written_over(tmp_path: Path) -> None:
    recording, other = tmp_path / "a.wav", tmp_path / "link.wav"
    recording.write_bytes(b"sound")
    other.hardlink_to(recording)

    for output in (recording, other):
        with pytest.raises(SettingError, match="would be lost"):
            Settings(inputs=(recording,), output=output)
    assert recording.read_bytes() == b"sound"
