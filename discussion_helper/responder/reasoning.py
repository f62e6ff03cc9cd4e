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

    def feed(self, text: str) -> str:
        """Take the next piece; what of it can be spoken."""
        text, self._held = self._held + text, ""
        spoken: list[str] = []
        at = 0
        while (mark := text.find("<", at)) >= 0:
            self._keep(text[at:mark], spoken)
            begin = text[mark : mark + _LONGEST].lower()
            tag = next((tag for tag in _TAGS if begin.startswith(tag)), None)
            if tag is not None:
                self._inside = tag in _OPENING
                at = mark + len(tag)
            elif any(tag.startswith(begin) for tag in _TAGS):  # only the end of the text is that short
                self._held = text[mark:]
                return "".join(spoken)
            else:
                self._keep("<", spoken)
                at = mark + 1
        self._keep(text[at:], spoken)
        return "".join(spoken)

    def flush(self) -> str:
        """The text has ended: what was held back and turned out to be no tag."""
        rest, self._held = self._held, ""
        return "" if self._inside else rest

    def _keep(self, text: str, spoken: list[str]) -> None:
        if not self._inside:
            spoken.append(text)
