"""The clause splitter."""

from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.responder.clauses import ClauseSplitter


def split(text: str, **options: int) -> list[str]:
    splitter = ClauseSplitter(**options)
    return [*splitter.feed(text), *splitter.flush()]


def bare(text: str) -> str:
    return "".join(text.split())


TEXTS = st.one_of(
    st.text(max_size=80),
    st.lists(
        st.sampled_from(
            [
                *"abIÄéя你はไมअع .,;:!?…—–-*_`~[](){}\"'“”«»„‘’。！？，、।؟\n\t1369#|>@/",
                "Dr.", " Dr. ", "e.g. ", "3.5", "...", "```", "```\n", "~~~\n", "\n\n", "**", "https://a.b/c?d=e",
                " word", " Word", " the", "U.S. ", "\n1. ", "\n- ", "[x](y.z)", "No. ", "👍🏽", "\u0301", "\u200d",
            ]
        ),
        max_size=60,
    ).map("".join),
)  # fmt: skip


@given(TEXTS, st.data())
@settings(max_examples=400, deadline=None)
def test_how_the_text_is_cut_into_chunks_changes_nothing(text: str, data: st.DataObject) -> None:
    options = {"first_min_words": 2, "min_words": 4, "max_chars": 30}
    splitter, items, position = ClauseSplitter(**options), [], 0
    while position < len(text):
        size = data.draw(st.integers(1, 9))
        items += splitter.feed(text[position : position + size])
        position += size
    assert items + splitter.flush() == split(text, **options)


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_nothing_is_lost_added_or_reordered(text: str) -> None:
    items = split(text, first_min_words=2, min_words=4, max_chars=30)
    assert bare("".join(items)) == bare(text)
    assert all(item and item == item.strip() for item in items)
