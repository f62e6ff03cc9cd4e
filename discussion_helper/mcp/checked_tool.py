"""A tool that is told of with the texts of its parameters, and that takes no others."""

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from discussion_helper.client.errors import NotLetIn, Refused, ServerUnreachable
from discussion_helper.errors import DiscussionError

if TYPE_CHECKING:
    from mcp.server.mcpserver.tools import Tool
    from mcp.types import CallToolResult, ToolAnnotations
    from pydantic import ValidationError

__all__ = ["checked_tool"]

_TOKEN_FIX = (
    "Give `discussion-helper mcp` the server's token in DISCUSSION_HELPER_TOKEN, or the link that the server printed "
    "last with --url LINK."
)
_AWAY_FIX = "Start it with `discussion-helper serve`, or name its address with --url or DISCUSSION_HELPER_URL."
_UNKNOWN_FIX = "Ask `sessions` for those that are open, and `threads` for those that are kept."


def checked_tool(call: Callable[..., Awaitable[dict[str, Any]]], annotations: "ToolAnnotations") -> "Tool":
    """`Annotated[kind, "text"]` of a parameter is what the model is told of it. Errors are told with their fix."""
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.tools import Tool
    from pydantic import ValidationError

    class Checked(Tool):
        async def run(self, arguments: dict[str, Any], *rest: Any, **options: Any) -> Any:
            known = self.parameters["properties"]
            for name in arguments:
                if name not in known:
                    fix = f"Use {', '.join(known)}." if known else "Leave it out."
                    raise ToolError(f"{name[:80]}: there is no such argument. {fix}")
            try:
                return await super().run(arguments, *rest, **options)
            except ToolError as error:
                if isinstance(error.__cause__, ValidationError):
                    raise ToolError(_first_of(error.__cause__)) from error
                raise

    tool = Checked.from_function(_described(call), annotations=annotations)
    tool.parameters["additionalProperties"] = False
    return tool


def _described(tool: Callable[..., Awaitable[dict[str, Any]]]) -> Callable[..., Awaitable[dict[str, Any]]]:
    """The same with the texts of its parameters, and of what goes wrong, where the SDK looks for them."""
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import Field

    async def call(**arguments: Any) -> Any:
        try:
            return _sent(await tool(**arguments))
        except DiscussionError as error:  # of any other the model would be told that it failed, and no more
            raise ToolError(_told(error)) from error

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


def _sent(told: dict[str, Any]) -> "CallToolResult":
    """In both its forms, as `fitting` counts them: the SDK's own text has a line for each value, half as much again."""
    from mcp.types import CallToolResult, TextContent
    from pydantic_core import to_json

    text = to_json(told, fallback=str).decode()
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=told)


def _told(error: DiscussionError) -> str:
    """With what can be done where the tools are, in the place of the server's and the client's fix."""
    if isinstance(error, NotLetIn):
        return f"{error.what} {_TOKEN_FIX}"
    if isinstance(error, ServerUnreachable) and "discussion-helper serve" in error.fix:
        return f"{error.what} {_AWAY_FIX}"
    if isinstance(error, Refused) and error.status == 404:
        return f"{error.what} {_UNKNOWN_FIX}"
    return str(error)


def _first_of(error: "ValidationError") -> str:
    """Of the arguments that are wrong, on one line."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    what = "it is missing" if first["type"] == "missing" else first["msg"]
    return f"{'.'.join(map(str, first['loc']))}: {what}."
