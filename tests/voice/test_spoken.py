"""What was heard of the agent, and when."""

from discussion_helper.voice.spoken import SENTENCES, Spoken


def test_a_sentence_counts_where_something_of_it_was_heard() -> None:
    spoken = Spoken()
    spoken.begin("The museum opens at nine.", 10.0)
    spoken.end(12.0)

    assert [[], ["The museum opens at nine."], ["The museum opens at nine."], []] == [
        spoken.between(*span) for span in ((8.0, 10.0), (9.0, 10.5), (11.5, 20.0), (12.0, 20.0))
    ]


def test_one_that_is_heard_at_this_moment_has_no_end() -> None:
    spoken = Spoken()
    spoken.begin("The museum opens at nine.", 10.0)

    assert ["The museum opens at nine."] == spoken.between(3_600.0, 3_601.0)


def test_sentences_come_in_their_order_and_one_ends_where_the_next_begins() -> None:
    spoken = Spoken()
    for number in range(3):
        spoken.begin(str(number), float(number))
    spoken.end(3.0)
    spoken.end(9.0)

    assert ["0", "1", "2"] == spoken.between(0.5, 2.5)
    assert ["2"] == spoken.between(2.5, 5.0)
    assert [] == spoken.between(3.0, 5.0)


def test_hours_of_talk_need_no_more_memory() -> None:
    spoken = Spoken()
    for number in range(1_000):
        spoken.begin(str(number), float(number))

    assert SENTENCES == len(spoken.between(0.0, 2_000.0))
