"""`discussion-helper mcp`: sessions of a running server for another program's model."""

import argparse
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discussion_helper.client import Client

__all__ = ["TOKEN_VARIABLE", "URL_VARIABLE", "USUAL_URL", "add_parser", "client_of", "run"]

URL_VARIABLE = "DISCUSSION_HELPER_URL"
TOKEN_VARIABLE = "DISCUSSION_HELPER_TOKEN"
USUAL_URL = "http://127.0.0.1:7654"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command. Ctrl-C ends it at once: it holds nothing that has to be closed."""
    about = "let another program's model hold sessions of a server that runs, over the Model Context Protocol"
    text = f"The token is that of the link, or {TOKEN_VARIABLE}: what is in the environment no other user can see."
    parser = subparsers.add_parser("mcp", help=about, description=f"{about.capitalize()}.", epilog=text)
    text = f"the server's address, or the link that it printed (default: {URL_VARIABLE}, else {USUAL_URL})"
    parser.add_argument("--url", metavar="URL", help=text)
    text = "let the token go to another machine without encryption"
    parser.add_argument("--insecure", action="store_true", help=text)
    parser.set_defaults(run=run, takes_signals=True)


def run(arguments: argparse.Namespace) -> int:
    """Serve whoever has its stdin and stdout, until stdin ends. Raises SettingError, and OSError for a lost stdout."""
    import anyio

    from discussion_helper.failures import failures_in

    try:
        anyio.run(_serve, client_of(arguments))
    except BaseExceptionGroup as failed:
        raise failures_in(failed)[0] from None
    return 0


def client_of(arguments: argparse.Namespace) -> "Client":
    """Of the options and the environment. Raises SettingError."""
    from discussion_helper.client import Client

    url = arguments.url or os.environ.get(URL_VARIABLE) or USUAL_URL
    token = None if "token=" in url else os.environ.get(TOKEN_VARIABLE)
    return Client(url, token=token, insecure=arguments.insecure)


async def _serve(client: "Client") -> None:
    from discussion_helper.mcp.server import mcp_server

    async with client:
        await mcp_server(client).run_stdio_async()
