"""Why a server cannot be reached: what lies behind the HTTP client's error."""

import socket
import ssl
from collections.abc import Iterator

__all__ = ["is_undecodable", "was_closed", "why"]

_SCHEME = "Check the URL: https:// is for a server with TLS, http:// for one without."
_CLOSED = {"RemoteProtocolError", "ReadError", "WriteError"}


def why(error: BaseException) -> tuple[str, str]:
    """What came in the way, to stand after the host, and the fix ("" = start the server).

    The client's own classes are known by name: which package they are from depends on its version.
    """
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            fix = "Use the host name the certificate is for, and one that an authority known here has signed."
            return f"has a certificate that is not trusted ({cause.verify_message.rstrip('.')})", fix
        if isinstance(cause, ssl.SSLError):
            return "cannot be reached over TLS", _SCHEME
        if isinstance(cause, socket.gaierror):
            return "cannot be reached: its name is not known", "Check the name in the URL, and the network."
        if isinstance(cause, ConnectionRefusedError):
            return "cannot be reached: nothing listens there", ""
    names = {type(cause).__name__ for cause in causes}
    if names & _CLOSED:
        return "closed the connection without an answer over HTTP", _SCHEME
    if names & {"ProxyError"}:
        return "cannot be reached through the proxy", "Check the environment variables HTTPS_PROXY and ALL_PROXY."
    return "cannot be reached", ""


def was_closed(error: BaseException) -> bool:
    """The server closed the connection instead of answering, as one does that was kept open for long enough."""
    return any(type(cause).__name__ in _CLOSED for cause in _causes(error))


def is_undecodable(error: BaseException) -> bool:
    """There was an answer, and its body is not compressed the way its head says."""
    return any(type(cause).__name__ == "DecodingError" for cause in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and what it was raised from, depth first."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        inner = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        waiting += [one.__context__, one.__cause__, *inner]
