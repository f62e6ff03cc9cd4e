"""How a request names this server, and the page that it comes from."""

import ipaddress
import re
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from discussion_helper.errors import SettingError
from discussion_helper.shown import shown

__all__ = [
    "address_of",
    "checked_host",
    "client_of",
    "is_host_known",
    "is_loopback",
    "is_own_origin",
    "own_address_of",
    "port_of",
]

_LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
"""With such a last part browsers take a name for an IPv4 address."""
_LONGEST_NAME = 253
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")


def checked_host(field: str, name: str) -> str:
    """A name as browsers ask by it, without a port: an IPv6 address in brackets, written out as short as can be.

    Raises SettingError for one by which none asks.
    """
    written = _written(name) if isinstance(name, str) else None
    if written is None:
        raise SettingError(f"{field}: {shown(name)} is no name of a host.", fix=_name_fix(name))
    return written


def _written(name: str) -> str | None:
    """The same of all ways to write an address, or a name but for its case; None for what is neither."""
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    if ":" in bare or bare != name:
        address = _plain_or_none(bare)
        return f"[{address}]" if isinstance(address, ipaddress.IPv6Address) and not address.scope_id else None
    labels = name.removesuffix(".").split(".")
    if _NUMBER.fullmatch(labels[-1]):
        address = _plain_or_none(name)
        return None if address is None else str(address)
    is_name = len(name) <= _LONGEST_NAME and all(map(_LABEL.fullmatch, labels)) and name.strip("._-")
    return ".".join(labels) if is_name else None


def _name_fix(name: object) -> str:
    """With what was meant, where that can be seen."""
    inside = re.sub(r"^[a-z]+://|[/?#].*$|:[0-9]*([/?#].*)?$", "", str(name).strip())
    inside = re.sub(r"^(\[?[0-9A-Fa-f:]+)%[^]]*(\]?)$", r"\1\2", inside)  # of which interface: browsers do not say
    meant = inside if _written(inside) and inside != name else "talk.example.org"
    return f"Use the name alone, such as {meant}, without scheme, port and path; each one by itself."


def is_loopback(host: str) -> bool:
    """Whether this name or address is this machine and nothing else."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_host_known(headers: Headers, names: Collection[str], own: str = "") -> bool:
    """Whether there is one Host header, with a name of the loopback interface or one of `names` (in lower case).

    So is the address of this machine that the connection came to, `own`, written out: no name was led there. Of a
    target in absolute form only the path is looked at, and nothing at X-Forwarded-Host: an attacker's page whose name
    leads to 127.0.0.1 sends its own name here.
    """
    hosts = headers.getlist("host")
    match = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
    name = None if match is None else _written(match[1])
    return name is not None and (is_loopback(name) or name.lower() in names or _is_address(name, own))


def own_address_of(asked: HTTPConnection) -> str:
    """The address of this machine that the connection came to; "" where a server does not tell."""
    server = asked.scope.get("server")
    return server[0] if server else ""


def _is_address(name: str, own: str) -> bool:
    try:
        address = _plain(own)
        return not address.is_unspecified and _plain(name.strip("[]")) == address
    except ValueError:
        return False


def _plain_or_none(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _plain(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Without the interface that it is of, and an IPv4 one as such."""
    address = ipaddress.ip_address(text.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def is_own_origin(asked: HTTPConnection) -> bool:
    """Browsers name the page's origin in whatever changes something, and in WebSockets; programs name none.

    Of what only reads (a script, an image, an event source) they tell where it comes from: a page on another port of
    this machine has its cookies too. A link on any page may lead here. For a request whose host is known.
    """
    origins = asked.headers.getlist("origin")
    host = asked.headers["host"].lower()
    if origins and [origin.lower() for origin in origins] not in ([f"http://{host}"], [f"https://{host}"]):
        return False
    if asked.headers.get("sec-fetch-site") not in ("cross-site", "same-site"):
        return True
    follows = asked.headers.get("sec-fetch-mode", "navigate") == "navigate"
    return follows and asked.scope.get("method") in ("GET", "HEAD")


def port_of(headers: Headers) -> str:
    """The port that the Host header names; "" for the usual one."""
    match = _HOST.fullmatch(headers.get("host", ""))
    return (match[2] or "") if match else ""


def address_of(asked: HTTPConnection) -> str:
    """Where the connection comes from, whatever headers say of it; "" where a server does not tell."""
    return asked.client.host if asked.client else ""


def client_of(asked: HTTPConnection) -> str:
    """Address and program of a client, as it names itself."""
    return f"{address_of(asked)} {asked.headers.get('user-agent', '')}".strip()
