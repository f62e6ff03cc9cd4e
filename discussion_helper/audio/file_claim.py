"""A claim on an open file: one program at a time writes it."""

import errno
import sys

__all__ = ["claim"]

_PLACE = 1 << 31
"""Where Windows locks a byte: behind all that is ever written, for there nobody else may read what is locked."""
_TAKEN = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}


def claim(descriptor: int) -> bool:
    """Claim the file, until the descriptor is closed or the process ends in any way; False when another has it.

    The claim is on the file, whatever name it was opened by, and needs no second one. Where a file system knows no
    locks everybody has it.
    """
    try:
        _lock(descriptor)
    except OSError as error:
        return error.errno not in _TAKEN
    return True


if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        import msvcrt
        import os

        os.lseek(descriptor, _PLACE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:

    def _lock(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
