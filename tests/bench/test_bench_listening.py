"""What the bench's recogniser is given: the same as a talk's, however soon that begins to read."""

from pathlib import Path

import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.bench.clips import load_all
from discussion_helper.bench.listening import segmenter_with
from discussion_helper.bench.no_speech import Piece
from discussion_helper.bench.no_speech_run import taken_in
from discussion_helper.bench.one_word import recorded_words, taken
from discussion_helper.bench.onset_run import onset
from discussion_helper.stt.base import Recognised
from discussion_helper.turn.policy_endpointer import PolicyEndpointer

pytestmark = pytest.mark.anyio

RATE = 16_000
FOLDER = Path(__file__).parents[2] / "audio"


class Keeps:
    """A recogniser that keeps what it is given."""

    def __init__(self, text: str = "Yes.") -> None:
        self.given: list[Samples] = []
        self._text = text

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        self.given.append(samples)
        return Recognised(self._text)

    async def warmup(self) -> None: ...

    async def aclose(self) -> None: ...


@pytest.fixture(scope="module")
def word() -> Samples:
    return recorded_words(FOLDER, 1)[0].samples


def has_its_tail(samples: Samples) -> bool:
    return bool(np.array_equal(samples[-800:], samples[-1600:-800][::-1]))


async def test_a_word_is_read_with_the_tail_that_a_talk_puts_behind_it(word: Samples) -> None:
    recogniser = Keeps()
    (said,) = recorded_words(FOLDER, 1)

    row = await taken(said, -26.0, segmenter_with(PolicyEndpointer()), recogniser)

    assert (1, True) == (row.turns, row.taken)
    assert [True] == [has_its_tail(samples) for samples in recogniser.given]


@pytest.mark.parametrize(("text", "there"), [("Go forward.", True), ("Ten metres.", True), ("", False)])
async def test_a_first_word_is_there_where_the_turn_has_what_the_clip_has(text: str, there: bool) -> None:
    """What is not heard in either is not there."""
    (clip,) = [clip for clip in load_all(FOLDER) if clip.path.name == "sphinx_goforward.wav"]

    row = await onset(clip, -26.0, Keeps(text), "en")

    assert ("go", there) == (row.first, row.there)
    assert row.lead_ms == pytest.approx(500.0, abs=100.0)


def test_what_is_taken_for_a_turn_has_its_tail_and_its_lead_and_stands_in_the_piece_it_begins_in(word: Samples) -> None:
    def quiet(seconds: float) -> Samples:
        return np.random.default_rng(0).normal(0.0, 1e-4, round(seconds * RATE)).astype(np.float32)

    nobody = Piece("silence", "nobody", -80.0, quiet(6.0))
    somebody = Piece("speech", "somebody", -26.0, np.concatenate((quiet(0.2), word, quiet(2.0))))

    (found,) = taken_in([nobody, somebody])

    assert "somebody" == found.piece.name
    assert found.at_s == pytest.approx(6.2 - 0.5, abs=0.1)
    assert has_its_tail(found.samples)
