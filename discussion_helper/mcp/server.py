"""The server of the Model Context Protocol, on its official SDK."""

import inspect
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from discussion_helper.client.client import Client
from discussion_helper.errors import DiscussionError, SettingError
from discussion_helper.mcp.session_tools import SessionTools

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

__all__ = ["INSTRUCTIONS", "mcp_server"]

INSTRUCTIONS = """Conversations that people hold with an agent, by voice or in writing, at a discussion-helper server.
`start` opens one, `say` is a turn, `follow` tells what happens, again and again with the cursor it gave, and `stop`
ends it. What the agent's utterance has as `text` is what was heard of it; `said` is what it was to say."""


def mcp_server(client: Client) -> "MCPServer[Any]":
    """Not running yet: `await mcp_server(client).run_stdio_async()`. Raises SettingError where the SDK is missing."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError as error:
        what = "mcp: the SDK of the Model Context Protocol is not installed."
        raise SettingError(what, fix="Install the extra, as with: pip install -e '.[mcp]'") from error
    tools = SessionTools(client)
    server: MCPServer[Any] = MCPServer(
        "discussion-helper", instructions=INSTRUCTIONS, version=version("discussion_helper"), log_level="WARNING"
    )
    for tool in (tools.start, tools.say, tools.state, tools.follow, tools.interrupt, tools.stop):
        reads = tool.__name__ in ("state", "follow")
        hints = ToolAnnotations(read_only_hint=reads, destructive_hint=tool.__name__ == "stop", open_world_hint=False)
        server.add_tool(_described(tool), annotations=hints)
    return server


def _described(tool: Callable[..., Awaitable[dict[str, Any]]]) -> Callable[..., Awaitable[dict[str, Any]]]:
    """The same with the texts of its parameters, and of what goes wrong, where the SDK looks for them."""
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import Field

    async def call(**arguments: Any) -> dict[str, Any]:
        try:
            return await tool(**arguments)
        except DiscussionError as error:  # of any other the model would be told that it failed, and no more
            raise ToolError(str(error)) from error

    def with_field(annotation: Any) -> Any:
        if get_origin(annotation) is not Annotated:
            return annotation
        kind, text = get_args(annotation)
        return Annotated[kind, Field(description=text)]

    signature = inspect.signature(tool)
    parameters = [one.replace(annotation=with_field(one.annotation)) for one in signature.parameters.values()]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": signature.return_annotation}
    call.__name__, call.__doc__ = tool.__name__, inspect.getdoc(tool)
    return call
