"""Connections of those who have shown nothing that lets them in: how many there may be, and who goes first."""

import asyncio
from collections.abc import Callable, Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, Protocol

from discussion_helper.errors import SettingError
from discussion_helper.shown import shown
from discussion_helper.web.owners import owner_of

__all__ = ["KNOWN", "Stranger", "Strangers", "among", "checked_network", "tell_known"]

KNOWN = "discussion_helper.known"
"""The ASGI extension by which the door tells the connection that its peer was let in."""


class Stranger(Protocol):
    """A connection. Compared by identity."""

    @property
    def address(self) -> str:
        """Where it comes from; "" where that is not known."""
        ...

    def send_away(self) -> None:
        """Close it at once."""
        ...


class Strangers:
    """With one too many it is the oldest one that goes, not the newest: that may be the owner's, who is about to ask.

    Of too many in all that is the oldest one of the address that has the most of them. For the event loop's thread.
    """

    def __init__(self, *, of_one: int, of_all: int, trusted: Callable[[str], bool] = lambda _: False) -> None:
        """`of_one`: of one address; not of those that are `trusted`, as a proxy, who comes for many."""
        self._of_one = of_one
        self._of_all = of_all
        self._trusted = trusted
        self._of: dict[str, dict[Stranger, None]] = {}
        self._count = 0
        self._is_due = False

    def __len__(self) -> int:
        return self._count

    def add(self, one: Stranger) -> None:
        """It is one of them. Idempotent."""
        same = self._of.setdefault(owner_of(one.address), {})
        self._count += one not in same
        same[one] = None
        if not self._is_due and (self._count > self._of_all or len(same) > self._of_one):
            self._is_due = True
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, self._thin)  # what has come with it is read first: it may be a request

    def discard(self, one: Stranger) -> None:
        """It was let in, or is gone. Idempotent."""
        whose = owner_of(one.address)
        same = self._of.get(whose, {})
        if one in same:
            del same[one]
            self._count -= 1
        if not same:
            self._of.pop(whose, None)

    def _thin(self) -> None:
        self._is_due = False
        for same in tuple(self._of.values()):
            while len(same) > self._of_one and not self._trusted(next(iter(same)).address):
                self._send_away_first(same)
        while self._count > self._of_all:
            self._send_away_first(max(self._of.values(), key=len))

    def _send_away_first(self, same: dict[Stranger, None]) -> None:
        one = next(iter(same))
        self.discard(one)
        one.send_away()


def tell_known(scope: Any) -> None:
    """Whoever asks this was let in."""
    tell = scope.get("extensions", {}).get(KNOWN)
    if tell is not None:
        tell()


def among(networks: Iterable[str]) -> Callable[[str], bool]:
    """Whether an address is one of these proxies, or in one of these networks of them. Raises SettingError."""
    known = [checked_network("proxies", network) for network in networks]

    def is_among(address: str) -> bool:
        try:
            found = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        return any(found in network for network in known)

    return is_among


def checked_network(field: str, text: str) -> IPv4Network | IPv6Network:
    """Of proxies, or the address of one. Raises SettingError, also for the network that everybody is in."""
    try:
        network = ip_network(text)
    except ValueError:
        fix = "Use one such as 127.0.0.1, or a network such as 10.0.0.0/8, without scheme and port; each by itself."
        raise SettingError(f"{field}: {shown(text)} is no address.", fix=fix) from None
    if not network.prefixlen:
        what = (
            f"{field}: everybody is in {text}, and could name any address as their own: no limit by address would hold."
        )
        raise SettingError(what, fix="Use the proxy's own address, or the network that the proxies alone are in.")
    return network
