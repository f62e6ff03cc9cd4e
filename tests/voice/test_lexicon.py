"""What is said without wanting the floor, and what always takes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.voice.lexicon import Lexicon, listed, words_of

LANGUAGES = sorted(listed())


def test_twelve_languages_and_more_have_at_least_ten_of_each() -> None:
    assert 12 <= len(LANGUAGES)
    for lists in listed().values():
        assert 10 <= len(set(lists["responses"]))
        assert 10 <= len(set(lists["stop"]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_responses_are_none_of_the_stop_words_of_a_language_and_the_other_way_round(language: str) -> None:
    lexicon, lists = Lexicon(language), listed()[language]

    assert [] == [phrase for phrase in lists["responses"] if not lexicon.is_backchannel(phrase)]
    assert [] == [phrase for phrase in lists["responses"] if lexicon.stops(phrase) or lexicon.count(phrase)]
    assert [] == [phrase for phrase in lists["stop"] if not lexicon.stops(phrase) or lexicon.is_backchannel(phrase)]


@pytest.mark.parametrize(
    "text",
    [
        *("Mm-hmm.", "mm", "Mhm", "Hmm...", "Uh-huh!", "Yeah, right.", "OK", "I see.", "Ah, yeah.", "Thank you."),
        *("Hahaha", "Ha ha ha!", "Heh heh.", "That's right.", "Oh my god!", "Oops!", "Whoopsie, Daisy."),
    ],
)
def test_however_a_recogniser_writes_it_a_response_is_one(text: str) -> None:
    assert Lexicon("en").is_backchannel(text)
    assert 0 == Lexicon("en").count(text)


@pytest.mark.parametrize(
    ("text", "words"), [("Yes, but what about Paris?", 4), ("Oh, that's wrong", 2), ("Hi.", 1), ("", 0)]
)
def test_whoever_says_more_than_that_is_counted_by_the_rest(text: str, words: int) -> None:
    assert not Lexicon("en").is_backchannel(text)
    assert words == Lexicon("en").count(text)


@pytest.mark.parametrize("text", ["Stop.", "Oh no, wait a second.", "STOP!!", "Okay, hold on", "that\u2019s enough"])
def test_a_stop_word_is_found_anywhere(text: str) -> None:
    assert Lexicon("en").stops(text)


@pytest.mark.parametrize("text", ["Stopping by woods", "I know", "Waiter!"])
def test_a_word_that_only_begins_like_one_does_not_stop(text: str) -> None:
    assert not Lexicon("en").stops(text)


@pytest.mark.parametrize(
    ("language", "text"),
    [("ja", "うん、そうですね。"), ("zh", "嗯，对，好的。"), ("ko", "네, 네."), ("de-AT", "Genau!")],
)
def test_scripts_without_spaces_and_other_forms_of_a_code_are_known(language: str, text: str) -> None:
    assert Lexicon(language).is_backchannel(text)


def test_a_script_without_spaces_is_counted_by_characters_and_stopped_within_a_text() -> None:
    assert 4 == Lexicon("zh").count("北京天气")
    assert Lexicon("zh").stops("你等一下吧")


def test_an_unknown_language_gets_all_of_them() -> None:
    for language in (None, "", "tlh"):
        assert Lexicon(language).is_backchannel("genau")
        assert Lexicon(language).stops("arrête")


def test_the_users_own_words_are_added_and_win_over_the_lists() -> None:
    lexicon = Lexicon("en", backchannels=["word up", "no"], stop_words=["banana split"])

    assert lexicon.is_backchannel("Word up!")
    assert lexicon.is_backchannel("No.")
    assert not lexicon.stops("no")
    assert lexicon.stops("a Banana Split please")


@given(st.text(max_size=60))
def test_any_text_is_judged_without_an_error(text: str) -> None:
    lexicon = Lexicon("en")

    assert lexicon.is_backchannel(text) <= (lexicon.count(text) == 0)
    assert lexicon.is_backchannel(text) <= bool(words_of(text))


@pytest.mark.parametrize("text", ["Stop.", "No, no, stop!", "Okay, wait.", "Hmm, hold on", "stop stop"])
def test_stop_words_with_nothing_beside_them_are_only_that(text: str) -> None:
    assert Lexicon("en").only_stops(text)


@pytest.mark.parametrize("text", ["Stop, what is the time?", "Yeah", "", "Wait for me"])
def test_whoever_says_more_or_no_stop_word_wants_something(text: str) -> None:
    assert not Lexicon("en").only_stops(text)


@pytest.mark.parametrize("hum", ["n", "h", "uh", "um", "huh", "ha", "nh"])
def test_a_hum_that_does_not_end_is_read_at_once(hum: str) -> None:
    """A pattern that can be read in two ways takes twice as long with each letter: 25 of them took half a minute."""
    assert Lexicon("en").is_backchannel(hum * 2000)
    assert not Lexicon("en").is_backchannel(hum * 2000 + "x")
