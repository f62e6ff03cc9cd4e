"""The judge: whether the words of a voice over the agent are an interruption."""

from dataclasses import replace

from discussion_helper.voice.barge_in import ROUNDING_S
from discussion_helper.voice.doubt import Doubt
from discussion_helper.voice.lexicon import Lexicon, words_of
from discussion_helper.voice.verdict import RESPONSE, STOPPED, Act, Verdict
from discussion_helper.voice.words import Words

__all__ = ["LEAST_UNHEARD", "NEARLY", "SAME", "SURE_S", "Judge"]

LEAST_UNHEARD = 2
"""Words of a voice that the neural detector does not hear. Of one, "no" for instance, a recogniser is sure in a hum."""

SURE_S = 0.8
"""Of a voice that goes on. What a recogniser makes of less is often no more than like what is being said: of 24 pieces
of babble three gave words after 0.4 s of which it was sure (0.7 to 0.9), and one after 0.9 s."""

NEARLY = 0.3
"""So much doubt too much is nearly none: of babble two pieces in 36 had such words after 0.9 s, of people half of
those who were not believed by then."""
SAME = 0.5
"""More than this share of the words that are no responses must have been read before. Of sounds whose words were up to
0.3 too doubtful none had so many (a meeting from afar: half of them), of people who were not believed three of nine."""
_UNSURE = "too little to be sure of the words"
_EARLY = "more is to come"


class Judge:
    """Follows what a recogniser makes of one voice. A pure function of the words that it was given since `reset`."""

    def __init__(
        self, lexicon: Lexicon, *, min_speech_s: float = 0.128, min_words: int = 1, doubt: Doubt | None = None
    ) -> None:
        """`doubt`: how much of it is allowed; None = the default."""
        self._lexicon = lexicon
        self._min_speech_s, self._min_words = min_speech_s, min_words
        self._doubt = doubt or Doubt()
        self.reset()

    def reset(self) -> None:
        """Another voice."""
        self._before: list[str] = []
        self.denied = 0
        """Looks at a voice that goes on that gave no interruption."""
        self.is_likely = False
        """The last of them had words that are nearly believed."""

    def judged(self, words: Words, *, unheard: bool = False) -> Verdict | None:
        """An interruption, or why it is none; None: not yet to be told, for the voice goes on.

        `unheard`: the neural detector hears no voice there.
        """
        said = [word for word in words_of(words.text) if not self._lexicon.is_backchannel(word)]
        again, self._before = sum(word in self._before for word in said) > SAME * len(said), said
        if not words.echo and not unheard and self._stops(words, again=again):
            return Verdict(Act.INTERRUPT, STOPPED)
        why = self._why_not(words, unheard=unheard, again=again)
        if not why:
            return Verdict(Act.INTERRUPT, "words")
        self.denied += not words.final
        self.is_likely = why in (_UNSURE, _EARLY) and self._doubt.is_small(replace(words, doubt=words.doubt - NEARLY))
        return Verdict(Act.RESUME, why) if words.final else None

    def _stops(self, words: Words, *, again: bool) -> bool:
        alone = self._lexicon.only_stops(words.text)
        return self._lexicon.stops(words.text) and self._doubt.is_small(words, stops=alone, again=again)

    def _why_not(self, words: Words, *, unheard: bool, again: bool) -> str:
        if words.echo:
            return "the agent's own words"
        if not words.text:
            return words.refused or "no words"
        if self._lexicon.is_backchannel(words.text):
            return RESPONSE
        if not self._doubt.is_small(words, unheard=unheard, again=again):
            return _UNSURE
        enough = self._lexicon.count(words.text) >= max(self._min_words, LEAST_UNHEARD * unheard)
        if not enough or words.voiced_s <= self._min_speech_s - ROUNDING_S:
            return "too few words"
        return "" if words.final or words.voiced_s >= SURE_S else _EARLY
