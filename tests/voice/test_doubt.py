"""How much doubt words may have."""

from dataclasses import replace

import pytest

from discussion_helper.voice.doubt import A_SECOND, AGAIN, BASE, MOST, MOST_GOING_ON, MOST_UNHEARD, STOP, Doubt
from discussion_helper.voice.words import Words


@pytest.mark.parametrize(
    ("text", "voiced_s", "doubt", "small"),
    [
        ("Hello?", 0.3, 1.0, True),
        ("Hello?", 0.3, 1.1, False),
        ("five five", 0.7, 1.15, True),
        ("No way for it.", 0.7, 1.25, False),
        ("go forward ten meters", 1.5, 1.29, True),
        ("Okay, man.", 1.5, 1.79, False),
        ("We're not. We're not.", 2.0, 1.42, False),
        ("The next generation of those prices", 6.0, 1.47, False),
        ("I don't think so.", 0.13, 0.5, False),
        ("I don't think so.", 0.5, 0.5, True),
        ("Is this all?", 0.16, 0.7, True),
    ],
)
def test_the_less_voice_the_less_doubt_and_no_more_words_than_can_be_said(
    text: str, voiced_s: float, doubt: float, small: bool
) -> None:
    assert small is Doubt().is_small(Words(text=text, final=True, voiced_s=voiced_s, doubt=doubt))


def test_the_bar_is_where_it_says() -> None:
    for voiced_s in (0.2, 0.5, 1.0, 1.3, 5.0):
        most = min(MOST, BASE + A_SECOND * voiced_s)
        for more, stops in ((0.0, False), (STOP, True)):
            for off, small in ((-0.001, True), (0.001, False)):
                words = Words(text="stop", final=True, voiced_s=voiced_s, doubt=most + more + off)
                assert small is Doubt().is_small(words, stops=stops)


@pytest.mark.parametrize("voiced_s", [0.4, 0.9, 2.8])
def test_while_the_voice_goes_on_it_is_lower_at_all_lengths(voiced_s: float) -> None:
    assert Doubt().is_small(Words(text="go on", voiced_s=voiced_s, doubt=MOST_GOING_ON))
    assert not Doubt().is_small(Words(text="go on", voiced_s=voiced_s, doubt=MOST_GOING_ON + 0.01))


def test_where_no_voice_is_heard_it_is_lower_and_the_same_at_all_lengths() -> None:
    for voiced_s in (0.8, 5.0):
        assert Doubt().is_small(Words(text="stop", voiced_s=voiced_s, doubt=MOST_UNHEARD), stops=True, unheard=True)
        assert not Doubt().is_small(
            Words(text="stop", voiced_s=voiced_s, doubt=MOST_UNHEARD + 0.01), stops=True, unheard=True
        )


def test_words_that_were_read_in_less_of_the_voice_may_be_more_doubtful_once_it_has_paused() -> None:
    for voiced_s in (0.7, 1.9):
        most = min(MOST, BASE + A_SECOND * voiced_s) + AGAIN
        for off, small in ((-0.001, True), (0.001, False)):
            words = Words(text="five five", final=True, voiced_s=voiced_s, doubt=most + off)
            assert small is Doubt().is_small(words, again=True)

    goes_on = Words(text="We're not. We're not", voiced_s=1.4, doubt=MOST_GOING_ON + 0.01)
    assert not Doubt().is_small(goes_on, again=True)


def test_a_shift_moves_it() -> None:
    words = Words(text="five five", final=True, voiced_s=0.7, doubt=1.3)

    assert not Doubt().is_small(words)
    assert Doubt(shift=0.2).is_small(words)


def test_a_phrase_said_three_times_in_a_row_is_no_persons() -> None:
    """A recogniser that hears babble says one over and over, and is fairly sure of it."""
    loop = Words(text="He's a good one. He's a good one. He's a good one.", final=True, voiced_s=5.8, doubt=0.5)

    assert not Doubt().is_small(loop)
    assert not Doubt().is_small(loop, again=True)
    assert Doubt().is_small(Words(text="he's a good one, a good one", final=True, voiced_s=2.0, doubt=0.5))
    assert Doubt().is_small(Words(text="five five five", final=True, voiced_s=1.5, doubt=0.5))
    assert Doubt().is_small(Words(text="stop it stop it stop it", final=True, voiced_s=1.5, doubt=0.5), stops=True)


def test_words_that_are_found_again_in_much_voice_are_no_surer_for_it() -> None:
    words = Words(text="It's just a tonal. It's got to be some insane day.", final=True, doubt=MOST + 0.17)

    assert Doubt().is_small(replace(words, voiced_s=1.9), again=True)
    assert not Doubt().is_small(replace(words, voiced_s=5.9), again=True)
