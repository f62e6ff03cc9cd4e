"""Whether a text sounds finished."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.turn.completeness import Completeness, completeness_languages

FINISHED, UNFINISHED = 0.6, 0.35

OVER = {
    "en": "Yes.|no|Stop.|Thank you very much.|Turn it off.|What's your username?|What are you looking for?"
    "|That's what I want.|I want a pizza.|How are you|What time is it|Seven.",
    "de": "Ja.|Nein|Stopp.|Vielen Dank.|Ich möchte eine Pizza.|Wie spät ist es?|Mach das Licht aus."
    "|Das weiß ich, weil es hier steht.",
    "fr": "Oui.|Non|Merci beaucoup.|Je voudrais une pizza.|Quelle heure est-il ?|D'accord.",
    "es": "Sí.|No|Muchas gracias.|Quiero una pizza.|¿Qué hora es?|Para.",
    "it": "Sì.|No|Grazie mille.|Vorrei una pizza.|Che ore sono?|Va bene.",
    "nl": "Ja.|Nee|Dank je wel.|Ik wil een pizza.|Hoe laat is het?|Stop.",
    "pt": "Sim.|Não|Muito obrigado.|Quero uma pizza.|Que horas são?|Pare.",
}
GOES_ON = {
    "en": "I want|I want a|and|I went to the store and|So, um|We have...|Could you please"
    "|Well, I think|My name is|Set a timer for|Five five|The number is",
    "de": "Ich möchte|Ich will eine|und|Ich war im Laden und|Also, ähm|Kannst du mir"
    "|Mein Name ist|Stell einen Wecker für|weil",
    "fr": "Je voudrais|Je veux une|et|Je suis allé au magasin et|Alors, euh|Pouvez-vous|Mon nom est|parce que",
    "es": "Me gustaría|Quiero una|y|Fui a la tienda y|Pues, eh|Me puede|Mi nombre es|porque",
    "it": "Vorrei sapere|Voglio una|e|Sono andato al negozio e|Allora, ehm|Mi può|Il mio nome è|Sono stanco perché",
    "nl": "Ik wil|Ik wil een|en|Ik ging naar de winkel en|Nou, eh|Kunt u me|Mijn naam is|omdat",
    "pt": "Eu gostaria|Quero uma|e|Fui à loja e|Bom, hum|Pode me|Meu nome é|porque",
}


def cases(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(language, text) for language, texts in table.items() for text in texts.split("|")]


@pytest.mark.parametrize(("language", "text"), cases(OVER))
def test_a_finished_text_is_complete(language: str, text: str) -> None:
    assert (Completeness(language).of(text) or 0.0) >= FINISHED


@pytest.mark.parametrize(("language", "text"), cases(GOES_ON))
def test_an_unfinished_text_is_not(language: str, text: str) -> None:
    score = Completeness(language).of(text)

    assert score is not None
    assert score <= UNFINISHED


def test_of_an_unknown_language_and_of_no_words_there_is_no_opinion() -> None:
    assert Completeness("cs").of("Ano.") is None
    assert Completeness(None).of("and") is None
    assert Completeness("en").of(" ... ") is None
    assert Completeness("en-GB").of("and") == Completeness("en").of("and")
    assert set(completeness_languages()) >= {"en", "de", "fr", "es", "it", "nl", "pt"}


@pytest.mark.parametrize(
    ("text", "sure", "doubted"),
    [("I want a pizza.", 0.7, None), ("I want a pizza", 0.5, None), ("Okay.", 0.97, 0.97), ("I want a", 0.03, 0.03)],
)
def test_of_a_text_that_is_in_doubt_a_full_stop_says_nothing(text: str, sure: float, doubted: float | None) -> None:
    judge = Completeness("en")

    assert (judge.of(text, doubt=0.9), judge.of(text, doubt=1.1)) == (sure, doubted)


def test_short_answers_count_as_whole_however_many_there_are() -> None:
    judge = Completeness("en")

    assert judge.of("Yes, please.") == judge.of("Okay, thanks.") == judge.of("No.")


@pytest.mark.parametrize("language", completeness_languages())
@given(text=st.text(max_size=60))
def test_any_text_has_a_score_or_none(language: str, text: str) -> None:
    score = Completeness(language).of(text)

    assert score is None or 0.0 <= score <= 1.0
