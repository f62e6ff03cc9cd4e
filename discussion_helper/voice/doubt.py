"""The doubt: how unsure of its words a recogniser may be for them to cut the agent off.

The less voice, the less doubt: little voice shows less of whether it was one, and half a syllable is like many words.

Measured by `python -m benchmarks.overlap` with tiny.en: 222 sounds (short ones of conversations, things, music, babble
of four to six people) and 171 times somebody over the agent, without an echo and with two. How many of a hundred sounds
interrupt, and how many people do not, with the bar moved at all lengths by so much:

    bar      -0.6   -0.4   -0.3   -0.2   -0.1   0      +0.1   +0.2   +0.3   +0.4   +0.6
    sounds   0.0    0.0    0.0    0.5    1.8    3.2    5.0    5.9    8.1    9.9    11.7
    people   33.9   21.1   15.8   9.4    6.4    1.8    1.2    0.0    0.0    0.0    0.0

These are the words alone. In the talk, which does not wait for the words of a sound without a voice, six of the 222
interrupted, three of them two clips of meetings in which somebody does say a word; the one babble among them not any
more since AGAIN_UNTIL_S. Three of the 171 did not, each "five, five". Without the second reading (AGAIN) and what else
came with it, ten did not.
"""

from discussion_helper.repeats import longest_run
from discussion_helper.voice.words import Words

__all__ = [
    "AGAIN",
    "AGAIN_UNTIL_S",
    "A_SECOND",
    "BASE",
    "LOOP",
    "MOST",
    "MOST_GOING_ON",
    "MOST_UNHEARD",
    "STOP",
    "UNSEEN_WORDS",
    "WORDS_PER_S",
    "Doubt",
]

BASE, A_SECOND, MOST = 0.95, 0.3, 1.3
"""Of no voice at all, for each second of it, and at most."""
MOST_GOING_ON = 0.9
"""While the voice goes on: there will be more to judge it by, so that to wait misses nobody."""
AGAIN = 0.2
"""So much more for words that were read in less of the same voice before: what a recogniser makes up is another text at
every length, what it hears is not. Chosen where "five, five" was up to 0.1 above the bar, and the only piece of babble
that was read twice alike ("We're not.") 0.4."""
AGAIN_UNTIL_S = 2.0
"""Not for more voice than that: of people the recogniser is sure by then, and in babble it finds its words again."""
STOP = 0.1
"""So much more for a stop word alone: not to be heard is worse there than to be heard wrongly."""
MOST_UNHEARD = 0.95
"""Where the neural detector hears no voice."""
LOOP = 3
"""So often nobody says a phrase in a row: a recogniser that hears nothing does ("He's a good one.", of babble)."""
WORDS_PER_S, UNSEEN_WORDS = 10.0, 1.5
"""Nobody says more, and the detector may miss a syllable or two. A recogniser that hears four words in an eighth of a
second has made them up."""


class Doubt:
    """A pure function of the words, and of what they are the words of."""

    def __init__(self, *, shift: float = 0.0) -> None:
        """`shift` moves the bar, at all lengths, for drawing the curve."""
        self._shift = shift

    def is_small(self, words: Words, *, stops: bool = False, unheard: bool = False, again: bool = False) -> bool:
        """Whether they are believed.

        `stops`: they are a stop word and nothing else. `unheard`: the neural detector hears no voice there. `again`:
        most of them were read before in less of the voice.
        """
        can_be_said = stops or (
            len(words.text.split()) <= UNSEEN_WORDS + WORDS_PER_S * words.voiced_s
            and longest_run(words.text, shortest=2) < LOOP
        )
        twice = again and words.final and words.voiced_s < AGAIN_UNTIL_S
        most = MOST_UNHEARD if unheard else self._most(words) + STOP * stops + AGAIN * twice
        return can_be_said and words.doubt <= most + self._shift

    def _most(self, words: Words) -> float:
        return min(MOST, BASE + A_SECOND * words.voiced_s) if words.final else MOST_GOING_ON
