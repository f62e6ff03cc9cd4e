"""A screen that can be read, the server of the responder's tests, and a talk as the recorder's tests record it."""

import importlib.util
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from discussion_helper.audio.files import load
from discussion_helper.testing.sample_room import RATE, ZERO_S, SampleRoom

SPEECH = Path(__file__).parents[2] / "audio" / "speech"


class _Screen(DummyOutput):
    """Has a size, and tells when something was drawn."""

    def __init__(self, width: int, height: int) -> None:
        self.size = Size(rows=height, columns=width)
        self.drawn = 0
        self.changed = anyio.Event()
        self.alternate = False
        self.stopped: list[bool] = []
        self.bells = 0

    def get_size(self) -> Size:
        return self.size

    def flush(self) -> None:
        self.drawn += 1
        changed, self.changed = self.changed, anyio.Event()
        changed.set()

    def enter_alternate_screen(self) -> None:
        self.alternate = True

    def quit_alternate_screen(self) -> None:
        self.alternate = False

    def stop_job(self) -> None:
        self.stopped.append(self.alternate)

    def bell(self) -> None:
        self.bells += 1


class _View:
    """A face that runs, and what is around it; the tests of each add what is its own."""

    def __init__(self, size: tuple[int, int], keyboard: PipeInput) -> None:
        self.codes: list[int] = []
        self.ended = anyio.Event()
        self.screen = _Screen(*size)
        self.keyboard = keyboard
        self.face: Any = None

    def lend(self) -> AbstractContextManager[_Screen]:
        return nullcontext(self.screen)

    def end(self, code: int) -> None:
        self.codes.append(code)
        self.ended.set()

    def type(self, keys: str) -> None:
        self.keyboard.send_text(keys)

    async def leave(self, keys: str) -> None:
        """Type that and Ctrl-C, which ends it soon."""
        with anyio.fail_after(2.0):
            await anyio.to_thread.run_sync(self.type, f"{keys}\x03")
            await self.ended.wait()

    @property
    def rows(self) -> list[str]:
        """What is on the screen."""
        application = self.face.application
        drawn = application and application.renderer.last_rendered_screen
        if not drawn:
            return []
        size = self.screen.size
        rows = [drawn.data_buffer[y] for y in range(size.rows)]
        return ["".join(row[x].char for x in range(size.columns)).rstrip() for row in rows]

    async def until(self, seen: Callable[[list[str]], bool]) -> list[str]:
        """Wait until the screen looks like that."""
        while not seen(self.rows):
            await self.screen.changed.wait()
        return self.rows


@pytest.fixture
def view_of() -> Any:
    """`view_of((80, 24), keyboard)` has everything but its `face`."""
    return _View


@asynccontextmanager
async def _seen(make: Callable[[_View], Any], size: tuple[int, int]) -> AsyncIterator[_View]:
    with create_pipe_input() as keyboard:
        view = _View(size, keyboard)
        view.face = make(view)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(view.face.run)
            await view.until(bool)
            yield view
            tasks.cancel_scope.cancel()
        assert not view.screen.alternate


@pytest.fixture
def seen() -> Any:
    """`async with seen(make, (80, 24)) as view`: what `make(view)` gives has the screen."""
    return _seen


def _of(folder: str) -> Any:
    """What another folder's tests stand on."""
    spec = importlib.util.spec_from_file_location(
        f"{folder}_for_commands", Path(__file__).parents[1] / folder / "conftest.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def fake_endpoint() -> Any:
    """`async with fake_endpoint() as endpoint`."""
    return _of("responder").FakeEndpoint


@pytest.fixture(scope="session")
def short_talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a recorded talk: one turn of one person, 4 s. Not to be changed."""
    folder = tmp_path_factory.mktemp("replay") / "talk"
    talk = _of("recorder").RecordedTalk(folder)
    said = np.zeros(4 * RATE, np.float32)
    clip = load(SPEECH / "asterisk_en_agent-incorrect.wav", RATE).samples[: 2 * RATE]
    said[RATE // 2 : RATE // 2 + len(clip)] = clip
    talk.open(ZERO_S)
    talk.hear(SampleRoom().items(np.zeros_like(said), said))
    talk.close()
    return folder
