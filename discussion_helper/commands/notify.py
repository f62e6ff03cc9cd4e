"""What systemd is told of this process, where it was started by it (`Type=notify`)."""

import os
import socket
from contextlib import suppress

__all__ = ["notify"]


def notify(state: str) -> None:
    """`READY=1` or `STOPPING=1` (sd_notify(3)); nothing where nobody listens."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address and hasattr(socket, "AF_UNIX"):
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as telling:
            telling.setblocking(False)
            telling.sendto(state.encode(), f"\0{address[1:]}" if address.startswith("@") else address)
