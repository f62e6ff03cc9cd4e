"""Text streams: a thread, its queue of events, and the turns that answer them."""

from discussion_helper.subscription import Subscription
from discussion_helper.text.artifacts import (
    Image,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolResult,
    Usage,
)
from discussion_helper.text.errors import (
    EventDroppedError,
    ProcessError,
    QueueFullError,
    SaveError,
    SessionClosedError,
    SessionError,
    SessionNotFoundError,
    StoreBusyError,
    ThreadCorruptError,
    ThreadNotFoundError,
    TurnCancelledError,
    TurnLimitError,
    UnsupportedEventError,
)
from discussion_helper.text.inputs import EventContext, InterruptEvent, UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.outputs import (
    ArtifactEvent,
    ErrorEvent,
    LifecycleEvent,
    PropertiesEvent,
    TurnCompleteEvent,
)
from discussion_helper.text.react import react
from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.state import State, Turn
from discussion_helper.text.step import Step
from discussion_helper.text.stream import Stream
from discussion_helper.text.threads.json_files import JsonThreads
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.text.threads.sqlite import SqliteThreads
from discussion_helper.text.tools import Tool, Tools, tool
from discussion_helper.text.transforms import answered_only, system_prompt

__all__ = [
    "ArtifactEvent",
    "ErrorEvent",
    "EventContext",
    "EventDroppedError",
    "Image",
    "InterruptEvent",
    "JsonThreads",
    "LifecycleEvent",
    "Manager",
    "MemoryThreads",
    "ProcessError",
    "PropertiesEvent",
    "QueueFullError",
    "Reasoning",
    "ReasoningDelta",
    "SaveError",
    "SessionClosedError",
    "SessionError",
    "SessionNotFoundError",
    "SpokenThread",
    "SqliteThreads",
    "State",
    "Step",
    "StoreBusyError",
    "Stream",
    "Subscription",
    "Text",
    "TextDelta",
    "ThreadCorruptError",
    "ThreadNotFoundError",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolResult",
    "Tools",
    "Turn",
    "TurnCancelledError",
    "TurnCompleteEvent",
    "TurnLimitError",
    "UnsupportedEventError",
    "Usage",
    "UserMessageEvent",
    "answered_only",
    "react",
    "system_prompt",
    "tool",
]
