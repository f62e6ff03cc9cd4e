"""The system prompt asks for speech in the session's language."""

import pytest

from discussion_helper.responder.prompt import system_prompt


def test_it_asks_for_short_speech() -> None:
    assert "spoken aloud" in system_prompt()
    assert "short" in system_prompt()
    assert len(system_prompt()) < 200  # every token is read before the first reply


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("de", "Answer in German."),
        ("pt-BR", "Answer in Portuguese."),
        ("ZH_tw", "Answer in Chinese."),
        ("xx", "Answer in the language with the code xx."),
        ("", "Answer in the user's language."),
    ],
)
def test_it_names_the_language(code: str, says: str) -> None:
    assert system_prompt(code).endswith(says)


def test_own_text_replaces_who_it_is_and_keeps_the_rest() -> None:
    prompt = system_prompt("en", text="  You are a pirate. ")
    assert prompt.startswith("You are a pirate. Your answers are spoken aloud")
    assert prompt.endswith("Answer in English.")
    assert "assistant" not in prompt
