"""The reasoning filter: what a model thinks between tags is not for speaking."""

__all__ = ["ReasoningFilter"]

_NAMES = ("think", "thinking", "thought", "reasoning")
"""Tags in use: <think> (DeepSeek, Qwen and most others), the rest by fine-tuned models and gateways."""
_OPENING = tuple(f"<{name}>" for name in _NAMES)
_TAGS = (*_OPENING, *(f"</{name}>" for name in _NAMES))
_LONGEST = max(map(len, _TAGS))


class ReasoningFilter:
    """Removes `<think>...</think>` and its kin from a text that comes in pieces, tags split over pieces too.

    A block that never ends hides the rest. A closing tag without an opening one is removed alone: some models'
    templates open the block in the prompt, and what came before has been spoken by then.
    """

    def __init__(self) -> None:
        self._held = ""  # may be the beginning of a tag
        self._inside = False
        self.thought = ""
        """What stood between tags in the text that was fed last."""

    def feed(self, text: str) -> str:
        """Take the next piece; what of it can be spoken."""
        spoken: list[str] = []
        thought: list[str] = []
        self._split(text, spoken, thought)
        self.thought = "".join(thought)
        return "".join(spoken)

    def _split(self, text: str, spoken: list[str], thought: list[str]) -> None:
        text, self._held = self._held + text, ""
        at = 0
        while (mark := text.find("<", at)) >= 0:
            (thought if self._inside else spoken).append(text[at:mark])
            begin = text[mark : mark + _LONGEST].lower()
            tag = next((tag for tag in _TAGS if begin.startswith(tag)), None)
            if tag is not None:
                self._inside = tag in _OPENING
                at = mark + len(tag)
            elif any(tag.startswith(begin) for tag in _TAGS):  # only the end of the text is that short
                self._held = text[mark:]
                return
            else:
                (thought if self._inside else spoken).append("<")
                at = mark + 1
        (thought if self._inside else spoken).append(text[at:])

    def flush(self) -> str:
        """The text has ended: what was held back and turned out to be no tag."""
        rest, self._held = self._held, ""
        self.thought = rest if self._inside else ""
        return "" if self._inside else rest
