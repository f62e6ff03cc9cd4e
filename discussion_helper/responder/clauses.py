"""The clause splitter: a stream of tokens in, speakable sentences and clauses out, as early as is safe."""

from discussion_helper.responder.conjunctions import CONJUNCTIONS, PREPOSITIONS
from discussion_helper.responder.punctuation import (
    CLOSERS,
    EM_DASHES,
    SOFT_AT_ONCE,
    SOFT_BEFORE_SPACE,
    STOPS_AT_ONCE,
    is_joined,
    is_spaceless,
    open_marks,
    width,
    word_count,
)
from discussion_helper.responder.stops import Verdict, at_rest, full_stop, is_address, is_ellipsis, question_mark

__all__ = ["ClauseSplitter", "clauses_of"]

_EAGER_WORDS = 8
"""The short minimum of the first clause holds until this many words are out (2-3 s of speech): enough that
playback outlasts decoding and synthesising a long clause (95 tokens/s and 0.05 times real time, measured)."""

_OPENERS = CONJUNCTIONS | PREPOSITIONS

_FENCES = ("```", "~~~")


class ClauseSplitter:
    """Cuts a growing text into items that can be spoken one after the other.

    A sentence ends an item at once where the mark is unmistakable ("?", "!", "。"), after one or two more
    characters where it is not ("."). The first items may also end at a comma, colon, semicolon or dash once they
    have `first_min_words` words, so that the first sound comes early; later ones only with `min_words`. A line
    break always ends an item. A fenced code block is one item. Links, addresses and inline code stay whole.
    A text longer than `max_chars` without any such mark is cut at its last space (Han and kana count three each;
    where there is no space or the last one is inside a link, not before twice that length).

    Every decision depends on the characters alone, never on how they were cut into chunks; but `paused` gives a
    sentence that only what follows could tell to be one. The items joined are the text, white space aside;
    punctuation that comes after an item was given ("?" then "!") opens the next one.
    """

    def __init__(self, *, first_min_words: int = 3, min_words: int = 12, max_chars: int = 300) -> None:
        self._first_min_words = first_min_words
        self._min_words = min_words
        self._max_chars = max_chars
        self._reset()

    def feed(self, text: str) -> list[str]:
        """Take the next piece of the text; the items it completes."""
        return [item for character in text for item in self._take(character)]

    @property
    def waiting(self) -> bool:
        """An item may be complete: what comes next tells."""
        return self._mark > 0

    def paused(self) -> list[str]:
        """Nothing comes for a while: the item that may be complete, unless it would be wrong should more come.

        "Done." is given, "It costs $3." is not, nor is "Dr.": a number or a name may go on.
        """
        head, tail = self._text[: self._mark].rstrip("".join(CLOSERS)), self._text[self._mark :]
        if not self._mark or tail.strip() or not at_rest(head, spaced=bool(tail)):
            return []
        return self._emit(self._mark)

    def flush(self) -> list[str]:
        """The text has ended: what is left of it. The splitter is as new afterwards."""
        rest = (self._before_code + "".join(self._code) + self._text).strip()
        self._reset()
        return [rest] if rest else []

    def _reset(self) -> None:
        self._words = 0
        self._code: list[str] = []  # characters of the fenced block that is open
        self._code_line = 0  # where in it the last line starts
        self._before_code = ""  # what stands before it without a word of its own
        self._carried = ""
        self._start("")

    def _start(self, text: str) -> None:
        self._text = text
        self._length = sum(map(width, text))
        self._word = next((i for i, character in enumerate(text) if character.isalnum()), -1)  # the first one's index
        self._mark = 0  # end of a possible item in _text, while what follows has to decide; 0 = none

    def _take(self, character: str) -> list[str]:
        if self._code:
            return self._take_code(character)
        if character.isspace() and character != "\n" and (not self._text or self._text[-1].isspace()):
            return []
        self._text += character
        self._length += width(character)
        if self._word < 0 and character.isalnum():
            self._word = len(self._text) - 1
        if character == "\n":
            return self._end_line()
        if self._opens_fence():
            self._start_code(len(self._text) - 3)
            return []
        return self._decide(character) or self._pause(character) or self._cap()

    def _decide(self, character: str) -> list[str]:
        if self._mark:
            verdict = self._settle(character)
            if verdict is Verdict.WAIT:
                return []
            if verdict is Verdict.END:
                return self._emit(self._mark)
            self._mark = 0
        return self._consider(character)

    def _consider(self, character: str) -> list[str]:
        """Whether `character`, the last one, ends an item now or may turn out to."""
        if not self._may_end(character):
            return []
        if character in STOPS_AT_ONCE or character in SOFT_AT_ONCE or character in EM_DASHES or self._greek(character):
            before = self._text[-2:-1]
            doubtful = character in "!?" and (before.isspace() or is_address(self._text[:-1]))
            if not doubtful and not open_marks(self._text, self._carried):
                return self._emit(len(self._text))
        self._mark = len(self._text)
        return []

    def _may_end(self, character: str) -> bool:
        if self._word < 0 or self._in_span(self._text):
            return False
        if character in STOPS_AT_ONCE or character in ".…" or self._greek(character):
            return True
        soft = character in SOFT_AT_ONCE or character in SOFT_BEFORE_SPACE or character in EM_DASHES
        dash = character in "-–" and self._text[-2:-1].isspace()
        pause = character.isspace() and self._text[-2:-1] != " " and is_spaceless(self._text[-2:-1] or " ")
        return (soft or dash or pause) and self._enough_words()

    def _pause(self, character: str) -> list[str]:
        """Give the very first clause before a word that has just ended and begins a phrase."""
        if self._words or self._mark or not character.isspace():
            return []
        head, _, word = self._text.rstrip().rpartition(" ")
        if word.lower() not in _OPENERS or len(head.split()) < 2 * self._first_min_words or self._in_span(head):
            return []
        return self._emit(len(head))

    def _enough_words(self) -> bool:
        return word_count(self._text) >= (self._first_min_words if self._words < _EAGER_WORDS else self._min_words)

    def _greek(self, character: str) -> bool:
        return character == ";" and "\u0370" <= self._text[-2:-1] <= "\u03ff"

    def _settle(self, character: str) -> Verdict:
        """Whether the item that may end at the mark does, now that `character` has come after it."""
        tail = self._text[self._mark :]
        if len(tail) == 1 and (character in CLOSERS or character in ".!?…"):
            self._mark += 1
            return Verdict.WAIT
        if tail.strip() in {"", "»"} and "»" in open_marks(self._text[: self._mark], self._carried):
            self._mark = len(self._text) if character == "»" else self._mark  # French has a space before it
            return Verdict.WAIT
        if not tail[0].isspace() and not is_spaceless(tail[0]):
            return Verdict.GO_ON
        head = self._text[: self._mark].rstrip("".join(CLOSERS))
        following = tail.strip()[:1]
        if is_ellipsis(head):
            return self._after_ellipsis(following)
        if head.endswith("."):
            return full_stop(head, following)
        if head[-1:] in "!?":
            return question_mark(closed=len(head) < self._mark, following=following)
        return Verdict.END

    def _after_ellipsis(self, following: str) -> Verdict:
        if not following:
            return Verdict.WAIT
        return Verdict.GO_ON if following.islower() and not self._enough_words() else Verdict.END

    def _emit(self, end: int) -> list[str]:
        item, rest = self._text[:end].strip(), self._text[end:]
        self._words += word_count(item)
        self._carried = open_marks(item, self._carried)
        self._start("")
        return [item, *(later for character in rest for later in self._take(character))]

    def _end_line(self) -> list[str]:
        self._mark = 0
        self._carried = ""
        if self._word < 0:
            text = self._text.strip()
            self._start(f"{text}\n" if text else "")
            return self._cap()
        fence = self._text.rfind("```")
        if fence < 0 or self._text.count("```") % 2 == 0:
            return self._emit(len(self._text))
        before = self._text[:fence].strip()
        self._words += word_count(before)
        self._start_code(fence)
        self._before_code = ""
        return [before] if before else []

    def _cap(self) -> list[str]:
        if self._length <= self._max_chars:
            return []
        if is_joined(self._text[-1]) and self._length <= 4 * self._max_chars:
            return []
        last = len(self._text) - 1  # the last character stays: an accent may follow it
        space = self._last_space()
        if space and not self._in_span(self._text[:space]):
            return self._emit(space)
        if is_spaceless(self._text[-1]) and not self._in_span(self._text):
            return self._emit(last)
        return self._emit(space or last) if self._length > 2 * self._max_chars else []

    def _last_space(self) -> int:
        """Index of the last white space after a word, 0 if there is none."""
        after = range(len(self._text) - 1, self._word, -1) if self._word >= 0 else ()
        return next((index for index in after if self._text[index].isspace()), 0)

    @staticmethod
    def _in_span(text: str) -> bool:
        """Whether `text` ends inside inline code or a Markdown link."""
        line = text[text.rfind("\n") + 1 :]
        if line.count("`") % 2:
            return True
        opened = line.rfind("[")
        closed = line.rfind("]")
        if opened > closed:
            return True
        return closed >= 0 and line[closed + 1 : closed + 2] == "(" and ")" not in line[closed:]

    def _opens_fence(self) -> bool:
        return self._text.endswith(_FENCES) and self._text[self._text.rfind("\n") + 1 :].strip() in _FENCES

    def _take_code(self, character: str) -> list[str]:
        self._code.append(character)
        if character == "\n":
            return self._end_code_line()
        if character == "`" == self._code[0] and not self._code_line and self._code[-2] != "`":
            text, self._code = "".join(self._code), []  # ```code``` within a line
            self._start(self._before_code + text)
            self._before_code = ""
        return []

    def _end_code_line(self) -> list[str]:
        line, fence = "".join(self._code[self._code_line :]).strip(), self._code[0]
        opening, self._code_line = self._code_line == 0, len(self._code)
        if opening or len(line) < 3 or line.strip(fence):
            return []
        item = self._before_code + "".join(self._code).rstrip()
        self._code, self._before_code = [], ""
        return [item]

    def _start_code(self, at: int) -> None:
        """What stands from `at` on opens a fenced block."""
        self._before_code, self._code = self._text[:at], list(self._text[at:])
        self._code_line = len(self._code) if self._text.endswith("\n") else 0
        self._start("")


def clauses_of(text: str) -> list[str]:
    """A whole text in the items that a stream of it is cut into; [] for white space. Joined they are the text."""
    splitter = ClauseSplitter()
    return [*splitter.feed(text), *splitter.flush()]
