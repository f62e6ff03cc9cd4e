"""Hints: names and words that are expected, and are not made up."""

from dataclasses import dataclass, field

import pytest

from discussion_helper.audio.frames import Samples, silence
from discussion_helper.errors import SettingError
from discussion_helper.stt.base import TimedWord
from discussion_helper.stt.hints import LONGEST, MOST, Hints
from discussion_helper.stt.reading import Decoded, read
from discussion_helper.stt.windows import RATE
from discussion_helper.stt.word_times import timed


def test_hints_are_said_before_the_turn_as_they_are_to_be_spelt() -> None:
    hints = Hints((" Karin  Åström ", "Piper", "Piper"))

    assert hints.phrases == ("Karin Åström", "Piper")
    assert hints.prompt == "Karin Åström, Piper."
    assert Hints().prompt == ""


@pytest.mark.parametrize(
    ("text", "only_hints"),
    [("Piper", True), ("piper, Karin!", True), ("Call Karin.", False), ("", False), ("...", False)],
)
def test_whether_a_text_holds_nothing_else(text: str, *, only_hints: bool) -> None:
    assert Hints(("Karin Åström", "Piper")).are_all_of(text) is only_hints


@pytest.mark.parametrize(
    "phrases",
    ["Piper", (5,), ("",), ("...",), ("x" * (LONGEST + 1),), ("a\u0000b",), tuple(f"n{at}" for at in range(MOST + 1))],
)
def test_what_is_no_hint_is_told_by_its_name(phrases: tuple[str, ...]) -> None:
    with pytest.raises(SettingError, match=r"^hints: "):
        Hints(phrases)


@dataclass
class Suggestible:
    """Hears what it is told to expect, and without that what is really there."""

    really: Decoded
    asked: list[str] = field(default_factory=list)

    def encode(self, samples: Samples, frames: int) -> object:
        return object()

    def decode(self, encoded: object, *, language: str, seconds: float, timestamps: bool, hints: str = "") -> Decoded:
        self.asked.append(hints)
        return Decoded(" Piper.", "", 0.0, True, -0.4, 4, 0.2, (1, 2)) if hints else self.really

    def times(self, encoded: object, ids: tuple[int, ...], *, language: str, seconds: float) -> list[TimedWord]:
        return [TimedWord("Piper.", 0.5, 1.0)]

    def detect(self, encoded: object) -> tuple[str, float]:
        return "de", 0.9

    def knows(self, language: str) -> bool:
        return True

    def close(self) -> None: ...


def test_a_hint_that_is_all_that_was_heard_is_as_doubtful_as_without_it() -> None:
    decoder = Suggestible(Decoded(" I pay her.", "", 0.0, True, -4.0, 4, 0.7))

    heard = read(decoder, silence(1.0, RATE), language="en", hints=Hints(("Piper",)))

    assert (heard.text, heard.average_logprob, heard.no_speech) == ("Piper.", -1.0, 0.7)
    assert decoder.asked == ["Piper.", ""]


def test_where_nothing_is_heard_without_hints_nothing_was_said() -> None:
    decoder = Suggestible(Decoded("", "", 0.0, True, -1.0, 1, 0.9))

    assert read(decoder, silence(1.0, RATE), language="en", hints=Hints(("Piper",))).text == ""


def test_without_hints_a_window_is_decoded_once() -> None:
    decoder = Suggestible(Decoded(" Hello.", "", 0.0, True, -1.0, 4, 0.1))

    assert read(decoder, silence(1.0, RATE), language="en").text == "Hello."
    assert decoder.asked == [""]


def test_the_words_have_times_only_where_they_are_wanted() -> None:
    decoder = Suggestible(Decoded(" Piper.", "", 0.0, True, -0.4, 4, 0.2, (1, 2)))

    assert read(decoder, silence(2.0, RATE), language="en").words == ()
    assert read(decoder, silence(2.0, RATE), language="en", words=True).words == (TimedWord("Piper.", 0.5, 1.0),)


def test_a_word_begins_where_its_first_token_is_looked_for_and_ends_where_the_next_one_begins() -> None:
    path = [(0, 5), (0, 9), (1, 12), (2, 20), (2, 24), (3, 40)]

    words = timed([("ten", 1), ("meters", 2)], path, seconds=2.0)

    assert [("ten", 0.1, 0.24), ("meters", 0.24, 0.8)] == [(it.text, it.start_s, it.end_s) for it in words]
    assert timed([], [], seconds=1.0) == []
    assert [it.end_s for it in timed([("yes", 1)], [(0, 5)], seconds=0.5)] == [0.5]
