"""Whether words are an interruption."""

from typing import Any

import pytest

from discussion_helper.voice.judging import SURE_S, Judge
from discussion_helper.voice.lexicon import Lexicon
from discussion_helper.voice.verdict import RESPONSE, Act, Verdict
from discussion_helper.voice.words import Words

WORDS = Verdict(Act.INTERRUPT, "words")
STOP = Verdict(Act.INTERRUPT, "a stop word")
UNSURE = Verdict(Act.RESUME, "too little to be sure of the words")


def judged(text: str, *, unheard: bool = False, min_words: int = 1, **more: Any) -> Verdict | None:
    judge = Judge(Lexicon("en"), min_words=min_words)
    return judge.judged(Words(text=text, **({"voiced_s": 0.5, "final": True} | more)), unheard=unheard)


@pytest.mark.parametrize(
    ("text", "more", "verdict"),
    [
        ("What about Paris?", {}, WORDS),
        ("What about Paris?", {"doubt": 1.2}, UNSURE),
        ("What about Paris?", {"doubt": 1.2, "voiced_s": 1.0}, WORDS),
        ("Okay, man.", {"doubt": 1.79, "voiced_s": 1.5}, UNSURE),
        ("What about Paris?", {"final": False}, None),
        ("What about Paris?", {"final": False, "voiced_s": SURE_S}, WORDS),
        ("Stop.", {"final": False, "voiced_s": 0.2}, STOP),
        ("What about Paris?", {"final": False, "voiced_s": 2.0, "doubt": 1.0}, None),
        ("Stop.", {"doubt": 1.15}, STOP),
        ("Stop.", {"final": False, "doubt": 1.15}, None),
        ("Stop.", {"doubt": 1.56}, UNSURE),
        ("Stop it", {"doubt": 1.15}, UNSURE),
        ("What about Paris?", {"doubt": 1.0, "unheard": True, "voiced_s": 1.0}, UNSURE),
        ("What about Paris?", {"doubt": 0.8, "unheard": True, "voiced_s": 1.0}, WORDS),
        ("Oh, no.", {"doubt": 0.8, "unheard": True, "voiced_s": 1.0}, Verdict(Act.RESUME, "too few words")),
        ("What about Paris?", {"echo": True}, Verdict(Act.RESUME, "the agent's own words")),
        ("Stop", {"echo": True}, Verdict(Act.RESUME, "the agent's own words")),
        ("Mm-hm.", {}, Verdict(Act.RESUME, RESPONSE)),
        ("Whoopsie daisy.", {}, Verdict(Act.RESUME, RESPONSE)),
        ("", {}, Verdict(Act.RESUME, "no words")),
        ("", {"refused": "no speech"}, Verdict(Act.RESUME, "no speech")),
        ("Paris", {"min_words": 2}, Verdict(Act.RESUME, "too few words")),
        ("Paris", {"voiced_s": 0.1}, Verdict(Act.RESUME, "too few words")),
    ],
)
def test_what_words_are(text: str, more: dict[str, Any], verdict: Verdict | None) -> None:
    assert verdict == judged(text, **more)


@pytest.mark.parametrize(
    ("before", "text", "doubt", "verdict"),
    [
        ("5.5", "5 5.", 1.24, WORDS),
        ("5... 5...", "5, 5.", 1.22, WORDS),
        ("5.5", "5 5.", 1.6, UNSURE),
        ("", "5 5.", 1.24, UNSURE),
        ("this one yeah.", "This only, I go.", 1.24, UNSURE),
        ("This only out.", "This only, I go.", 1.24, UNSURE),
        ("Yeah, yeah.", "Yeah, yeah, go.", 1.24, UNSURE),
        ("no, wait for it", "No, wait.", 1.3, STOP),
    ],
)
def test_what_is_read_twice_may_be_more_doubtful(before: str, text: str, doubt: float, verdict: Verdict) -> None:
    judge = Judge(Lexicon("en"))
    judge.judged(Words(text=before, voiced_s=0.4, doubt=1.5))

    assert verdict == judge.judged(Words(text=text, final=True, voiced_s=0.7, doubt=doubt))


def test_what_was_read_of_another_voice_says_nothing_of_this_one() -> None:
    judge = Judge(Lexicon("en"))
    judge.judged(Words(text="five five", voiced_s=0.4, doubt=1.5))
    judge.reset()

    assert UNSURE == judge.judged(Words(text="five five", final=True, voiced_s=0.7, doubt=1.24))


def test_looks_at_a_voice_that_goes_on_are_counted_until_there_is_another() -> None:
    judge = Judge(Lexicon("en"))
    for text, final in (("", False), ("Yeah", False), ("Mm", True), ("What about", False)):
        judge.judged(Words(text=text, final=final, voiced_s=0.4))

    assert 3 == judge.denied
    judge.reset()
    assert 0 == judge.denied


@pytest.mark.parametrize(
    ("text", "doubt", "likely"),
    [("Login in.", 1.1, True), ("Login in.", 1.3, False), ("Yeah.", 0.5, False), ("", 0.5, False)],
)
def test_words_that_are_nearly_believed_are_likely(text: str, doubt: float, likely: bool) -> None:
    judge = Judge(Lexicon("en"))
    judge.judged(Words(text=text, voiced_s=0.9, doubt=doubt))

    assert likely is judge.is_likely
