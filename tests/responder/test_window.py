"""The window: a conversation is kept within what the model takes, and the model's own numbers come before estimates."""

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.errors import EndpointRefused, SettingError
from discussion_helper.responder.endpoint import EndpointResponder
from discussion_helper.responder.history import weight_of
from discussion_helper.responder.window import ELSEWHERE, HERE, Window, told_context
from discussion_helper.types import Message

if TYPE_CHECKING:
    from tests.responder.conftest import Exchange, FakeEndpoint

pytestmark = pytest.mark.anyio

USER, AGENT = "A question of some words, as people ask them. ", "An answer of some more words, as models like to give. "


def conversation(turns: int) -> list[Message]:
    """So many questions and answers, and a last question."""
    told: list[Message] = []
    for number in range(turns):
        told += [
            {"role": "user", "content": f"{number}: {USER * 3}"},
            {"role": "assistant", "content": f"{number}: {AGENT * 3}"},
        ]
    return [*told, {"role": "user", "content": "The last question."}]


@given(st.integers(0, 60), st.integers(768, 8192), st.integers(0, 2000))
@settings(max_examples=60)
def test_whole_turns_are_left_out_and_the_newest_stays(turns: int, tokens: int, prompt: int) -> None:
    told = conversation(turns)
    kept = Window(tokens, here=True).fit("p" * prompt, [], told)
    assert kept == told[len(told) - len(kept) :]
    assert kept[0]["role"] == "user"
    room = max(tokens - 512 - (prompt + 16) / 3, 256) * 3
    assert sum(map(weight_of, kept)) <= room


async def test_the_system_prompt_and_the_newest_turn_are_always_sent(endpoint: "FakeEndpoint") -> None:
    responder = EndpointResponder(base_url=endpoint.base_url, model="m", system="Be brief.", context=1024)
    _ = [clause async for clause in responder.reply(conversation(100))]
    sent = endpoint.exchanges[0].body["messages"]
    assert sent[0] == {"role": "system", "content": "Be brief."}
    assert sent[1]["role"] == "user"
    assert sent[-1]["content"] == "The last question."
    assert 3 < len(sent) < 20
    await responder.aclose()


@pytest.mark.parametrize(
    ("entry", "tokens"),
    [
        ({"max_model_len": 2048}, 2048),
        ({"context_length": 8192}, 8192),
        ({"meta": {"n_ctx": 4096}}, 4096),
        ({}, None),
        ({"max_model_len": "many"}, None),
        ({"max_model_len": -5}, None),
    ],
)
def test_what_a_server_tells_of_its_model(entry: dict[str, Any], tokens: int | None) -> None:
    assert told_context({"data": [{"id": "other", "context_length": 1}, {"id": "m", **entry}]}, "m") == tokens


@pytest.mark.parametrize("listed", [None, [], "x", {"data": None}, {"data": ["m"]}, {"data": [{"id": "m", "meta": 1}]}])
def test_a_list_of_any_shape_is_survived(listed: object) -> None:
    assert told_context(listed, "m") is None


async def test_the_warm_up_learns_how_much_the_server_takes(endpoint: "FakeEndpoint") -> None:
    listing = json.dumps({"object": "list", "data": [{"id": "m", "object": "model", "max_model_len": 1024}]}).encode()

    async def answer(exchange: "Exchange") -> None:
        if exchange.path.endswith("/models"):
            await exchange.respond(200, listing)
        else:
            await exchange.stream("Hello.")

    endpoint.answer = answer
    responder = EndpointResponder(base_url=endpoint.base_url, model="m", system="")
    await responder.warmup()
    _ = [clause async for clause in responder.reply(conversation(100))]
    assert len(endpoint.exchanges[1].body["messages"]) < 20
    await responder.aclose()


async def test_a_request_that_is_refused_for_its_length_is_made_again_with_less(endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        if len(exchange.body["messages"]) > 10:
            await exchange.refuse(400, "This model's maximum context length is 500 tokens.")
        else:
            await exchange.stream("Hello.")

    endpoint.answer = answer
    responder = EndpointResponder(base_url=endpoint.base_url, model="m", system="S.")
    assert [clause async for clause in responder.reply(conversation(40))] == ["Hello."]
    assert endpoint.exchanges[-1].body["messages"][0]["content"] == "S."
    await responder.aclose()


async def test_a_server_that_takes_nothing_is_told_of(endpoint: "FakeEndpoint") -> None:
    endpoint.answer = lambda exchange: exchange.refuse(400, "prompt is too long")
    responder = EndpointResponder(base_url=endpoint.base_url, model="m")
    with pytest.raises(EndpointRefused, match="does not fit into the model's context"):
        _ = [clause async for clause in responder.reply(conversation(4))]
    assert len(endpoint.exchanges) == 5
    await responder.aclose()


async def test_the_models_own_count_corrects_the_estimate(endpoint: "FakeEndpoint") -> None:
    """It counts a token a byte, three times what was guessed."""

    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="Hello.", finish="stop")
        tokens = sum(map(weight_of, exchange.body["messages"]))
        usage = {"prompt_tokens": tokens, "completion_tokens": 2, "total_tokens": tokens + 2}
        await exchange.data(json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": usage}))
        await exchange.end()

    endpoint.answer = answer
    responder = EndpointResponder(base_url=endpoint.base_url, model="m", system="S.", context=4096)
    for _ in range(2):
        _ = [clause async for clause in responder.reply(conversation(100))]
    first, second = (exchange.body for exchange in endpoint.exchanges)
    assert first["stream_options"] == {"include_usage": True}
    assert sum(map(weight_of, second["messages"])) <= 4096 < sum(map(weight_of, first["messages"]))
    await responder.aclose()


def test_without_a_word_of_the_server_it_is_a_stated_estimate() -> None:
    assert (Window(None, here=True).tokens, Window(None, here=False).tokens) == (HERE, ELSEWHERE)


def test_who_says_the_context_knows_better_than_the_server() -> None:
    window = Window(2048, here=True)
    window.told(100_000)
    assert window.tokens == 2048


@pytest.mark.parametrize("tokens", [0, -1, 767])
def test_a_context_without_room_for_a_conversation_is_refused(tokens: int) -> None:
    with pytest.raises(SettingError, match="context"):
        Window(tokens, here=True)
