"""Downloads from a hub: fresh, resumed, refused, broken off, stalled."""

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.errors import SettingError
from discussion_helper.models import ModelFile
from discussion_helper.models.hub import Hub
from discussion_helper.models.part import Part, SourceFailed

BODY = os.urandom(300_000)
FILE = ModelFile("model.bin", len(BODY), hashlib.sha256(BODY).hexdigest())
ROUTE = "/someone/something/resolve/main/model.bin"


@pytest.fixture
def part(tmp_path: Path) -> Part:
    return Part(FILE, tmp_path / "model.bin.part", tmp_path / "model.bin")


@pytest.fixture
def hub(hub_server: Any) -> Iterator[Hub]:
    hub_server.files[ROUTE] = BODY
    with Hub(hub_server.base, stall_s=0.2) as hub:
        yield hub


def fetch(hub: Hub, part: Part) -> list[int]:
    seen: list[int] = []
    hub.fetch(ROUTE, part, seen.append)
    return seen


def refused(hub: Hub, part: Part) -> str:
    with pytest.raises(SourceFailed) as caught:
        fetch(hub, part)
    assert not part.target.exists()
    return str(caught.value)


def test_a_fresh_download_is_whole_and_in_place(hub: Hub, part: Part) -> None:
    seen = fetch(hub, part)

    assert part.target.read_bytes() == BODY
    assert not part.path.exists()
    assert seen == sorted(seen)
    assert seen[-1] == len(BODY)


def test_a_download_that_breaks_off_goes_on_where_it_was(hub: Hub, part: Part, hub_server: Any) -> None:
    answers = iter([hub_server.half, hub_server.half, hub_server.ranges])
    hub_server.answer = lambda request, body: next(answers)(request, body)

    fetch(hub, part)

    assert part.target.read_bytes() == BODY
    assert [asked for _, asked in hub_server.requests] == ["", "bytes=150000-", "bytes=225000-"]


def test_what_an_earlier_pull_kept_is_not_fetched_again(hub: Hub, part: Part, hub_server: Any) -> None:
    part.path.write_bytes(BODY[:100_000])

    fetch(hub, part)

    assert part.target.read_bytes() == BODY
    assert hub_server.requests == [(ROUTE, "bytes=100000-")]


def test_a_part_that_was_whole_needs_no_request(hub: Hub, part: Part, hub_server: Any) -> None:
    part.path.write_bytes(BODY)

    fetch(hub, part)

    assert part.target.read_bytes() == BODY
    assert hub_server.requests == []


def test_a_server_that_ignores_ranges_begins_anew(hub: Hub, part: Part, hub_server: Any) -> None:
    hub_server.answer = hub_server.whole
    part.path.write_bytes(BODY[:100_000])

    fetch(hub, part)

    assert part.target.read_bytes() == BODY
    assert len(hub_server.requests) == 1


def answer_416(request: Any, _: bytes) -> None:
    request.begin(416, {"Content-Range": "bytes */5"})


def answer_other_range(request: Any, body: bytes) -> None:
    request.begin(206, {"Content-Length": len(body), "Content-Range": f"bytes 0-{len(body) - 1}/{len(body)}"})
    request.wfile.write(body)


@pytest.mark.parametrize("first", [answer_416, answer_other_range])
def test_a_range_that_is_answered_wrongly_makes_it_begin_anew(
    first: Callable[[Any, bytes], None], hub: Hub, part: Part, hub_server: Any
) -> None:
    answers = iter([first, hub_server.ranges])
    hub_server.answer = lambda request, body: next(answers)(request, body)
    part.path.write_bytes(BODY[:100_000])

    fetch(hub, part)

    assert part.target.read_bytes() == BODY
    assert [asked for _, asked in hub_server.requests] == ["bytes=100000-", ""]


@pytest.mark.parametrize("kept", [b"x" * 100_000, b"x" * len(BODY), b"x" * (len(BODY) + 1)])
def test_a_kept_part_with_wrong_bytes_is_replaced(kept: bytes, hub: Hub, part: Part) -> None:
    part.path.write_bytes(kept)

    fetch(hub, part)

    assert part.target.read_bytes() == BODY


def test_wrong_bytes_are_refused_and_discarded(hub: Hub, part: Part, hub_server: Any) -> None:
    hub_server.files[ROUTE] = BODY[:-1] + bytes([BODY[-1] ^ 1])

    assert "model.bin has wrong bytes" in refused(hub, part)
    assert not part.path.exists()


@pytest.mark.parametrize("length", [len(BODY) - 1, len(BODY) + 1])
def test_a_wrong_length_is_refused_before_it_is_fetched(length: int, hub: Hub, part: Part, hub_server: Any) -> None:
    hub_server.files[ROUTE] = (BODY + b"x")[:length]

    assert f"offers {length} bytes for model.bin instead of {len(BODY)}" in refused(hub, part)
    assert not part.path.exists()


@pytest.mark.parametrize(
    ("body", "reason"),
    [(BODY + b"x" * 100_000, "sends more than 300000 bytes"), (BODY[:10], "sent 10 of 300000 bytes")],
    ids=["too long", "too short"],
)
def test_a_wrong_length_that_was_not_announced_is_refused(
    body: bytes, reason: str, hub: Hub, part: Part, hub_server: Any
) -> None:
    def unannounced(request: Any, _: bytes) -> None:
        request.begin(200, {})
        request.wfile.write(body)

    hub_server.answer = unannounced

    assert reason in refused(hub, part)


def test_a_file_that_the_hub_does_not_have(hub: Hub, part: Part, hub_server: Any) -> None:
    hub_server.files.clear()

    assert refused(hub, part) == f"{hub.name} answered 404 for model.bin"


def test_a_server_that_stalls_is_given_up_with_its_bytes_kept(hub: Hub, part: Part, hub_server: Any) -> None:
    def silent(*_: object) -> None:
        hub_server.released.wait()

    answers = iter([hub_server.stall, silent])
    hub_server.answer = lambda request, body: next(answers)(request, body)

    assert refused(hub, part) == f"{hub.name} sent nothing more of model.bin for 0.2 s"
    assert part.path.read_bytes() == BODY[: len(BODY) // 2]


def test_a_server_that_trickles_counts_as_stalled(hub: Hub, part: Part, hub_server: Any) -> None:
    def trickle(request: Any, body: bytes) -> None:
        request.begin(200, {"Content-Length": len(body)})
        for byte in body:
            request.wfile.write(bytes([byte]))
            if hub_server.released.wait(0.02):
                return

    hub_server.answer = trickle

    assert "sent nothing more" in refused(hub, part)


def test_a_hub_that_cannot_be_reached_is_asked_once(part: Part, hub_servers: Callable[[int], Any]) -> None:
    gone = hub_servers(0)
    gone.stop()
    with Hub(gone.base) as hub:
        reason = refused(hub, part)
        back = hub_servers(gone.server_port)
        back.files[ROUTE] = BODY

        assert refused(hub, part) == reason
        assert back.requests == []
    assert reason.startswith(f"127.0.0.1:{gone.server_port} cannot be reached (")


def test_a_redirect_to_where_the_bytes_are_is_followed_with_the_range(hub: Hub, part: Part, hub_server: Any) -> None:
    def elsewhere(request: Any, body: bytes) -> None:
        if request.path == ROUTE:
            request.begin(302, {"Location": f"{hub_server.base}/elsewhere", "Content-Length": 0})
        else:
            hub_server.ranges(request, body)

    hub_server.files["/elsewhere"] = BODY
    hub_server.answer = elsewhere
    part.path.write_bytes(BODY[:7])

    fetch(hub, part)

    assert part.target.read_bytes() == BODY
    assert hub_server.requests == [(ROUTE, "bytes=7-"), ("/elsewhere", "bytes=7-")]


def test_a_circle_of_redirects_is_named(hub: Hub, part: Part, hub_server: Any) -> None:
    hub_server.answer = lambda request, _: request.begin(302, {"Location": ROUTE, "Content-Length": 0})

    assert refused(hub, part) == f"{hub.name} points on and on, 10 times"
    assert len(hub_server.requests) == 10


def test_an_endless_redirect_is_not_read(hub: Hub, part: Part, hub_server: Any) -> None:
    sent: list[int] = []

    def endless(request: Any, body: bytes) -> None:
        if request.path != ROUTE:
            hub_server.whole(request, body)
            return
        request.begin(302, {"Location": f"{hub_server.base}/elsewhere"})
        while len(sent) < 1000:  # 64 MB, more than any socket holds
            request.wfile.write(b"x" * 65536)
            sent.append(65536)

    hub_server.files["/elsewhere"] = BODY
    hub_server.answer = endless

    fetch(hub, part)

    assert part.target.read_bytes() == BODY
    assert len(sent) < 1000


def test_the_address_comes_from_the_environment_when_a_hub_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Hub().name == "huggingface.co"
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example")
    assert Hub().name == "mirror.example"
    monkeypatch.setenv("DISCUSSION_HELPER_HUB", "http://localhost:8080/hub/")
    assert Hub().name == "localhost:8080"


@pytest.mark.parametrize("base", ["huggingface.co", "ftp://example.org", "https://", "https://x/?y=1", "http://x:port"])
def test_an_address_that_is_none_is_refused(base: str) -> None:
    with pytest.raises(SettingError, match="DISCUSSION_HELPER_HUB"):
        Hub(base)


def test_a_password_in_the_address_is_in_no_text(part: Part, hub_servers: Callable[[int], Any]) -> None:
    gone = hub_servers(0)
    gone.stop()
    with Hub(f"http://me:secret@127.0.0.1:{gone.server_port}") as hub:
        assert "secret" not in hub.name + refused(hub, part)
