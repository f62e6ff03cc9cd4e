"""The README's example of a client, as a process of its own at a real server."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
import soundfile

from discussion_helper.testing.remote import fake_remote_talk
from discussion_helper.testing.room.synthesisers import speech_like
from discussion_helper.web import Wish, create_app

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-for-tests"


@pytest.mark.anyio
async def test_it_asks_with_a_recording_and_is_answered(serving: Callable[..., Any], tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    (example,) = (example for example in examples if "AudioClient(" in example)
    question = tmp_path / "question.wav"
    soundfile.write(question, (3.0 * speech_like(0.9, 16_000, seed=1)).clip(-0.5, 0.5), 16_000)

    def opened(wish: Wish) -> Any:
        return fake_remote_talk(["name three rivers"], policy=wish.policy)

    async with serving(create_app(token=TOKEN, open_remote=opened)) as url:
        command = [sys.executable, "-W", "error", "-c", example, f"{url}/?token={TOKEN}", str(question)]
        done = await anyio.run_process(command, check=False, cwd=ROOT)

    assert (0, b"") == (done.returncode, done.stderr)
    said = done.stdout.decode().splitlines()
    assert ["user name three rivers", "agent name three rivers"] == said[:2]
    assert 0.5 < float(said[2].partition(" ")[0]) < 3.0
