"""What a chat looks like at one moment, made from the events of its stream."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from discussion_helper.commands.chat_entries import Called, Entry, Remark, Returned, Said, Spent, Thought, You
from discussion_helper.commands.chat_live import Live
from discussion_helper.text.artifacts import Artifact, Image, Reasoning, Text, ToolCall, ToolResult, Usage
from discussion_helper.text.outputs import (
    ArtifactEvent,
    ErrorEvent,
    LifecycleEvent,
    OutputEvent,
    Phase,
    PropertiesEvent,
    TurnCompleteEvent,
)
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.document import NOT_ANSWERED, unanswered

__all__ = ["EMPTY", "ChatState", "says_nothing"]

EMPTY = "The answer is empty."


def says_nothing(turn: Turn) -> bool:
    """An answer of the model's in which there is nothing to see, and which nobody cut off."""
    shown = any(isinstance(each, ToolCall | Image) for each in turn.artifacts) or turn.text.strip()
    return turn.role == "assistant" and not shown and not turn.interrupted


@dataclass(slots=True)
class ChatState:
    """`entries` only ever grows. The texts are as they came: drawing makes them harmless."""

    entries: list[Entry] = field(default_factory=list)
    newest: int = 0
    """Where the entries of the newest exchange begin."""
    unfolded: bool = False
    """The details of the newest exchange are shown."""
    live: Live = field(default_factory=Live)
    phase: Phase = "done"
    waiting: dict[str, str] = field(default_factory=dict)
    """Event id to message, of what was sent and is not a turn yet."""
    properties: dict[str, str] = field(default_factory=dict)
    """What is so about the chat: `model`, `thread_id`."""
    note: str = ""
    """Something about what is being typed."""
    _dropped: int = 0
    """Messages that waited when an interrupt came, which is not told yet."""
    _names: dict[str, str] = field(default_factory=dict)
    """Id of a call to the tool's name."""

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> "ChatState":
        """A chat that goes on from these turns."""
        state = cls()
        for turn, mark in zip(turns, unanswered(turns), strict=True):
            state._take_turn(turn)
            if mark:
                state.remark(NOT_ANSWERED)
        return state

    @property
    def running(self) -> bool:
        """A message is being answered."""
        return self.phase in ("submitted", "streaming")

    def take(self, event: OutputEvent) -> bool:
        """Follow one event; whether anything looks different now."""
        match event:
            case ArtifactEvent(artifact):
                return self.live.add(artifact)
            case TurnCompleteEvent(turn, context):
                self.waiting.pop(context.event_id, None)
                self._take_turn(turn)
            case LifecycleEvent(phase, context):
                self._take_phase(phase, context.event_id)
            case ErrorEvent():
                self._cut()
                self.remark(event.message, problem=True)
            case PropertiesEvent():
                self._take_properties(event)
            case _:
                return False
        return True

    # -- what the person does

    def sent(self, event_id: str, text: str) -> None:
        """A message waits for its turn."""
        self.waiting[event_id] = text

    def dropped(self) -> None:
        """What waited will not be answered; told when the turn that runs has come to its end."""
        self._dropped += len(self.waiting)
        self.waiting.clear()

    def toggle(self) -> None:
        """Show the details of the newest exchange, or hide them."""
        self.unfolded = not self.unfolded

    def remark(self, text: str, *, problem: bool = False) -> None:
        """Add a remark."""
        self.entries.append(Remark(text, problem))

    # -- events

    def _take_turn(self, turn: Turn) -> None:
        if turn.role == "user":
            self.newest = len(self.entries)
            self.entries.append(You(turn.text))
            return
        self.live = Live()
        for artifact in turn.artifacts:
            self.entries += self._entries_of(artifact, cut=turn.interrupted)
        if says_nothing(turn):
            self.remark(EMPTY)

    def _entries_of(self, artifact: Artifact, *, cut: bool) -> Iterator[Entry]:
        match artifact:
            case Text(content) if content.strip():
                yield Said(content, cut)
            case Reasoning(content) if content.strip():
                yield Thought(content)
            case ToolCall(id, name, arguments):
                self._names[id] = name
                yield Called(name, arguments)
            case ToolResult(id, is_error=is_error):
                yield Returned(self._names.get(id, "the tool"), artifact.for_model, is_error)
            case Usage(prompt, completion):
                yield Spent(prompt, completion)
            case Image(url):
                yield Said(f"![image]({url})")

    def _take_phase(self, phase: Phase, event_id: str) -> None:
        self.phase = phase
        if phase == "cancelled":
            self._cut()
            self.remark("Cancelled.")
        elif phase == "done":
            self.waiting.pop(event_id, None)
            self.live = Live()
            self._tell_dropped()

    def _tell_dropped(self) -> None:
        number, self._dropped = self._dropped, 0
        if number:
            self.remark(f"{number} waiting message{'s were' if number > 1 else ' was'} dropped.")

    def _cut(self) -> None:
        """The turn under way is over before its end; what came of it stays in sight."""
        if self.live.thought.strip():
            self.entries.append(Thought(self.live.thought))
        if self.live.text.strip():
            self.entries.append(Said(self.live.text, cut=True))
        self.live = Live()

    def _take_properties(self, event: PropertiesEvent) -> None:
        for key, value in event.properties.items():
            if value is None:
                self.properties.pop(key, None)
            else:
                self.properties[key] = value
