"""Following over a network that breaks, on both event loops and in virtual time."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import httpx
import pytest

from discussion_helper.client import Client, NotLetIn, Refused, ServerError, ServerUnreachable
from discussion_helper.client.following import LONGEST_WAIT_S

pytestmark = pytest.mark.anyio

PATIENCE_S = 30.0


@pytest.fixture
def anyio_backend(virtual_backend: Any) -> Any:
    return virtual_backend


def event(number: int, kind: str = "utterance", **data: Any) -> bytes:
    place = f"id: 0123abcd-{number}\n" if number else ""
    return f"{place}event: {kind}\ndata: {json.dumps({'kind': kind, 'at_s': number / 10, **data})}\n\n".encode()


ENDED = event(99, "ended", reason="stopped")


class Stream(httpx.AsyncByteStream):
    """What a connection gives before it breaks, or ends."""

    def __init__(self, *chunks: bytes, breaks: bool = True) -> None:
        self._chunks = (b"retry: 1000\n\n", *chunks)
        self._breaks = breaks
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            await anyio.lowlevel.checkpoint()
            yield chunk
        if self._breaks:
            raise httpx.ReadError("the cable was cut")

    async def aclose(self) -> None:
        self.closed = True


Answer = Stream | httpx.Response | Exception


class Scripted(httpx.AsyncBaseTransport):
    """A server that gives one answer after the other, and the last one again and again."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[float, str | None]] = []
        """When, and with which Last-Event-ID."""
        self.kinds: list[str | None] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await anyio.lowlevel.checkpoint()
        self.asked.append((anyio.current_time(), request.headers.get("last-event-id")))
        self.kinds.append(request.url.params.get("kinds"))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(200, stream=answer) if isinstance(answer, Stream) else answer


def client_of(server: Scripted) -> Client:
    return Client("http://127.0.0.1:7654", token="t", transport=server, patience_s=PATIENCE_S)


async def followed(server: Scripted, *kinds: str, after: str = "") -> list[str]:
    """The ids, or the kinds where there is none, of all that comes."""
    async with client_of(server) as client, client.follow("s", *kinds, after=after) as events:
        return [each.id or each.kind async for each in events]


async def test_whoever_was_cut_off_comes_back_with_the_last_id_and_misses_nothing() -> None:
    server = Scripted(Stream(event(1), event(2)), Stream(event(3)), Stream(), Stream(event(4), ENDED))

    assert [f"0123abcd-{number}" for number in (1, 2, 3, 4, 99)] == await followed(server)
    assert [None, "0123abcd-2", "0123abcd-3", "0123abcd-3"] == [place for _, place in server.asked]
    waits = [later - earlier for (earlier, _), (later, _) in zip(server.asked, server.asked[1:], strict=False)]
    assert [1.0, 1.0, 1.0] == pytest.approx(waits)


async def test_half_an_event_is_none_and_comes_whole_later() -> None:
    server = Scripted(Stream(event(1), event(2)[:-5]), Stream(event(2), ENDED))

    assert ["0123abcd-1", "0123abcd-2", "0123abcd-99"] == await followed(server)
    assert "0123abcd-1" == server.asked[1][1]


async def test_a_gap_and_a_snapshot_are_told_and_a_gap_changes_no_place() -> None:
    server = Scripted(
        Stream(event(1), event(0, "gap", missed=7)), Stream(event(50, "snapshot", state={"id": "s"}), ENDED)
    )

    assert ["0123abcd-1", "gap", "0123abcd-50", "0123abcd-99"] == await followed(server)
    assert "0123abcd-1" == server.asked[1][1]


async def test_whoever_has_seen_all_is_told_so_by_nothing_more() -> None:
    server = Scripted(httpx.Response(204))

    assert [] == await followed(server, after="0123abcd-99")
    assert [(server.asked[0][0], "0123abcd-99")] == server.asked


async def test_a_server_that_stays_away_is_given_up_after_the_patience_and_tried_more_rarely() -> None:
    server = Scripted(Stream(event(1)), httpx.ConnectError("nobody there"))
    async with client_of(server) as client, client.follow("s") as events:
        await anext(events)
        began_s = anyio.current_time()
        with pytest.raises(ServerUnreachable, match="nobody there"):
            await anext(events)
        took_s = anyio.current_time() - began_s

    assert PATIENCE_S < took_s <= PATIENCE_S + LONGEST_WAIT_S
    assert 4 <= len(server.asked) <= 8


async def test_a_server_that_was_never_there_is_asked_once() -> None:
    server = Scripted(httpx.ConnectError("nobody there"))
    with pytest.raises(ServerUnreachable, match="discussion-helper serve"):
        await followed(server)

    assert 1 == len(server.asked)


async def test_a_server_that_stops_is_waited_for() -> None:
    server = Scripted(Stream(event(1)), httpx.Response(503), httpx.ConnectError("restarting"), Stream(ENDED))

    assert ["0123abcd-1", "0123abcd-99"] == await followed(server)


async def test_a_token_that_was_rotated_is_an_error_that_says_what_to_do() -> None:
    server = Scripted(Stream(event(1)), httpx.Response(401, json={"error": "The token is wrong.", "fix": ""}))
    async with client_of(server) as client, client.follow("s") as events:
        await anext(events)
        with pytest.raises(NotLetIn, match="the server printed last"):
            await anext(events)


async def test_a_session_that_is_gone_is_an_error() -> None:
    server = Scripted(httpx.Response(404, json={"error": "There is no session of that id.", "fix": "Look."}))
    with pytest.raises(Refused, match=r"no session of that id. Look.") as refused:
        await followed(server)

    assert 404 == refused.value.status


async def test_who_asks_too_often_waits_as_long_as_the_server_says() -> None:
    often = httpx.Response(429, headers={"Retry-After": "7"}, json={"error": "Too fast.", "fix": "Later."})
    server = Scripted(often, Stream(ENDED))

    assert ["0123abcd-99"] == await followed(server)
    assert 7.0 <= server.asked[1][0] - server.asked[0][0] <= 9.0


@pytest.mark.parametrize("wait", ["3600", "", "soon", "-1"])
async def test_a_wait_without_bound_is_not_waited(wait: str) -> None:
    server = Scripted(httpx.Response(429, headers={"Retry-After": wait}, json={"error": "Too fast.", "fix": ""}))
    began_s = anyio.current_time()
    with pytest.raises(Refused, match="Too fast"):
        await followed(server)

    assert anyio.current_time() - began_s <= PATIENCE_S


async def test_the_end_is_always_asked_for() -> None:
    server = Scripted(Stream(ENDED))
    await followed(server)
    await followed(server, "partial", "partial")
    await followed(server, "*")

    assert [None, "partial,ended", "*,ended"] == server.kinds


async def test_who_leaves_leaves_no_connection() -> None:
    stream = Stream(event(1), event(2), breaks=False)
    async with client_of(Scripted(stream)) as client:
        events = client.follow("s")
        first = await anext(events)
        await events.aclose()
        rest = [each async for each in events]

    assert ("0123abcd-1", [], True) == (first.id, rest, stream.closed)
    assert "0123abcd-1" == events.cursor


async def test_a_wait_that_is_cancelled_loses_nothing() -> None:
    class Slow(Stream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield event(1)
            await anyio.sleep(10.0)
            yield event(2)

    server = Scripted(Slow(), Stream(event(2), ENDED))
    async with client_of(server) as client, client.follow("s") as events:
        await anext(events)
        with anyio.move_on_after(1.0):
            await anext(events)
        rest = [each.id async for each in events]

    assert ["0123abcd-2", "0123abcd-99"] == rest


async def test_an_answer_that_is_no_stream_of_a_server_is_told() -> None:
    with pytest.raises(ServerError, match="another form"):
        await followed(Scripted(Stream(b"data: <html>\n\n")))


@pytest.mark.parametrize("ask", [lambda c: c.sessions(), lambda c: c.state("s"), lambda c: c.say("s", "a")])
async def test_a_request_that_comes_too_fast_is_made_again(ask: Callable[[Client], Any]) -> None:
    often = httpx.Response(429, headers={"Retry-After": "3"}, json={"error": "Too fast.", "fix": "Later."})
    server = Scripted(often, often, httpx.Response(404, json={"error": "Gone.", "fix": ""}))
    async with client_of(server) as client:
        with pytest.raises(Refused, match="Gone"):
            await ask(client)

    assert [0.0, 3.0, 6.0] == pytest.approx([at_s - server.asked[0][0] for at_s, _ in server.asked])


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, content=b"<html>"),
        httpx.Response(200, json=[1, 2]),
        httpx.Response(200, json={"id": "s"}),
        httpx.Response(200, json={"id": "s", "kind": "voice", "running": True, "floor": "nowhere"}),
    ],
)
async def test_an_answer_of_another_form_is_told(answer: httpx.Response) -> None:
    async with client_of(Scripted(answer)) as client:
        with pytest.raises(ServerError, match="server"):
            await client.state("s")


async def test_an_error_without_words_is_told_by_its_number() -> None:
    async with client_of(Scripted(httpx.Response(502, content=b"<html>bad gateway"))) as client:
        with pytest.raises(Refused, match="answered with 502"):
            await client.sessions()
