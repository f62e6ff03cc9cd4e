"""A hub on 127.0.0.1, wheels built on the spot, and models of a few bytes."""

import hashlib
import re
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from discussion_helper.models import HubSource, IndexSource, Model, ModelFile, Package, Store
from discussion_helper.models.hub import Hub

REPO = "someone/something"
REVISION = "0123456789" * 4


class Request(BaseHTTPRequestHandler):
    """One request; the hub's `answer` decides what becomes of it."""

    hub: "HubServer"

    def do_GET(self) -> None:
        self.hub.requests.append((self.path, self.headers.get("Range", "")))
        body = self.hub.files.get(self.path)
        if body is None:
            self.send_error(404)
        else:
            self.hub.answer(self, body)

    def begin(self, status: int, headers: Mapping[str, object]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def ranges(request: Request, body: bytes) -> None:
    """What a good hub does: the range that was asked for, or everything."""
    asked = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
    if not asked:
        whole(request, body)
    elif (offset := int(asked[1])) >= len(body):
        request.begin(416, {"Content-Range": f"bytes */{len(body)}"})
    else:
        content_range = f"bytes {offset}-{len(body) - 1}/{len(body)}"
        request.begin(206, {"Content-Length": len(body) - offset, "Content-Range": content_range})
        request.wfile.write(body[offset:])


def whole(request: Request, body: bytes) -> None:
    """What a hub without ranges does."""
    request.begin(200, {"Content-Length": len(body)})
    request.wfile.write(body)


class HubServer(ThreadingHTTPServer):
    """Serves `files` in the way of `answer`, and remembers `requests` as (path, Range header)."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), type("BoundRequest", (Request,), {"hub": self}))
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.answer: Callable[[Request, bytes], None] = ranges
        self.released = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))

    def have(self, model: Model, bodies: Mapping[str, bytes]) -> None:
        """Serve `bodies` as the files of `model`."""
        source = model.sources[0]
        assert isinstance(source, HubSource)
        self.files |= {source.route(file): bodies[file.path] for file in model.files}

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def ranges(self, request: Request, body: bytes) -> None:
        ranges(request, body)

    def whole(self, request: Request, body: bytes) -> None:
        whole(request, body)

    def half(self, request: Request, body: bytes) -> None:
        """Promise what is left of the body, send half of that, and break off."""
        asked = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
        offset = int(asked[1]) if asked else 0
        content_range = f"bytes {offset}-{len(body) - 1}/{len(body)}"
        request.begin(206 if asked else 200, {"Content-Length": len(body) - offset, "Content-Range": content_range})
        request.wfile.write(body[offset : offset + (len(body) - offset) // 2])

    def stall(self, request: Request, body: bytes) -> None:
        """Send half, then nothing until the test is over."""
        self.half(request, body)
        request.wfile.flush()
        self.released.wait()

    def handle_error(self, *_: object) -> None:
        pass  # a client that goes away is part of the tests

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.released.set()
        self.shutdown()
        self._thread.join()
        self.server_close()


@pytest.fixture
def hub_server() -> Iterator[HubServer]:
    server = HubServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def hub(hub_server: HubServer) -> Iterator[Hub]:
    with Hub(hub_server.base) as hub:
        yield hub


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def hub_servers() -> Iterator[Callable[[int], HubServer]]:
    """Starts further hubs, at a port of choice."""
    servers: list[HubServer] = []

    def start(port: int) -> HubServer:
        servers.append(HubServer(port))
        servers[-1].start()
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def model_of() -> Callable[..., Model]:
    """Makes a model of the given files, from a hub and, where packages are given, the index."""

    def make(files: Mapping[str, bytes], *packages: Package, hub: bool = True, name: str = "tiny") -> Model:
        entries = tuple(ModelFile(path, len(body), hashlib.sha256(body).hexdigest()) for path, body in files.items())
        sources = ((HubSource(REPO, REVISION),) if hub else ()) + ((IndexSource(packages),) if packages else ())
        return Model(name, "stt", True, "MIT", "https://example.org", entries, sources)

    return make


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Package]:
    """Builds wheels of version 1.0 that pip finds, and nothing else; gives the manifest's entry for each."""
    place = tmp_path / "wheels"
    place.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null" if Path("/dev/null").exists() else "nul")

    def build(name: str, content: Mapping[str, bytes], members: Mapping[str, tuple[str, ...]]) -> Package:
        module = name.replace("-", "_")
        wheel, info = place / f"{module}-1.0-py3-none-any.whl", f"{module}-1.0.dist-info"
        with zipfile.ZipFile(wheel, "w") as archive:
            for path, body in content.items():
                archive.writestr(path, body)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        return Package(f"{name}==1.0", wheel.stat().st_size, members)

    return build


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISCUSSION_HELPER_MODELS", "DISCUSSION_HELPER_HUB", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
