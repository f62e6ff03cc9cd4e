"""What is said several times in a row."""

import pytest

from discussion_helper.repeats import longest_run


@pytest.mark.parametrize(
    ("text", "run"),
    [
        ("", 0),
        ("yes", 1),
        ("No, no, no!", 3),
        ("so it is it is it is", 3),
        ("what is it what is it what is it", 3),
        ("one two three four one two three four", 2),
        ("hahahaha", 4),
        ("はははは", 4),
    ],
)
def test_how_often_something_is_said_in_a_row(text: str, run: int) -> None:
    assert longest_run(text) == run


def test_a_shortest_phrase_leaves_single_words_out() -> None:
    assert 3 == longest_run("no no no")
    assert 1 == longest_run("no no no", shortest=2)
    assert 3 == longest_run("He's a good one. He's a good one. He's a good one.", shortest=2)
