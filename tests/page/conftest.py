"""The machine's own Chromium, real servers, and pages in it that may say nothing on the console and ask nobody else."""

import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from typing import Any

import anyio
import pytest
from playwright.async_api import ConsoleMessage, Page, async_playwright, expect
from starlette.applications import Starlette

from discussion_helper.web import Server, bound_socket

TOKEN = "a-token-for-the-page"
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_HEARING = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
_STARTS_S = 30
expect.set_options(timeout=15_000)  # a busy machine is slow


@dataclass
class Served:
    """A server that runs, on this port."""

    app: Starlette
    port: int
    server: Server

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@dataclass
class Watch:
    """What pages said that they should not have."""

    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()
    """Texts in errors that a test provokes."""

    def follow(self, page: Page, origin: str) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda asked: self._asked(asked.url, origin))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.text} {message.location['url']}")

    def _asked(self, url: str, origin: str) -> None:
        if not url.startswith((origin, f"blob:{origin}", "data:")):
            self.foreign.append(url)


class Chromium:
    """One process, which waits for whoever connects."""

    def __init__(self, folder: Path, *flags: str) -> None:
        program = shutil.which("chromium")
        assert program is not None, "chromium is missing: run `make system-tests`"
        self._process = subprocess.Popen(
            [program, *_FLAGS, *flags, f"--user-data-dir={folder}", "--remote-debugging-port=0", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.address = self._told()

    def _told(self) -> str:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if line.startswith("DevTools listening on "):
                return line.removeprefix("DevTools listening on ").strip()
        raise AssertionError("chromium ended at once")

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=_STARTS_S)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """Shared by all tests; each has a context of its own."""
    browser = Chromium(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@asynccontextmanager
async def serving(app: Starlette, port: int = 0) -> AsyncIterator[Served]:
    """A real server in this event loop; it has ended at the end."""
    started, ended = anyio.Event(), anyio.Event()
    server = Server(app, started=started.set)

    async def serve(listening: socket) -> None:
        await server.serve([listening])
        ended.set()

    with bound_socket("127.0.0.1", port) as listening:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve, listening)
            await started.wait()
            try:
                yield Served(app, listening.getsockname()[1], server)
            finally:  # also behind a test that failed: what it leaves open would be the fault of the next one
                server.should_exit = True
                await ended.wait()


@asynccontextmanager
async def browsing(chromium: Chromium, served: Served, **options: Any) -> AsyncIterator[tuple[Any, Watch]]:
    """`await open(id)` gives a page on that session; at the end none of them has said or asked what it should not."""
    watch = Watch()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(chromium.address)
        context = await browser.new_context(**options)
        context.set_default_timeout(_STARTS_S * 1000)
        login = await context.new_page()
        watch.follow(login, served.url)
        await login.goto(f"{served.url}/?token={TOKEN}")
        pages = [login]

        async def open_page(session_id: str = "") -> Page:
            page = pages.pop() if pages else await context.new_page()
            if page is not login:
                watch.follow(page, served.url)
                await page.goto(served.url)
            if session_id:
                await page.evaluate("id => { location.hash = id }", session_id)
                await page.wait_for_selector("#connection[data-state=live], #connection[data-state=over]")
            return page

        yield open_page, watch
        await context.close()
    assert [] == [error for error in watch.errors if not any(text in error for text in watch.expected)]
    assert [] == watch.foreign


@pytest.fixture
def talker(tmp_path: Path) -> Iterator[Callable[[Path], Any]]:
    """`talker(file)(served, **options)` is `browsing` in a Chromium of its own, which hears this file."""
    running: list[Chromium] = []

    def make(file: Path) -> Any:
        hears = f"--use-file-for-fake-audio-capture={file}"
        running.append(Chromium(tmp_path / "chromium", *_HEARING, hears))
        return lambda served, **options: browsing(running[-1], served, **options)

    yield make
    for browser in running:
        browser.close()


@pytest.fixture(name="serving")
def _serving() -> Any:
    """`async with serving(app) as served`."""
    return serving


@pytest.fixture(name="browsing")
def _browsing(chromium: Chromium) -> Any:
    """`async with browsing(served) as (open_page, watch)`."""
    return lambda served, **options: browsing(chromium, served, **options)
