"""The link that lets somebody in to what `discussion-helper serve` serves."""

import asyncio
import logging
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from discussion_helper.commands.notify import notify

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from discussion_helper.web import Server

__all__ = ["Link", "outer_address", "rotating", "show_audit"]

_HINT = """It opens the page, which this browser may then use; a program sends `Authorization: Bearer TOKEN`.
The link is the key: whoever has it may talk here. Ctrl-C ends."""


class Link:
    """Printed once requests are taken, and again for a new token."""

    def __init__(
        self, listening: socket.socket, names: Sequence[str], *, encrypted: bool, is_behind: bool = False
    ) -> None:
        """`names`: by which the server may be asked, the best one first; without any its addresses are shown.

        `is_behind`: a proxy, which has the TLS, at the usual port of the first name.
        """
        self.lost: OSError | None = None
        """What printing it failed with: then nobody has it, and there is nothing to serve."""
        host, port = listening.getsockname()[:2]
        here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host)
        others = [] if names or here is None else [outer_address(listening.family), socket.gethostname()]
        known = [names[0] if names else here or host, *others]
        scheme = "https" if encrypted else "http"
        addresses = [f"{scheme}://{_in_link(name)}:{port}" for name in known if name]
        self._addresses = [f"https://{_in_link(names[0])}"] if is_behind and names else addresses

    def print(self, server: "Server", token: str, hint: str = _HINT) -> None:
        """Print it; otherwise have the server end as it would for Ctrl-C."""
        try:
            link, *others = [f"{address}/?token={token}" for address in self._addresses]
            print(f"Open {link}", flush=True)
            if others:
                print(f"On another machine open {' or '.join(others)}", flush=True)
            print(hint, flush=True)
            notify("READY=1")
        except OSError as error:
            self.lost = error
            asyncio.get_running_loop().call_soon(setattr, server, "should_exit", True)  # it asks once it is running


def _in_link(name: str) -> str:
    return f"[{name.strip('[]')}]" if ":" in name else name


def outer_address(family: socket.AddressFamily) -> str:
    """The address of this machine on the way to others; "" where there is none. Nothing is sent."""
    elsewhere = "2001:db8::1" if family == socket.AF_INET6 else "192.0.2.1"  # kept for examples: nobody's
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asking:
        asking.connect((elsewhere, 9))
        return str(asking.getsockname()[0])
    return ""


@contextmanager
def rotating(app: "Starlette", server: "Server", link: Link) -> Iterator[None]:
    """SIGUSR1 asks for a new token meanwhile, where there is such a signal. SIGHUP goes on to end the process."""
    number: Any = getattr(signal, "SIGUSR1", None)

    def rotate() -> None:
        token = app.state.door.keys.rotate()
        app.state.audit.note("token_rotated", by="signal")
        link.print(server, token, "The old link and every browser's cookie are worth nothing any more.")

    if number is not None:
        asyncio.get_running_loop().add_signal_handler(number, rotate)
    try:
        yield
    finally:
        if number is not None:
            asyncio.get_running_loop().remove_signal_handler(number)


def show_audit(name: str) -> None:
    """A line on stderr for each entry of that log."""
    log, lines = logging.getLogger(name), logging.StreamHandler()
    lines.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    log.addHandler(lines)
    log.setLevel(logging.INFO)
