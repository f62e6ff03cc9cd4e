"""`discussion-helper serve`: sessions over HTTP, for this machine's user."""

import argparse
import os
import secrets
import socket
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from discussion_helper.commands.notify import notify
from discussion_helper.commands.open_files import allow_open_files
from discussion_helper.commands.option import chosen_parts, with_file
from discussion_helper.commands.screen import complain
from discussion_helper.commands.serve_door import Entrance, add_door, checked_entrance
from discussion_helper.commands.serve_limits import add_limits, limits_of
from discussion_helper.commands.serve_link import Link, rotating, show_audit
from discussion_helper.commands.talk_options import add_parts, add_turn_policy
from discussion_helper.errors import SettingError
from discussion_helper.settings import Settings

if TYPE_CHECKING:
    from discussion_helper.web import Limits

__all__ = ["PORT", "TOKEN_VARIABLE", "add_parser", "run", "settings_of"]

PORT = 7654
TOKEN_VARIABLE = "DISCUSSION_HELPER_TOKEN"
_SHORT = (
    "{variable}: {count} characters can be guessed. Leave it out, or make one that nobody guesses: "
    'python3 -c "import secrets; print(secrets.token_urlsafe(32))"'
)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    about = "hold sessions over HTTP, for this machine's user"
    text = f"The link that is printed holds the token, which is new each time, or that of {TOKEN_VARIABLE}."
    parser = subparsers.add_parser("serve", help=about, description=f"{about.capitalize()}.", epilog=text)
    parser.add_argument("--port", type=int, default=PORT, metavar="N", help="0 = any free one (default: %(default)s)")
    text = (
        "SQLite file that keeps the threads: of text sessions, and with --keep of those by voice "
        "(default: those of `chat`; :memory: = none is kept)"
    )
    parser.add_argument("--store", type=Path, metavar="FILE", help=text)
    text = "keep what is said by voice too, as threads in --store, unless a session asks for nothing to be kept"
    parser.add_argument("--keep", action="store_true", help=text)
    add_door(parser)
    add_limits(parser)
    add_parts(parser)
    add_turn_policy(parser.add_argument_group("sessions by voice that bring no turn_policy of their own"))
    parser.add_argument("--device", metavar="NAME", help="part of the name of microphone and loudspeaker")
    parser.set_defaults(run=run, microphone=None, loudspeaker=None)


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM."""
    from discussion_helper.commands.store_file import checked_file
    from discussion_helper.web import bound_socket
    from discussion_helper.web.audit import NAME
    from discussion_helper.web.keys import LONG_ENOUGH, checked_token

    arguments = with_file(arguments)
    entrance, limits = checked_entrance(arguments), limits_of(arguments)
    settings = settings_of(arguments)
    _check(settings)
    _warn(settings, arguments)
    checked_file("--store", arguments.store)
    token = checked_token(os.environ.get(TOKEN_VARIABLE, secrets.token_urlsafe(32)))
    assert token is not None
    if len(token) < LONG_ENOUGH:
        complain(_SHORT.format(variable=TOKEN_VARIABLE, count=len(token)))
    with bound_socket(arguments.host, arguments.port) as listening:
        show_audit(NAME)
        allow_open_files()
        anyio.run(_serve, arguments, settings, token, entrance, limits, listening)
    return 0


def settings_of(arguments: argparse.Namespace) -> Settings:
    """The settings of its sessions. Their policy is that of those by voice, as far as they bring none of their own.

    Raises SettingError.
    """
    parts = chosen_parts(arguments)
    return replace(
        parts,
        system=arguments.system,
        tools=arguments.tools,
        filler=arguments.filler,
        policy=replace(parts.policy, turn_policy=arguments.turn_policy, wake_word=arguments.wake_word),
    )


def _check(settings: Settings) -> None:
    """What cannot become right while it is served. Models that are missing can. Raises SettingError, ModelError."""
    from discussion_helper.choices import check_tools, llm_of, recogniser_of, voice_of, wake_word_of
    from discussion_helper.listening import check_wake_of
    from discussion_helper.stt.hints import Hints
    from discussion_helper.text_app import check_system

    check_system(settings.system)
    check_tools(settings)
    Hints(settings.hints)
    recogniser_of(replace(settings, language="en"))  # that there is one of that name; every one knows English
    for choose in (voice_of, llm_of, wake_word_of):
        choose(settings)
    check_wake_of(settings.policy)


def _warn(settings: Settings, arguments: argparse.Namespace) -> None:
    """A language that the recogniser does not know is in nobody's way who writes, or asks for another one."""
    from discussion_helper.choices import recogniser_of
    from discussion_helper.command_line import with_option

    try:
        recogniser_of(settings)
    except SettingError as error:
        complain(f"No session by voice: {with_option(str(error), arguments)}")


async def _serve(
    arguments: argparse.Namespace,
    settings: Settings,
    token: str,
    entrance: Entrance,
    limits: "Limits",
    listening: socket.socket,
) -> None:
    """Down in reverse: the web, then the sessions, then the store."""
    from functools import partial

    from discussion_helper.commands.serve_parts import ServeParts
    from discussion_helper.doctor import examine
    from discussion_helper.registry import Sessions
    from discussion_helper.session import Session
    from discussion_helper.text import Manager, SqliteThreads
    from discussion_helper.text.providers.deferred import DeferredProvider
    from discussion_helper.text_app import data_folder, step_for
    from discussion_helper.tools.loading import load_tools
    from discussion_helper.web import Server, create_app

    parts = ServeParts(settings)
    provider = DeferredProvider(parts.provider)
    tools = load_tools(settings.tools)
    path = arguments.store or await anyio.to_thread.run_sync(data_folder) / "threads.sqlite"
    async with AsyncExitStack() as stack:
        stack.push_async_callback(provider.aclose)
        store = await stack.enter_async_context(SqliteThreads(path))
        sessions = await stack.enter_async_context(Sessions[Session]())
        step = partial(step_for, system="", tools=tools, usual=settings.system)
        manager = Manager(store, provider, step, sessions=sessions)
        await stack.enter_async_context(manager)

        async def end() -> None:
            notify("STOPPING=1")
            await manager.aclose()
            await sessions.aclose()

        app = create_app(
            manager=manager,
            token=token,
            password=entrance.password,
            open_voice=parts.open_voice,
            open_remote=parts.open_remote,
            open_responder=parts.open_responder,
            examine=partial(examine, settings),
            policy=settings.policy,
            keep=arguments.keep,
            allowed_hosts=entrance.hosts,
            limits=limits,
        )
        encrypted, is_behind = entrance.tls is not None, bool(entrance.proxies)
        link = Link(listening, arguments.allow_host, encrypted=encrypted, is_behind=is_behind)
        server = Server(
            app,
            started=lambda: link.print(server, token),
            ending=end,
            hurried=_leave_at_once,
            tls=entrance.tls,
            proxies=entrance.proxies,
        )
        with rotating(app, server, link):
            await server.serve(sockets=[listening])
    if link.lost is not None:
        raise link.lost


def _leave_at_once(number: int) -> None:
    """The second signal: what is stored is stored, and the system takes the devices back."""
    os._exit(128 + number)
