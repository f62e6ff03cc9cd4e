"""The session's language: when it stays and when it changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.stt.sticky import Detection, LanguageRule, SessionLanguage

RULE = LanguageRule(turns=2, least_s=1.0, least_probability=0.7)
EN, DE, FR = (Detection(code, 0.9, 2.0) for code in ("en", "de", "fr"))
SHORT, UNSURE = Detection("de", 0.95, 0.6), Detection("de", 0.6, 2.0)


@pytest.mark.parametrize(
    ("turns", "read_in"),
    [
        ([EN, DE, EN, DE], "en en en en"),  # one turn is no change
        ([EN, DE, DE, DE], "en en de de"),  # the second one is read in it
        ([EN, DE, FR, DE], "en en en en"),  # not the same one twice
        ([EN, DE, FR, FR], "en en en fr"),
        ([EN, DE, UNSURE, DE], "en en en en"),  # what is not clear begins the count anew
        ([EN, DE, SHORT, DE], "en en en de"),  # what is short counts for nothing
        ([EN, SHORT, SHORT, SHORT], "en en en en"),
        ([EN, DE, DE, EN, EN], "en en de de en"),  # and back
        ([SHORT, UNSURE, EN, DE], "de de en en"),  # until one is clear each is read in its own
        ([Detection("de", 0.7, 1.0), EN], "de de"),  # at the limits it is clear
    ],
)
def test_a_language_stays_until_it_is_clearly_another_one(turns: list[Detection], read_in: str) -> None:
    session, languages = SessionLanguage(rule=RULE), []
    for turn in turns:
        languages.append(session.of(turn))
        session.take(turn)

    assert read_in.split() == languages


def test_only_a_change_is_told() -> None:
    session = SessionLanguage(rule=RULE)

    assert [False, False, True, False] == [session.take(turn) for turn in (EN, DE, DE, DE)]


@given(st.lists(st.sampled_from([EN, DE, FR, SHORT, UNSURE])))
def test_a_fixed_language_never_changes(turns: list[Detection]) -> None:
    session = SessionLanguage("en", rule=RULE)

    assert not any(session.take(turn) or session.of(turn) != "en" for turn in turns)


@given(st.lists(st.sampled_from([EN, DE, FR, SHORT, UNSURE])))
def test_to_ask_changes_nothing(turns: list[Detection]) -> None:
    asked, other = SessionLanguage(rule=RULE), SessionLanguage(rule=RULE)
    for turn in turns:
        assert asked.of(turn) == asked.of(turn)
        assert asked.take(turn) == other.take(turn)
        assert asked.language == other.language
