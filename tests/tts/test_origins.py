"""Which written words spoken letters come from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.tts.origins import letters, origins_of
from discussion_helper.tts.speakable import speakable

TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(
            [
                "word",
                "**b**",
                "$3.50",
                "22,1 °C",
                "5 km",
                "[a b](http://c.d/e)",
                "Dr.",
                "🙂",
                "你好",
                "ไทย",
                "-",
                "1/2",
                "\n",
            ]
        ),
        max_size=8,
    ).map(" ".join),
)


def read(text: str, language: str = "en") -> list[tuple[str, str]]:
    """Each written word, and what is spoken for it."""
    spoken = speakable(text, language)
    found, end, count = [], 0, 0
    for origin in origins_of(text, spoken, language):
        found.append((text[end : origin.end].strip(), letters(spoken)[count : origin.letters]))
        end, count = origin.end, origin.letters
    return found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Yes, I do.", [("Yes,", "Yes"), ("I", "I"), ("do.", "do")]),
        ("It is $3.50 now", [("It", "It"), ("is", "is"), ("$3.50", "threedollarsfifty"), ("now", "now")]),
        ("**Dr. Smith** came", [("**Dr.", "Doctor"), ("Smith**", "Smith"), ("came", "came")]),
        ("walk 5 km more", [("walk", "walk"), ("5", "five"), ("km", "kilometers"), ("more", "more")]),
        ("on May 3, at two", [("on", "on"), ("May", "May"), ("3,", "third"), ("at", "at"), ("two", "two")]),
        (
            "See [the long title](https://a.b/c) of it",
            [
                ("See", "See"),
                ("[the", "the"),
                ("long", "long"),
                ("title](https://a.b/c)", "title"),
                ("of", "of"),
                ("it", "it"),
            ],
        ),
        ("ask www.example.com now", [("ask", "ask"), ("www.example.com", "exampledotcom"), ("now", "now")]),
        ("- **one** 🙂", [("- **one** 🙂", "one")]),
        ("good 👍 idea", [("good 👍", "good"), ("idea", "idea")]),
        ("你好，3个。", [("你", "你"), ("好，", "好"), ("3", "3"), ("个。", "个")]),
        ("", []),
        ("🙂", []),
    ],
)
def test_each_word_has_what_is_said_for_it(text: str, found: list[tuple[str, str]]) -> None:
    assert read(text) == found


def test_a_unit_that_needs_its_number_is_heard_as_written() -> None:
    found = read("Es hat 22,1 °C draußen", "de")
    assert found[2:] == [("22,1", "zweiundzwanzigKommaeins"), ("°C", "GradCelsius"), ("draußen", "draußen")]


@given(TEXTS)
def test_all_letters_are_given_away_in_order(text: str) -> None:
    spoken = speakable(text)
    found = origins_of(text, spoken, "en")
    assert [origin.end for origin in found] == sorted({origin.end for origin in found})
    assert [origin.letters for origin in found] == sorted({origin.letters for origin in found})
    assert (found[-1].letters if found else 0) == len(letters(spoken))


def test_a_long_text_that_cannot_be_parted_takes_no_time() -> None:
    text = "[" + "a long title " * 30 + "](https://a.b/c) 5 km"
    found = origins_of(text, speakable(text), "en")
    assert found[-1].end == len(text)
