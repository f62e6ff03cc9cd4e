"""The reasoning filter: what a model thinks between tags is not for speaking."""

__all__ = ["ReasoningFilter"]

_NAMES = ("think", "thinking", "thought", "reasoning")
"""Tags in use: <think> (DeepSeek, Qwen and most others), the rest by fine-tuned models and gateways."""
_OPENING = tuple(f"<{name}>" for name in _NAMES)
_CLOSING = tuple(f"</{name}>" for name in _NAMES)


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
        self._held += text
        spoken: list[str] = []
        while (at := self._held.find("<")) >= 0:
            self._keep(self._held[:at], spoken)
            self._held = self._held[at:]
            tag = next((tag for tag in (*_OPENING, *_CLOSING) if self._held.lower().startswith(tag)), None)
            if tag is not None:
                self._inside = tag in _OPENING
                self._held = self._held[len(tag) :]
            elif self._may_become_tag():
                return "".join(spoken)
            else:
                self._keep("<", spoken)
                self._held = self._held[1:]
        self._keep(self._held, spoken)
        self._held = ""
        return "".join(spoken)

    def flush(self) -> str:
        """The text has ended: what was held back and turned out to be no tag."""
        rest, self._held = self._held, ""
        return "" if self._inside else rest

    def _keep(self, text: str, spoken: list[str]) -> None:
        if not self._inside:
            spoken.append(text)

    def _may_become_tag(self) -> bool:
        return any(tag.startswith(self._held.lower()) for tag in (*_OPENING, *_CLOSING))
