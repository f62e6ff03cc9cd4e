"""How many files a process may have open."""

import subprocess
import sys

import pytest

_PROGRAM = """
import resource
from discussion_helper.commands.open_files import allow_open_files
resource.setrlimit(resource.RLIMIT_NOFILE, ({now}, {most}))
allow_open_files(300)
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.parametrize(("now", "most", "then"), [(200, 400, 300), (200, 250, 250), (350, 400, 350)])
def test_as_many_as_are_wanted_and_may_be(now: int, most: int, then: int) -> None:
    program = _PROGRAM.format(now=now, most=most)
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=30)

    assert (f"{then} {most}\n", "") == (done.stdout, done.stderr)
