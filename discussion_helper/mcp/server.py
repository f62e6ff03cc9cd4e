"""The server of the Model Context Protocol, on its official SDK."""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from discussion_helper.client.client import Client
from discussion_helper.errors import SettingError
from discussion_helper.mcp.checked_tool import checked_tool
from discussion_helper.mcp.session_tools import SessionTools

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

__all__ = ["INSTRUCTIONS", "mcp_server"]

INSTRUCTIONS = """Conversations that people hold with an agent, by voice or in writing, at a discussion-helper server.
`start` opens one, `say` is a turn of the person's, typed, and `speak` has the agent say something aloud, such as a
question; `follow` tells what happens, again and again with the cursor it gave, and `stop` ends it. `sessions` are the
open ones, `threads` those that are kept. What the agent's utterance has as `text` is what was heard of it; `said` is
what it was to say."""

_READING = ("sessions", "threads", "state", "follow")


def mcp_server(client: Client) -> "MCPServer[Any]":
    """Not running yet: `await mcp_server(client).run_stdio_async()`. Raises SettingError where the SDK is missing."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError as error:
        what = "mcp: the SDK of the Model Context Protocol is not installed."
        raise SettingError(what, fix="Install the extra, as with: pip install -e '.[mcp]'") from error
    tools = SessionTools(client)
    checked = []
    for tool in tools.all:
        reads, ends = tool.__name__ in _READING, tool.__name__ == "stop"
        hints = ToolAnnotations(read_only_hint=reads, destructive_hint=ends, open_world_hint=False)
        checked.append(checked_tool(tool, hints))
    return MCPServer(
        "discussion-helper",
        instructions=INSTRUCTIONS,
        version=version("discussion_helper"),
        log_level="WARNING",
        tools=checked,
    )
