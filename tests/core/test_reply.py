"""A reply that is cut: what was heard is the beginning of what was said, and what goes on is the rest."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discussion_helper.clock import now
from discussion_helper.generation import Generation
from discussion_helper.iteration import each
from discussion_helper.reply import Reply, estimate_heard
from discussion_helper.testing import SilentVoice
from discussion_helper.types import SpokenSentence, Utterance, unheard_in

SECONDS_A_WORD = 0.25

words = st.sampled_from(["one", "two,", "three", "4.5", "(five)", "“six”", "-", "北京天气。", "seven."])
gaps = st.sampled_from([" ", "  ", "\n"])
sentences = st.lists(st.tuples(words, gaps), min_size=1, max_size=6).map(lambda parts: "".join(w + g for w, g in parts))


class WordVoice(SilentVoice):
    """Takes SECONDS_A_WORD for a word, and knows the words that were heard, or guesses them, or knows nothing."""

    def __init__(self, knows: str) -> None:
        super().__init__()
        self._knows = knows

    async def speak(self, sentence: str) -> SpokenSentence:
        ends = [0, *accumulate(len(part) for part in sentence.split(" "))]
        self._seconds = SECONDS_A_WORD * (len(ends) - 1)
        began = now()
        result = await super().speak(sentence)
        if not result.cut:
            return result
        count = int((now() - began) / SECONDS_A_WORD)
        heard = sentence[: ends[count] + max(0, count - 1)]
        return {
            "words": SpokenSentence(sentence, played_s=result.played_s, cut=True, heard=heard),
            "guess": SpokenSentence(sentence, played_s=result.played_s, cut=True, heard=heard, estimated=True),
            "nothing": SpokenSentence(sentence, played_s=result.played_s, cut=True),
            "wrong": SpokenSentence(sentence, played_s=result.played_s, cut=True, heard=f"x{sentence}"),
        }[self._knows]


async def held(texts: Sequence[str], cuts: Sequence[float], voice: SilentVoice) -> list[tuple[str, str]]:
    """(heard, said) of a reply that is cut so often, and of what it says when it goes on."""
    turns = []
    async with anyio.create_task_group() as tasks:
        generation = Generation(each(texts))
        tasks.start_soon(generation.run)
        reply = Reply(generation, voice, begins=lambda _: None)
        await generation.ready()
        for cut_s in [*cuts, None]:
            reply.begin()
            async with anyio.create_task_group() as speaking:
                speaking.start_soon(reply.speak)
                if cut_s is not None:
                    await anyio.sleep(cut_s)
                    reply.cut("onset")
            turns.append((reply.heard, reply.said))
    return turns


def plain(text: str) -> str:
    return "".join(text.split())


@settings(max_examples=100)
@example(texts=["one two"], cuts=[0.3, 0.2, 0.1], knows="words")
@example(texts=["one -", "two"], cuts=[0.3], knows="words")  # what is left of the first cannot be pronounced
@given(
    texts=st.lists(sentences, min_size=1, max_size=5),
    cuts=st.lists(st.floats(0.0, 4.0), max_size=3),
    knows=st.sampled_from(["words", "guess", "nothing", "wrong"]),
)
def test_what_was_heard_is_the_beginning_of_what_was_said(
    run_virtually: Callable[..., Any], texts: list[str], cuts: list[float], knows: str
) -> None:
    turns = run_virtually(held, texts, cuts, WordVoice(knows))

    for heard, said in turns if knows != "wrong" else ():
        assert " ".join(said.split()).startswith(" ".join(heard.split()))
        assert unheard_in(said, heard) is not None
    if knows == "words":
        whole, pronounced = plain("".join(texts)), "".join(plain(heard) for heard, _ in turns)
        assert [c for c in whole if c.isalnum()] == [c for c in pronounced if c.isalnum()]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("knows", "rest"), [("words", "three four. Five."), ("guess", None), ("nothing", None), ("wrong", None)]
)
async def test_a_reply_goes_on_with_what_was_not_heard_and_with_the_sentence_where_that_is_a_guess(
    knows: str, rest: str | None
) -> None:
    whole = "One two three four. Five."
    (told, said), (heard, _) = await held(["One two three four.", "Five."], [0.6], WordVoice(knows))

    assert whole == said
    assert told == ("xOne two three four." if knows == "wrong" else "One two")
    assert (rest or whole) == heard


@given(sentences, st.floats(0.0, 3.0))
def test_an_estimate_is_a_beginning_of_whole_words(sentence: str, played_s: float) -> None:
    heard = estimate_heard(sentence, played_s)

    assert sentence.startswith(heard)
    assert heard == sentence or not heard or sentence[len(heard)].isspace()


@pytest.mark.parametrize(
    ("said", "heard", "rest"),
    [
        ("It is far away.", "It is", "far away."),
        ("It  is\nfar away.", " It is ", "far away."),
        ("北京天气很好。", "北京天气", "很好。"),
        ("It is far.", "It was", None),
        ("It is", "It is far", None),
        ("It is far!", "It is far", ""),
        ("It is far.", "", "It is far."),
        ("", "", ""),
    ],
)
def test_the_rest_of_a_text_is_told_by_its_beginning(said: str, heard: str, rest: str | None) -> None:
    assert rest == unheard_in(said, heard)


def test_an_utterance_tells_what_was_not_heard() -> None:
    told: Callable[..., str] = lambda **values: Utterance("agent", **values).unheard  # noqa: E731
    assert "far." == told(text="It is", said="It is far.", interrupted=True)
    assert "" == told(text="It is far.")
    assert "" == told(text="Something else", said="It is far.")
