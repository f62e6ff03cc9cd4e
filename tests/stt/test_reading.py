"""From windows to words, with a decoder that reads from a script."""

from dataclasses import dataclass, field

import pytest

from discussion_helper.audio.frames import Samples, silence
from discussion_helper.stt.base import TimedWord
from discussion_helper.stt.reading import Abandoned, Decoded, read
from discussion_helper.stt.windows import FULL, LEAST, RATE


@dataclass
class Scripted:
    """Gives one answer after the other, and notes what it was asked."""

    answers: list[Decoded]
    asked: list[tuple[float, int, bool]] = field(default_factory=list)
    """Seconds, frames, timestamps."""
    languages: list[str] = field(default_factory=list)
    detections: int = 0

    def encode(self, samples: Samples, frames: int) -> object:
        self.asked.append((len(samples) / RATE, frames, True))
        return object()

    def decode(self, encoded: object, *, language: str, seconds: float, timestamps: bool, hints: str = "") -> Decoded:
        asked, frames, _ = self.asked.pop()
        assert asked == seconds
        self.asked.append((seconds, frames, timestamps))
        self.languages.append(language)
        return self.answers[len(self.languages) - 1]

    def times(self, encoded: object, ids: tuple[int, ...], *, language: str, seconds: float) -> list[TimedWord]:
        return []

    def detect(self, encoded: object) -> tuple[str, float]:
        self.detections += 1
        return "de", 0.9

    def knows(self, language: str) -> bool:
        return True

    def close(self) -> None: ...


def whole(text: str, *, logprob: float = -1.0, tokens: int = 4, no_speech: float = 0.1) -> Decoded:
    return Decoded(text, text, 1.0, True, logprob, tokens, no_speech)


def broken(text: str, closed: str = "", closed_s: float = 0.0) -> Decoded:
    return Decoded(text, closed, closed_s, False, -1.0, 4, 0.1)


def test_a_finished_window_is_read_once() -> None:
    decoder = Scripted([whole(" Go on.")])

    heard = read(decoder, silence(3.0, RATE), language="en")

    assert (heard.text, heard.language, heard.language_probability) == ("Go on.", "en", 1.0)
    assert decoder.asked == [(3.0, LEAST, True)]
    assert decoder.detections == 0


def test_what_follows_the_last_whole_phrase_is_read_again() -> None:
    decoder = Scripted([broken(" First. And th", " First.", 4.5), whole(" And then more.")])

    assert read(decoder, silence(8.0, RATE), language="en").text == "First. And then more."
    assert decoder.asked == [(8.0, LEAST, True), (3.5, LEAST, True)]


def test_a_lone_broken_phrase_is_read_in_the_full_window_without_timestamps() -> None:
    decoder = Scripted([broken(" All I see is"), whole(" All I see is the desktop.")])

    assert read(decoder, silence(2.4, RATE), language="en").text == "All I see is the desktop."
    assert decoder.asked == [(2.4, LEAST, True), (2.4, FULL, False)]


def test_a_rest_too_short_for_a_word_is_not_read_again() -> None:
    decoder = Scripted([broken(" First. Oh", " First.", 7.5)])

    assert read(decoder, silence(8.0, RATE), language="en").text == "First. Oh"


def test_reading_again_ends() -> None:
    decoder = Scripted([broken(" a b", " a", 0.02)] * 100)

    assert read(decoder, silence(9.0, RATE), language="en").text == "a a a a a a"


def test_long_audio_is_read_in_pieces() -> None:
    decoder = Scripted([whole(" One."), whole(" Two."), whole(" Three.")])

    assert read(decoder, silence(60.0, RATE), language="en").text == "One. Two. Three."
    assert sum(seconds for seconds, _, _ in decoder.asked) == 60.0


def test_the_language_is_asked_for_once() -> None:
    decoder = Scripted([whole(" Eins."), whole(" Zwei."), whole(" Drei.")])

    heard = read(decoder, silence(60.0, RATE), language=None)

    assert (heard.language, heard.language_probability) == ("de", 0.9)
    assert decoder.languages == ["de"] * 3
    assert decoder.detections == 1


def test_the_means_are_over_all_tokens() -> None:
    decoder = Scripted(
        [whole(" A.", logprob=-1.0, tokens=2, no_speech=0.7), whole(" B.", logprob=-5.0, tokens=10, no_speech=0.2)]
    )

    heard = read(decoder, silence(30.0, RATE), language="en")

    assert heard.average_logprob == pytest.approx(-0.5)
    assert heard.no_speech == 0.2


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_it_stops_between_two_steps_when_nobody_waits(steps: int) -> None:
    decoder = Scripted([broken(" First. And th", " First.", 4.5), whole(" And then more.")])
    left = iter([False] * steps + [True])

    with pytest.raises(Abandoned):
        read(decoder, silence(8.0, RATE), language="en", abandoned=lambda: next(left))
    assert len(decoder.asked) == (steps + 1) // 2
    assert len(decoder.languages) == steps // 2


def test_what_is_made_up_about_a_silent_rest_is_dropped() -> None:
    made_up = whole(" Thank you.", logprob=-5.0, tokens=5, no_speech=0.9)
    decoder = Scripted([broken(" Go on.", " Go on.", 4.0), made_up])

    heard = read(decoder, silence(8.0, RATE), language="en")

    assert heard.text == "Go on."
    assert heard.no_speech == 0.1


def test_what_is_made_up_about_silence_alone_is_left_to_the_guards() -> None:
    made_up = whole(" Thank you.", logprob=-5.0, tokens=5, no_speech=0.9)

    heard = read(Scripted([made_up]), silence(8.0, RATE), language="en")

    assert (heard.text, heard.average_logprob, heard.no_speech) == ("Thank you.", -1.0, 0.9)
