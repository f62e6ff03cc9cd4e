"""The endpoint responder against an endpoint that does right, and everything wrong."""

import asyncio
import json
import logging
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from discussion_helper.errors import (
    EndpointRefused,
    EndpointStalled,
    EndpointUnreachable,
    NothingToSay,
    ResponderError,
    SettingError,
)
from discussion_helper.parts import Responder, WarmsUp
from discussion_helper.responder.endpoint import EndpointResponder
from discussion_helper.types import Message

if TYPE_CHECKING:
    from tests.responder.conftest import Exchange, FakeEndpoint

pytestmark = pytest.mark.anyio

KEY = "sk-test-1234567890"
HELLO: list[Message] = [{"role": "user", "content": "Hello?"}]


@pytest.fixture
async def responder(endpoint: "FakeEndpoint") -> AsyncIterator[EndpointResponder]:
    responder = EndpointResponder(base_url=endpoint.base_url, model="m", api_key=KEY, system="Be brief.")
    yield responder
    await responder.aclose()


async def clauses_of(responder: EndpointResponder, messages: list[Message] = HELLO) -> list[str]:
    return [clause async for clause in responder.reply(messages)]


async def failure_of(responder: EndpointResponder, kind: type[ResponderError]) -> ResponderError:
    """The error a reply ends with: one line, with a fix, without the key."""
    with pytest.raises(kind) as caught:
        await clauses_of(responder)
    assert caught.type is kind
    assert "\n" not in str(caught.value)
    assert caught.value.fix
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


# -- what goes right


async def test_it_is_a_responder_that_warms_up(responder: EndpointResponder) -> None:
    assert isinstance(responder, Responder)
    assert isinstance(responder, WarmsUp)
    assert KEY not in repr(responder)


async def test_clauses_come_as_they_complete(endpoint: "FakeEndpoint", responder: EndpointResponder) -> None:
    go_on = anyio.Event()

    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        for piece in ("Good mor", "ning! ", "How "):
            await exchange.delta(content=piece)
        await go_on.wait()
        await exchange.delta(content="are you?", finish="stop")
        await exchange.end()

    endpoint.answer = answer
    async with aclosing(responder.reply(HELLO)) as clauses:  # type: ignore[type-var]
        assert await anext(clauses) == "Good morning!"
        go_on.set()
        assert [clause async for clause in clauses] == ["How are you?"]


async def test_the_request_holds_the_prompt_the_turns_and_the_key(
    endpoint: "FakeEndpoint", responder: EndpointResponder
) -> None:
    await clauses_of(responder, [*HELLO, {"role": "assistant", "content": "Hi."}, *HELLO])
    [exchange] = endpoint.exchanges
    assert exchange.path == "/v1/chat/completions"
    assert exchange.headers["authorization"] == f"Bearer {KEY}"
    assert exchange.body == {
        "model": "m",
        "stream": True,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello?"},
            {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": "Hello?"},
        ],
    }


async def test_where_it_was_cut_off_is_told_before_the_next_turn_and_in_no_key_of_its_own(
    endpoint: "FakeEndpoint", responder: EndpointResponder
) -> None:
    messages: list[Message] = [
        {"role": "user", "content": "How far is it?"},
        {"role": "assistant", "content": "It is", "interrupted": True, "unheard": "ten miles."},
        {"role": "user", "content": "By car?"},
        {"role": "assistant", "content": "", "interrupted": True, "unheard": "Yes."},
        {"role": "user", "content": "Hello?"},
    ]
    await clauses_of(responder, messages)

    sent = endpoint.exchanges[0].body["messages"]
    assert ["system", "user", "assistant", "user"] == [message["role"] for message in sent]
    assert all({"role", "content"} == set(message) for message in sent)
    assert [
        '[Your last answer was cut off after "It is". Do not repeat what was heard.]',
        "By car?",
        '[Your last answer was cut off before a word of it was heard. Not heard: "Yes."]',
        "Hello?",
    ] == sent[-1]["content"].splitlines()


async def test_options_go_into_the_request(endpoint: "FakeEndpoint") -> None:
    options = {"temperature": 0.5, "think": False}
    responder = EndpointResponder(base_url=endpoint.base_url, model="m", options=options)
    await clauses_of(responder)
    await responder.aclose()
    assert endpoint.exchanges[0].body.items() >= options.items()


async def test_what_the_environment_holds_for_openai_stays_here(
    endpoint: "FakeEndpoint", monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, KEY)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # the discard port: nobody there
    responder = EndpointResponder(base_url=endpoint.base_url, model="m")
    assert await clauses_of(responder) == ["Hello there."]
    await responder.aclose()
    [exchange] = endpoint.exchanges
    assert "authorization" not in exchange.headers
    assert KEY not in json.dumps(exchange.headers)


async def test_reasoning_is_never_spoken(endpoint: "FakeEndpoint", responder: EndpointResponder) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(role="assistant", content="", reasoning_content="They greet me.")
        await exchange.delta(content=None, reasoning="I greet back.")
        await exchange.delta(content="<thi")
        await exchange.delta(content="nk>Should I? Yes.</think>\n\nHello")
        await exchange.delta(content=" there.", finish="stop")
        await exchange.end()

    endpoint.answer = answer
    assert await clauses_of(responder) == ["Hello there."]


async def test_a_refusal_is_spoken(endpoint: "FakeEndpoint", responder: EndpointResponder) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(refusal="I can't help with that.", finish="stop")
        await exchange.end()

    endpoint.answer = answer
    assert await clauses_of(responder) == ["I can't help with that."]


async def test_chunks_of_any_shape_are_survived(endpoint: "FakeEndpoint", responder: EndpointResponder) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.send(b"e\r\n: keep-alive\n\n\r\n")
        for odd in ("{}", "[]", "1", '{"choices": []}', '{"choices": null}', '{"choices": [{"delta": null}]}'):
            await exchange.data(odd)
        await exchange.data('{"choices": [{"delta": {"content": {"text": "x"}}}], "usage": 3}')
        await exchange.delta(content="Still here.", finish="stop")
        await exchange.end()

    endpoint.answer = answer
    assert await clauses_of(responder) == ["Still here."]


async def test_an_endless_reply_is_cut_and_the_stream_closed(endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        while not exchange.gone.is_set():
            await exchange.delta(content="And on it goes. ")

    endpoint.answer = answer
    responder = EndpointResponder(base_url=endpoint.base_url, model="m", max_chars=100)
    clauses = await clauses_of(responder)
    assert len(" ".join(clauses)) <= 100
    assert clauses[:2] == ["And on it goes."] * 2
    with anyio.fail_after(5):
        await endpoint.exchanges[0].gone.wait()
    await responder.aclose()


# -- closing


async def talk_for_ever(exchange: "Exchange") -> None:
    await exchange.begin()
    await exchange.delta(content="Well. Now ")
    await exchange.gone.wait()


async def test_closing_the_iterator_breaks_the_request_off(
    endpoint: "FakeEndpoint", responder: EndpointResponder
) -> None:
    endpoint.answer = talk_for_ever
    clauses: Any = responder.reply(HELLO)
    assert await anext(clauses) == "Well."
    began = time.perf_counter()
    await clauses.aclose()
    with anyio.fail_after(5):
        await endpoint.exchanges[0].gone.wait()
    assert time.perf_counter() - began < 1  # the goal is 0.1 s; the machine may be busy


@pytest.mark.parametrize("silent", [False, True], ids=["in mid-stream", "before the first byte"])
async def test_cancelling_breaks_the_request_off(
    endpoint: "FakeEndpoint", responder: EndpointResponder, silent: bool
) -> None:
    asked = anyio.Event()

    async def answer(exchange: "Exchange") -> None:
        asked.set()
        await (exchange.gone.wait() if silent else talk_for_ever(exchange))

    endpoint.answer = answer
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(clauses_of, responder)
            await asked.wait()
            tasks.cancel_scope.cancel()
        await endpoint.exchanges[0].gone.wait()


async def test_an_iterator_that_was_never_begun_asks_nothing(
    endpoint: "FakeEndpoint", responder: EndpointResponder
) -> None:
    clauses: Any = responder.reply(HELLO)
    await clauses.aclose()
    assert endpoint.exchanges == []


async def test_the_next_reply_after_a_closed_one(endpoint: "FakeEndpoint", responder: EndpointResponder) -> None:
    endpoint.answer = talk_for_ever
    clauses: Any = responder.reply(HELLO)
    await anext(clauses)
    await clauses.aclose()
    endpoint.answer = lambda exchange: exchange.stream("Yes", "?")
    assert await clauses_of(responder) == ["Yes?"]


async def test_closing_twice_is_fine(responder: EndpointResponder) -> None:
    await responder.aclose()
    await responder.aclose()


# -- what is refused


@pytest.mark.parametrize(
    ("status", "says", "fix"),
    [
        (401, "refused the key (401 Unauthorized)", "OPENAI_API_KEY"),
        (403, "refused the key (403 Forbidden)", "OPENAI_API_KEY"),
        (404, "has no model 'm'", "/v1/models lists"),
        (400, "refused the request (400 Bad Request)", "Change"),
        (429, "too many requests, or no quota left (429 Too Many Requests)", "Wait"),
        (500, "failed (500 Internal Server Error)", "Try again"),
        (599, "failed (599)", "Try again"),
    ],
)
async def test_a_refusal_says_what_and_how_to_fix_it(
    endpoint: "FakeEndpoint", responder: EndpointResponder, status: int, says: str, fix: str
) -> None:
    endpoint.answer = lambda exchange: exchange.refuse(status, f"no:\n\x1b[31m {KEY} is {'x' * 1000}")
    error = await failure_of(responder, EndpointRefused)
    assert f"{endpoint.host} " in error.what
    assert says in error.what
    assert fix in error.fix
    assert "\x1b" not in str(error)
    assert len(str(error)) < 600


async def test_without_a_key_it_says_that_none_was_sent(endpoint: "FakeEndpoint") -> None:
    endpoint.answer = lambda exchange: exchange.refuse(401)
    responder = EndpointResponder(base_url=endpoint.base_url, model="m")
    error = await failure_of(responder, EndpointRefused)
    assert "wants a key, and none was sent" in error.what
    assert "only over https or on this machine" in error.fix
    await responder.aclose()


async def test_a_failing_endpoint_is_asked_twice(endpoint: "FakeEndpoint", responder: EndpointResponder) -> None:
    async def answer(exchange: "Exchange") -> None:
        await (exchange.refuse(503) if len(endpoint.exchanges) == 1 else exchange.stream("Better."))

    endpoint.answer = answer
    assert await clauses_of(responder) == ["Better."]
    assert len(endpoint.exchanges) == 2


@pytest.mark.parametrize(("status", "times"), [(500, 2), (429, 1), (401, 1), (400, 1)])
async def test_nothing_else_is_asked_twice(
    endpoint: "FakeEndpoint", responder: EndpointResponder, status: int, times: int
) -> None:
    endpoint.answer = lambda exchange: exchange.refuse(status)
    await failure_of(responder, EndpointRefused)
    assert len(endpoint.exchanges) == times


@pytest.mark.parametrize(
    "event",
    [
        {"error": f"model exploded, {KEY}"},
        {"error": {"detail": f"model exploded, {KEY}"}},
        {"error": {"error": {"message": f"model exploded, {KEY}"}}},
        {"error": {"message": f"model exploded, {KEY}", "code": 1}},
        {"object": "error", "message": f"model exploded, {KEY}"},
    ],
)
async def test_an_error_in_the_stream_is_told(
    endpoint: "FakeEndpoint", responder: EndpointResponder, event: dict[str, Any]
) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.data(json.dumps(event))

    endpoint.answer = answer
    error = await failure_of(responder, EndpointRefused)
    assert error.what == f"{endpoint.host} reported an error: model exploded, [key]."


async def test_an_error_in_fields_of_its_own_is_told_whole(
    endpoint: "FakeEndpoint", responder: EndpointResponder
) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.data(json.dumps({"error": {"code": 507, "why": "full"}}))

    endpoint.answer = answer
    error = await failure_of(responder, EndpointRefused)
    assert '"code": 507, "why": "full"' in error.what


@pytest.mark.parametrize("body", [{"error": "no such model"}, {"error": {"message": "no such model"}}])
async def test_the_words_of_a_refusal_stand_alone(
    endpoint: "FakeEndpoint", responder: EndpointResponder, body: dict[str, Any]
) -> None:
    endpoint.answer = lambda exchange: exchange.respond(400, json.dumps(body).encode())
    error = await failure_of(responder, EndpointRefused)
    assert error.what == f"{endpoint.host} refused the request (400 Bad Request): no such model."


@pytest.mark.parametrize("cut", [0, 1, 2])
async def test_a_byte_that_is_no_text_costs_a_letter(
    endpoint: "FakeEndpoint", responder: EndpointResponder, cut: int
) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin(chunked=False)
        await exchange.send(b'data: {"choices": [{"index": 0, "delta": {"content": "Caf\xe9')
        letter = "\u20ac".encode()  # what is whole stays so, wherever it is cut
        for part in (letter[:cut], letter[cut:]):
            await exchange.send(part)
            await anyio.lowlevel.checkpoint()
        await exchange.send(b' is good."}}]}\n\n')
        await exchange.delta(content=" Yes.", finish="stop", chunked=False)

    endpoint.answer = answer
    assert await clauses_of(responder) == ["Caf\ufffd\u20ac is good.", "Yes."]


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/json"])
async def test_an_answer_that_is_no_stream(endpoint: "FakeEndpoint", responder: EndpointResponder, kind: str) -> None:
    endpoint.answer = lambda exchange: exchange.respond(200, b"<html>Welcome</html>", kind)
    error = await failure_of(responder, EndpointRefused)
    assert f"sent {kind} that is not a stream" in error.what
    assert "/v1" in error.fix


@pytest.mark.parametrize("bad", ["{broken", "<html>", '"', "\x00"])
async def test_a_malformed_stream(endpoint: "FakeEndpoint", responder: EndpointResponder, bad: str) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="Well. ")
        await exchange.data(bad)
        await exchange.gone.wait()

    endpoint.answer = answer
    clauses: Any = responder.reply(HELLO)
    assert await anext(clauses) == "Well."
    with pytest.raises(EndpointRefused, match="not a stream of chat completions"):
        await anext(clauses)


@pytest.mark.parametrize("mark", ["data: [DONE]\n\n", "data:[DONE]\r\n\r\n", "data: [DONE]\n"])
@pytest.mark.parametrize("cut", [0, 3])
async def test_the_mark_of_the_end_is_a_proper_end(
    endpoint: "FakeEndpoint", responder: EndpointResponder, mark: str, cut: int
) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin(chunked=False)
        await exchange.delta(content="A list of two", chunked=False)
        for part in (mark[:cut], mark[cut:]):
            await exchange.send(part.encode())
            await anyio.lowlevel.checkpoint()

    endpoint.answer = answer
    assert await clauses_of(responder) == ["A list of two"]


async def test_the_mark_within_the_text_is_no_end(endpoint: "FakeEndpoint", responder: EndpointResponder) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin(chunked=False)
        await exchange.delta(content="The last line is\ndata: [DONE]", chunked=False)

    endpoint.answer = answer
    clauses: Any = responder.reply(HELLO)
    assert [await anext(clauses), await anext(clauses)] == ["The last line is", "data: [DONE]"]
    with pytest.raises(EndpointStalled, match="broke off before the end of the reply"):
        await anext(clauses)


@pytest.mark.parametrize("text", [" ", " \n\n ", "<think>Hm</think>\n"])
@pytest.mark.parametrize("chunked", [True, False])
async def test_a_reply_of_nothing_without_a_finish(
    endpoint: "FakeEndpoint", responder: EndpointResponder, text: str, chunked: bool
) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin(chunked=chunked)
        await exchange.delta(content=text, chunked=chunked)
        await (exchange.end() if chunked else anyio.lowlevel.checkpoint())

    endpoint.answer = answer
    error = await failure_of(responder, NothingToSay)
    assert error.what == f"{endpoint.host} sent a reply without anything to say."


async def test_white_space_is_no_beginning(endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        while not exchange.gone.is_set():
            await exchange.delta(content=" \n")

    endpoint.answer = answer
    responder = impatient(endpoint, first_token_s=0.1)
    assert "has not begun to answer within 0.1 s" in (await failure_of(responder, EndpointStalled)).what
    await responder.aclose()


@pytest.mark.parametrize("text", ["", "<think>Hm. That is hard.</think>", " \n"])
async def test_an_empty_reply(endpoint: "FakeEndpoint", responder: EndpointResponder, text: str) -> None:
    endpoint.answer = lambda exchange: exchange.stream(text)
    error = await failure_of(responder, NothingToSay)
    assert "without anything to say" in error.what


# -- what is not there, stalls or breaks


async def test_nobody_listens() -> None:
    responder = EndpointResponder(base_url="http://127.0.0.1:9/v1", model="m")
    error = await failure_of(responder, EndpointUnreachable)
    assert error.what == "127.0.0.1:9 cannot be reached: nothing listens there."
    assert "Start the server that is to answer at http://127.0.0.1:9/v1" in error.fix
    with pytest.raises(EndpointUnreachable):
        await responder.warmup()
    await responder.aclose()


def impatient(endpoint: "FakeEndpoint", **limits: float) -> EndpointResponder:
    return EndpointResponder(base_url=endpoint.base_url, model="m", api_key=KEY, **limits)  # type: ignore[arg-type]


@pytest.mark.parametrize("head", [False, True], ids=["no answer", "no text"])
async def test_a_stall_before_the_first_text(endpoint: "FakeEndpoint", head: bool) -> None:
    async def answer(exchange: "Exchange") -> None:
        if head:
            await exchange.begin()
        while head and not exchange.gone.is_set():  # chunks without text are no progress
            await exchange.delta(role="assistant", content="")
        await exchange.gone.wait()

    endpoint.answer = answer
    responder = impatient(endpoint, first_token_s=0.1)
    error = await failure_of(responder, EndpointStalled)
    assert "has not begun to answer within 0.1 s" in error.what
    with anyio.fail_after(5):
        await endpoint.exchanges[0].gone.wait()
    await responder.aclose()


async def test_a_stall_in_mid_stream_comes_after_what_was_said(endpoint: "FakeEndpoint") -> None:
    endpoint.answer = talk_for_ever
    responder = impatient(endpoint, between_s=0.1)
    clauses: Any = responder.reply(HELLO)
    assert [await anext(clauses), await anext(clauses)] == ["Well.", "Now"]
    with pytest.raises(EndpointStalled, match=r"stopped in the middle of the reply, for 0\.1 s"):
        await anext(clauses)
    await responder.aclose()


@pytest.mark.parametrize("field", ["reasoning_content", "content"])
async def test_endless_thinking(endpoint: "FakeEndpoint", field: str) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content=" <think>" if field == "content" else "")
        thought: dict[str, Any] = {field: "Hm. "}
        while not exchange.gone.is_set():
            await exchange.delta(**thought)

    endpoint.answer = answer
    responder = impatient(endpoint, thinking_s=0.2)
    error = await failure_of(responder, EndpointStalled)
    assert "has been thinking for 0.2 s without saying anything" in error.what
    await responder.aclose()


async def test_endless_thinking_in_the_middle_of_a_reply(endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="Well. <think>")
        while not exchange.gone.is_set():
            await exchange.delta(content="Hm. ")

    endpoint.answer = answer
    responder = impatient(endpoint, thinking_s=0.2)
    clauses: Any = responder.reply(HELLO)
    assert await anext(clauses) == "Well."
    await anyio.sleep(0.3)  # the voice is still speaking: that is no thinking
    with pytest.raises(EndpointStalled, match=r"has been thinking for 0\.2 s"):
        await anext(clauses)
    await responder.aclose()


async def test_thinking_again_after_the_first_words(endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="Well. ")
        await spoken.wait()
        await exchange.delta(reasoning_content="Hm. ")
        await exchange.delta(content="Yes.", finish="stop")
        await exchange.end()

    spoken = anyio.Event()
    endpoint.answer = answer
    responder = impatient(endpoint, thinking_s=0.2)
    clauses: Any = responder.reply(HELLO)
    assert await anext(clauses) == "Well."
    await anyio.sleep(0.3)  # longer than the limit since the request
    spoken.set()
    assert await anext(clauses) == "Yes."
    await clauses.aclose()
    await responder.aclose()


async def test_a_stall_while_thinking(endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(reasoning_content="Hm. ")
        await exchange.gone.wait()

    endpoint.answer = answer
    responder = impatient(endpoint, between_s=0.1)
    assert "stopped while thinking, for 0.1 s" in (await failure_of(responder, EndpointStalled)).what
    await responder.aclose()


@pytest.mark.parametrize("chunked", [True, False])
async def test_a_stream_that_breaks_off(endpoint: "FakeEndpoint", responder: EndpointResponder, chunked: bool) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin(chunked=chunked)
        await exchange.delta(content="I think. Then", chunked=chunked)

    endpoint.answer = answer
    clauses: Any = responder.reply(HELLO)
    assert [await anext(clauses), await anext(clauses)] == ["I think.", "Then"]
    with pytest.raises(EndpointStalled, match="broke off before the end of the reply"):
        await anext(clauses)


async def test_an_end_after_a_whole_sentence_is_an_end(endpoint: "FakeEndpoint", responder: EndpointResponder) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="That is all.")
        await exchange.end()

    endpoint.answer = answer
    assert await clauses_of(responder) == ["That is all."]


async def test_a_connection_that_closes_without_an_answer(
    endpoint: "FakeEndpoint", responder: EndpointResponder
) -> None:
    endpoint.answer = lambda _: anyio.lowlevel.checkpoint()
    error = await failure_of(responder, EndpointUnreachable)
    assert error.what == f"{endpoint.host} closed the connection without an answer over HTTP."


async def test_a_request_that_crosses_with_the_end_of_an_idle_connection_is_made_again(
    endpoint: "FakeEndpoint", responder: EndpointResponder
) -> None:
    async def answer(exchange: "Exchange") -> None:
        if len(endpoint.exchanges) > 1:
            await exchange.stream("Hello.")

    endpoint.answer = answer
    assert await clauses_of(responder) == ["Hello."]
    assert len(endpoint.exchanges) == 2


async def test_a_slow_listener_is_no_stall(endpoint: "FakeEndpoint") -> None:
    more = anyio.Event()

    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="First. ")
        await more.wait()
        await exchange.delta(content="Second.", finish="stop")
        await exchange.end()

    endpoint.answer = answer
    responder = impatient(endpoint, between_s=0.2)
    clauses: Any = responder.reply(HELLO)
    assert await anext(clauses) == "First."
    await anyio.sleep(0.3)  # the voice is still speaking
    more.set()
    assert await anext(clauses) == "Second."
    await clauses.aclose()
    await responder.aclose()


# -- warming up and settings


async def test_warming_up_asks_for_the_models(endpoint: "FakeEndpoint", responder: EndpointResponder) -> None:
    endpoint.answer = lambda exchange: exchange.respond(200, b'{"data": []}')
    await responder.warmup()
    assert [exchange.path for exchange in endpoint.exchanges] == ["/v1/models"]


@pytest.mark.parametrize("status", [404, 405, 429])
async def test_an_endpoint_without_a_list_is_taken_as_it_is(
    endpoint: "FakeEndpoint", responder: EndpointResponder, status: int
) -> None:
    endpoint.answer = lambda exchange: exchange.refuse(status)
    await responder.warmup()


@pytest.mark.parametrize(("status", "says"), [(401, "refused the key"), (500, "failed")])
async def test_warming_up_fails_clearly(
    endpoint: "FakeEndpoint", responder: EndpointResponder, status: int, says: str
) -> None:
    endpoint.answer = lambda exchange: exchange.refuse(status, KEY)
    with pytest.raises(EndpointRefused, match=says) as caught:
        await responder.warmup()
    assert KEY not in str(caught.value)


async def test_the_key_is_in_no_log(
    endpoint: "FakeEndpoint", responder: EndpointResponder, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await responder.warmup()
        await clauses_of(responder)
        endpoint.answer = lambda exchange: exchange.refuse(401, "no")
        await failure_of(responder, EndpointRefused)
    assert caplog.records
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"base_url": "ftp://host"}, "base_url is not an http or https URL"),
        ({"model": " "}, "model is empty"),
        ({"api_key": "sk-é"}, "api_key holds what no key can"),
        ({"api_key": "sk-1\nsk-2"}, "api_key holds what no key can"),
        ({"first_token_s": 0}, "first_token_s is 0"),
        ({"between_s": float("nan")}, "between_s is nan"),
        ({"thinking_s": -1}, "thinking_s is -1"),
        ({"max_chars": 0}, "max_chars is 0"),
    ],
)
async def test_bad_settings_are_refused_by_name(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        EndpointResponder(**{"base_url": "http://127.0.0.1:9", "model": "m", **settings})


async def test_a_message_that_is_no_turn_is_refused(responder: EndpointResponder) -> None:
    with pytest.raises(ValueError, match="a message needs a role"):
        await clauses_of(responder, [{"role": "bot", "content": "x"}])  # type: ignore[typeddict-item]


async def test_nothing_is_left_running(endpoint: "FakeEndpoint") -> None:
    responder = EndpointResponder(base_url=endpoint.base_url, model="m")
    endpoint.answer = talk_for_ever
    before = asyncio.all_tasks()
    for _ in range(5):
        clauses: Any = responder.reply(HELLO)
        await anext(clauses)
        await clauses.aclose()
    await responder.aclose()
    with anyio.fail_after(5):
        for exchange in endpoint.exchanges:
            await exchange.gone.wait()  # no connection is left open
        while asyncio.all_tasks() - before:
            await anyio.lowlevel.checkpoint()
