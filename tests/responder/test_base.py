"""What responders share: `--llm`, base URLs, keys, messages and clauses."""

from pathlib import Path
from typing import Any

import pytest

from discussion_helper.errors import SettingError
from discussion_helper.responder.base import (
    Clauses,
    EmbeddedChoice,
    EndpointChoice,
    api_key_for,
    checked_base_url,
    is_loopback,
    parse_llm,
    with_system,
)
from discussion_helper.types import Message


@pytest.mark.parametrize("spec", ["", "embedded", " embedded "])
def test_the_embedded_model_is_the_default(spec: str) -> None:
    assert parse_llm(spec) == EmbeddedChoice()


def test_a_file_is_an_embedded_model() -> None:
    assert parse_llm("models/Better.GGUF") == EmbeddedChoice(Path("models/Better.GGUF"))


@pytest.mark.parametrize(
    ("spec", "model", "base_url"),
    [
        ("llama3.2@http://127.0.0.1:11434/v1", "llama3.2", "http://127.0.0.1:11434/v1"),
        ("qwen3:4b@http://localhost:11434", "qwen3:4b", "http://localhost:11434/v1"),
        ("meta-llama/Llama-3@https://example.org/api/v1/", "meta-llama/Llama-3", "https://example.org/api/v1"),
        ("claude@2024@HTTPS://example.org/v1/chat/completions", "claude@2024", "https://example.org/v1"),
        ("m@http://[::1]:8080", "m", "http://[::1]:8080/v1"),
    ],
)
def test_an_endpoint_is_a_model_at_an_address(spec: str, model: str, base_url: str) -> None:
    choice = parse_llm(spec)
    assert choice == EndpointChoice(model, base_url)
    assert parse_llm(str(choice)) == choice


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("http://127.0.0.1:11434/v1", "names an address but no model"),
        ("@http://127.0.0.1:11434/v1", "names an address but no model"),
        ("sk-secret", "names neither a model file nor an endpoint"),
        ("m@ftp://host/v1", "names neither"),
        ("m@http://sk-secret@host/v1", "OPENAI_API_KEY"),
        ("m@https://user:sk-secret@host/v1", "OPENAI_API_KEY"),
        ("m@http://host:99999/v1", "is not a valid URL"),
        ("m@http:///v1", "is not a valid URL"),
        ("m@http://ho st/v1", "is not a valid URL"),
        ("m@http://host/v1?key=sk-secret", "holds a query"),
    ],
)
def test_a_bad_spec_is_refused_and_not_repeated(spec: str, says: str) -> None:
    with pytest.raises(SettingError, match=r"^llm ") as caught:
        parse_llm(spec)
    assert says in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert caught.value.fix


@pytest.mark.parametrize("url", ["", "host", "file:///etc/passwd", "http://[::1", "http://host\n/v1", "http://host:0"])
def test_a_bad_base_url_is_refused_by_name(url: str) -> None:
    with pytest.raises(SettingError, match=r"^base_url "):
        checked_base_url(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/v1", "http://[::1]/v1", "http://localhost/v1", "http://a.localhost"]
)
def test_loopback_addresses_are_known(url: str) -> None:
    assert is_loopback(url)


@pytest.mark.parametrize("url", ["http://192.168.1.2/v1", "https://localhost.example.org/v1", "http://128.0.0.1"])
def test_other_addresses_are_not_loopback(url: str) -> None:
    assert not is_loopback(url)


def test_the_key_goes_only_where_nobody_can_read_it() -> None:
    environ = {"OPENAI_API_KEY": " sk-secret\n"}
    assert api_key_for("https://example.org/v1", environ) == "sk-secret"
    assert api_key_for("http://127.0.0.1:8000/v1", environ) == "sk-secret"
    assert api_key_for("http://192.168.1.2:8000/v1", environ) is None
    assert api_key_for("https://example.org/v1", {}) is None
    assert api_key_for("https://example.org/v1", {"OPENAI_API_KEY": " "}) is None


def test_the_system_prompt_comes_first_and_turns_alternate() -> None:
    messages: list[Message] = [
        {"role": "user", "content": "Stop."},
        {"role": "user", "content": "Tell me more."},
        {"role": "assistant", "content": "Gladly."},
    ]
    assert with_system("Be brief.", messages) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Stop.\nTell me more."},
        {"role": "assistant", "content": "Gladly."},
    ]
    assert with_system("", messages[:1]) == messages[:1]
    assert messages[0]["content"] == "Stop."


@pytest.mark.parametrize("message", [{"role": "system", "content": "x"}, {"role": "user"}, {"content": "x"}])
def test_a_message_that_is_no_turn_is_refused(message: Any) -> None:
    with pytest.raises(ValueError, match="a message needs a role"):
        with_system("", [message])


def test_clauses_come_out_as_they_complete() -> None:
    clauses = Clauses(max_chars=1000)
    assert clauses.feed("\n I like") == []
    assert clauses.empty
    assert clauses.feed(" dogs. Do") == ["I like dogs."]
    assert clauses.feed(" you") == []
    assert clauses.flush() == ["Do you"]
    assert not clauses.empty


def test_a_reply_is_cut_at_its_longest() -> None:
    clauses = Clauses(max_chars=12)
    out = clauses.feed("One. Two. Three. Four.")
    assert clauses.full
    assert " ".join(out + clauses.feed(" Five.") + clauses.flush()) == "One. Two. Th"


def test_half_an_emoji_does_not_make_a_request_that_cannot_be_sent() -> None:
    request = with_system("", [{"role": "user", "content": "hello \ud83d there"}])

    assert "hello ? there" == request[0]["content"]
