"""Word times: from tokens and where the decoder looked to words with a beginning and an end."""

from collections.abc import Sequence
from typing import Any

from discussion_helper.stt.base import TimedWord

__all__ = ["grouped", "timed"]

_STEP_S = 0.02


def grouped(tokenizer: Any, tokens: list[int], language: str) -> list[tuple[str, int]]:
    """The words of text tokens, each with its number of tokens; punctuation belongs to the word before it.

    `tokenizer`: of the model, from the package tokenizers.
    """
    from faster_whisper.tokenizer import Tokenizer

    splitter = Tokenizer(tokenizer, multilingual=True, task="transcribe", language=language)
    words: list[tuple[str, int]] = []
    for text, ids in zip(*splitter.split_to_word_tokens([*tokens]), strict=True):
        if words and not any(character.isalnum() for character in text):
            before, count = words.pop()
            words.append((before + text.rstrip(), count + len(ids)))
        else:
            words.append((text.strip(), len(ids)))
    return words


def timed(words: Sequence[tuple[str, int]], path: Sequence[tuple[int, int]], *, seconds: float) -> list[TimedWord]:
    """Words with their times. `path`: pairs of token and step of 20 ms, in order, as the decoder looked.

    A word begins where its first token is looked for first, and ends where the next one begins.
    """
    if not words:
        return []
    first: dict[int, int] = {}
    for token, step in path:
        first.setdefault(token, step)
    last = max(first, default=0)
    starts, at = [], 0
    for _, count in words:
        starts.append(min(seconds, first.get(min(at, last), 0) * _STEP_S))
        at += count
    end = min(seconds, first[at] * _STEP_S) if at in first else seconds
    ends = [*starts[1:], end]
    return [
        TimedWord(text, start, max(start, stop)) for (text, _), start, stop in zip(words, starts, ends, strict=True)
    ]
