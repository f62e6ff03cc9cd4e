"""Guards: when a recogniser's text is not believed, because nobody said it."""

import re
import zlib

from discussion_helper.repeats import longest_run

__all__ = ["LEAST_VOICED_S", "compression_ratio", "doubtful", "goes_in_circles", "refusal", "words_in"]

LEAST_VOICED_S = 0.1
"""Less voice than this is no word; the shortest of 12 spoken digits held 0.29 s."""

_LEAST_LOGPROB = -1.5
_UNSURE_LOGPROB = -0.8
_DOUBT = 1.3
_TRUSTED_S = 0.5
_UNHEARD_S = 0.3
_MOST_COMPRESSION = 2.4
_WORDS_PER_S = 6.0
_REPEATED_PER_S = 4.0
_RUN = 4
_THRICE = 3
_MOST_PER_WORD_S = 0.75
_LEAST_TRIPLES = 12
_FRESH = 0.7
_DOUBTED_LOGPROB = -0.5


def refusal(
    text: str,
    *,
    duration_s: float,
    voiced_s: float | None,
    no_speech_probability: float,
    average_logprob: float,
    compression_ratio: float,
) -> str:
    """Why `text` is not to be believed, in a few words; "" if it is.

    `voiced_s`: seconds of voice that the detectors saw, None when none looked. `average_logprob`: natural logarithm
    per token, timestamps included. No text is refused for what it says, and no sign decides alone where speech shows
    it too. The doubt is the no-speech probability minus the logarithm. In 140 turns of recorded speech (tiny.en and
    base) it stayed below 1.4 where the words were right, but for a few faint ones of 0.2 s; it was above 1.6 in 86 of
    91 pieces of noise and music that gave a text ("Thank you.", "I'm sorry."), the other five being human voices. The
    more voice was seen, the more is believed, unless the text is too short for it or says a thing three times: of 65
    turns of speech whose doubt was above 0.9 none held more than 0.58 s of voice for each word, and of 200 pieces of
    noise, breath and music that were given as 2 s of voice each 12 were believed, and are 5 with this.
    """
    words = words_in(text)
    evidence_s = duration_s if voiced_s is None else voiced_s
    if not words:
        return "no words"
    if evidence_s < LEAST_VOICED_S:
        return "no voice"
    unfit = voiced_s is not None and (voiced_s > _MOST_PER_WORD_S * words or longest_run(text) >= _THRICE)
    if doubtful(no_speech_probability, average_logprob, voiced_s=0.0 if unfit else voiced_s):
        return "no speech"
    if average_logprob < _LEAST_LOGPROB:
        return "not understood"
    if words > 1 + _WORDS_PER_S * evidence_s and average_logprob < _UNSURE_LOGPROB:
        return "more words than voice"
    looped = longest_run(text) >= _RUN and words > 1 + _REPEATED_PER_S * evidence_s
    circles = average_logprob < _DOUBTED_LOGPROB and goes_in_circles(text)
    return "repeats itself" if looped or circles or compression_ratio > _MOST_COMPRESSION else ""


def doubtful(no_speech_probability: float, average_logprob: float, *, voiced_s: float | None = None) -> bool:
    """Whether it looks like no speech; `voiced_s` as in `refusal`."""
    trust = _UNHEARD_S if voiced_s is None else min(voiced_s, _TRUSTED_S)
    return no_speech_probability - average_logprob > _DOUBT + trust


def words_in(text: str) -> float:
    """How many words were said: those between spaces, at least one for six letters or digits."""
    spoken = [part for part in text.split() if re.search(r"\w", part)]
    return max(len(spoken), len(re.findall(r"\w", text)) / 6)


def goes_in_circles(text: str) -> bool:
    """Whether many of its word triples came before, as in "I'm not sure if I can do this, but I'm not sure if ...".

    Of 20 recorded English texts of nine triples or more all but one had 94 % of them once; a loop of a phrase with
    changing ends has some 60 %.
    """
    words = re.sub(r"[^\w\s]", "", text.lower()).split()
    triples = list(zip(words, words[1:], words[2:], strict=False))
    return len(triples) >= _LEAST_TRIPLES and len(set(triples)) < _FRESH * len(triples)


def compression_ratio(text: str) -> float:
    """Bytes of the text over bytes of it compressed; loops exceed 2.4 (Radford et al. 2022, section 4.5)."""
    raw = text.encode()
    return len(raw) / len(zlib.compress(raw)) if raw else 0.0
