"""Who may come in to what `discussion-helper serve` serves: its options, and what they need of each other."""

import argparse
import os
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discussion_helper.commands.screen import complain
from discussion_helper.errors import SettingError
from discussion_helper.regular_file import regular_bytes

if TYPE_CHECKING:
    from discussion_helper.web.passwords import Password

__all__ = ["PASSWORD_VARIABLE", "Entrance", "add_door", "checked_entrance"]

PASSWORD_VARIABLE = "DISCUSSION_HELPER_PASSWORD"
_LARGEST = 4096
"""Bytes of a file with a password."""
_INSECURE = (
    "Insecure: {host} can be reached from other machines without {lacks}: whoever is on the way there can listen, "
    "and come in with what lets you in."
)


@dataclass(frozen=True, slots=True)
class Entrance:
    """What was checked."""

    tls: ssl.SSLContext | None
    password: "Password | None"
    hosts: tuple[str, ...]
    """Names of this server beside those of the loopback interface."""
    proxies: tuple[str, ...] = ()
    """Addresses of proxies, which tell who asks."""


def add_door(parser: argparse.ArgumentParser) -> None:
    """The options."""
    door = parser.add_argument_group("who may come in")
    door.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="interface (default: %(default)s)")
    text = "a name, beside localhost, by which browsers reach this server"
    door.add_argument("--allow-host", action="append", default=[], metavar="NAME", help=text)
    door.add_argument("--tls-cert", type=Path, metavar="FILE", help="certificate (PEM): https in the place of http")
    door.add_argument("--tls-key", type=Path, metavar="FILE", help="its key (PEM, not encrypted)")
    text = f"its first line lets browsers in at /login; so does {PASSWORD_VARIABLE}"
    door.add_argument("--password-file", type=Path, metavar="FILE", help=text)
    text = "address of a reverse proxy, or its network: what it says in X-Forwarded-For and -Proto counts"
    door.add_argument("--trust-proxy", action="append", default=[], metavar="ADDRESS", help=text)
    text = "let other machines in without a password, or without encryption"
    door.add_argument("--insecure", action="store_true", help=text)


def checked_entrance(arguments: argparse.Namespace) -> Entrance:
    """Other machines come in with TLS and a password alone, unless --insecure says otherwise. Raises SettingError."""
    from discussion_helper.web.origins import checked_host, is_loopback

    names = [checked_host("allow_host", name) for name in arguments.allow_host]
    proxies = _proxies(arguments.trust_proxy)
    tls, password = _tls(arguments), _password(arguments)
    lacks = " and ".join(["TLS"] * (tls is None) + ["password"] * (password is None))
    if lacks and not is_loopback(arguments.host):
        if not arguments.insecure:
            what = f"host: {arguments.host} can be reached from other machines, without {lacks}."
            fix = f"Leave --host out, give --tls-cert, --tls-key and {PASSWORD_VARIABLE}, or say --insecure."
            raise SettingError(what, fix=fix)
        complain(_INSECURE.format(host=arguments.host, lacks=lacks))
    return Entrance(tls, password, (*names, *_own_name(arguments.host)), proxies)


def _proxies(addresses: Sequence[str]) -> tuple[str, ...]:
    from discussion_helper.web.strangers import checked_network

    for address in addresses:
        checked_network("trust_proxy", address)
    return tuple(addresses)


def _own_name(host: str) -> list[str]:
    """An address that was named is one that a browser asks by; of all of them each is known where it was asked."""
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname()
    from discussion_helper.web.origins import checked_host

    with suppress(SettingError):  # it may be called as no browser could ask for it
        return [checked_host("host", host.partition("%")[0])]
    return []


def _tls(arguments: argparse.Namespace) -> ssl.SSLContext | None:
    from discussion_helper.web.tls import tls_context

    if arguments.tls_cert is None and arguments.tls_key is None:
        return None
    if arguments.tls_cert is None or arguments.tls_key is None:
        missing = "tls_cert" if arguments.tls_cert is None else "tls_key"
        raise SettingError(f"{missing}: it is missing.", fix="Give --tls-cert FILE and --tls-key FILE.")
    return tls_context(arguments.tls_cert, arguments.tls_key)


def _password(arguments: argparse.Namespace) -> "Password | None":
    from discussion_helper.web.passwords import Password

    if arguments.password_file is None:
        text = os.environ.get(PASSWORD_VARIABLE)
        return None if text is None else Password(text)
    try:
        lines = regular_bytes(arguments.password_file, _LARGEST).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        what = f"--password-file: {arguments.password_file} cannot be read ({getattr(error, 'strerror', 'no UTF-8')})."
        raise SettingError(what, fix="Name a text file whose first line is the password.") from error
    return Password(lines[0] if lines else "")
