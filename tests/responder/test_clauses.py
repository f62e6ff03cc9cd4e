"""The clause splitter."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.responder.clauses import ClauseSplitter, clauses_of


def split(text: str, **options: int) -> list[str]:
    splitter = ClauseSplitter(**options)
    return [*splitter.feed(text), *splitter.flush()]


def bare(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "Pi is 3.14 and e is 2.718.",
        "It costs $3.50 today.",
        "Dr. Smith met Mrs. Jones.",
        "Prof. Dr. Klein is here.",
        "Use brokers e.g. this one.",
        "Backwards, i.e. not forwards.",
        "The U.S. economy grew.",
        "At 5 p.m. we leave.",
        "Ask George W. Bush.",
        "J. R. R. Tolkien wrote it.",
        "Acme Inc. is closed.",
        "See No. 5 first.",
        "Look at Fig. 3 below.",
        "He came on Jan. 5 or later.",
        "It is yes vs. no.",
        "Visit example.com for more.",
        "Visit https://example.com/a.b?c=d!e for more.",
        "Mail me.you@example.org tonight.",
        "Version 1.2.3 is out.",
        "Well... maybe.",
        "Well… maybe.",
        "1. Eggs",
        "a. Eggs",
        "Am 3. Oktober ist frei.",
        "Das kostet z.B. mehr.",
        "Das kostet z. B. Geld.",
        "W. G. Sebald wrote it.",
        "Look at ![a cat. A dog](cat.png) here.",
        "Read [this. And that](https://example.com/a?b) now.",
        "Run `a.b(c)? d : e` now.",
        "The value a != b matters.",
        "He said (really!) nothing.",
        '"Really?" he asked.',
        "1,000,000 people came.",
        "Open at 14:30 or 15:00.",
        "A well-known, long-term plan.",
        "St. Louis is far.",
        "etc. and so on",
        "Sure, yes.",
        "Hi.",
        "...",
        "👋",
    ],
)
def test_stays_one_item(text: str) -> None:
    assert split(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "One.¦ Two.",
        "One?¦ Two!¦ Three.",
        "No.¦ I can't.",
        "So do I.¦ Good.",
        "Take vitamin C.¦ It helps.",
        "It was 1999.¦ Then came 2000.",
        "I bought apples etc.¦ Then I left.",
        "We leave at 5 p.m.¦ Be there.",
        '"Go!"|Then he left.',
        "He said “no.”¦ She left.",
        "(It works.)¦ Good.",
        "**Bold!**¦ Plain.",
        "*Really?*¦ Yes.",
        "See example.com.¦ It is good.",
        "Wait...¦ What?",
        "Was it https://example.com/x?¦ Yes.",
        "Bonjour !¦ Ça va ?¦ Oui.",
        "« Bonjour ! »¦ Il part.",
        "« Oui.¦ Non. »¦ Il part.",
        "你好。¦我很高兴！¦你呢？¦好",
        "「はい。」¦そうです。",
        "「你好！」¦好。",
        "नमस्ते।¦ कैसे हो?",
        "مرحبا.¦ كيف حالك؟¦ بخير.",
        "یہ اچھا ہے۔¦ شکریہ۔",
        "Τι κάνεις;¦ Καλά.",
        "ሰላም።¦እንዴት ነህ፧¦ደህና።",
        "မင်္ဂလာပါ။¦နေကောင်းလား။",
        "សួស្តី។¦អរគុណ។",
        "Բարեւ։¦ Լավ։",
        "ok.¦你好",
        "The first item:\n¦- one\n¦- two",
        "First line\n¦Second line",
        "A paragraph.\n\n¦Another one.",
        "1. Eggs\n¦2. Milk",
        "# Title\n¦Text.",
        "| a | b |\n¦|---|---|\n| 1 | 2 |\n¦",
        "Here:\n¦```py\nx = 1. y? z!\n\nend\n```\n¦Done.",
        "~~~\na. b? c\n~~~\n¦Done.",
        "Run this:¦ ```sh\nls. -l?\n```\n¦Done.",
        "```one. two``` and more.¦ Three",
        "Sure, I can help with that,¦ and with the rest.",
        "I can do that;¦ it is easy.",
        "Here is the thing:¦ it works.",
        "That is the thing —¦ it works.",
        "That is the thing -¦ it works.",
        "You could take the early train¦ and walk from there.",
        "我很高兴认识你，¦我们走吧。",
        "สวัสดีครับเพื่อนๆทุกคน¦ วันนี้อากาศดี",
        "Café says, Žižek agrees,¦ and Ångström too.",
    ],
)
def test_is_cut_at(text: str) -> None:
    assert split(text.replace("¦", "")) == [item.strip() for item in text.split("¦") if item]


@pytest.mark.parametrize("text", ["Hello there!", "Shall we?", "你好。", "नमस्ते।", "如何？", "Sure, I think—"])
def test_an_unmistakable_end_is_given_at_once(text: str) -> None:
    assert "".join(ClauseSplitter().feed(text)).endswith(text.strip())


def test_a_full_stop_waits_for_what_follows() -> None:
    splitter = ClauseSplitter()
    assert splitter.feed("It is 3.") == []
    assert splitter.feed("5") == []
    assert splitter.feed(" metres.") == []
    assert splitter.feed(" ") == ["It is 3.5 metres."]


def test_a_mark_after_an_item_was_given_opens_the_next() -> None:
    splitter = ClauseSplitter()
    assert splitter.feed("What?") == ["What?"]
    assert splitter.feed("! Yes") + splitter.flush() == ["! Yes"]


def test_only_the_first_words_may_be_cut_at_a_short_clause() -> None:
    text = "One two three, four five six seven, eight nine ten, eleven twelve thirteen fourteen fifteen, sixteen."
    assert split(text) == [
        "One two three,",
        "four five six seven,",
        "eight nine ten,",
        "eleven twelve thirteen fourteen fifteen, sixteen.",
    ]


def test_a_new_reply_starts_afresh_after_flush() -> None:
    splitter = ClauseSplitter()
    first = splitter.feed("Sure, I can do, all of it, with pleasure and joy") + splitter.flush()
    assert splitter.feed("Sure, I can do, all of it, with pleasure and joy") + splitter.flush() == first


def test_text_without_punctuation_is_cut_between_words() -> None:
    text = "word " * 200
    items = split(text)
    assert len(items) > 2
    assert all(item.replace("word", "").strip() == "" and 200 < len(item) <= 300 for item in items[:-1])


def test_text_without_punctuation_or_spaces_is_cut_too() -> None:
    assert max(map(len, split("很" * 1000))) <= 101
    assert max(map(len, split("x" * 5000))) <= 601


def test_an_accent_is_not_cut_from_its_letter() -> None:
    assert all(not item.startswith("\u0301") for item in split("e\u0301" * 700))


@pytest.mark.parametrize(
    "text",
    [
        ",",
        ".",
        "!",
        "\n",
        " ",
        '"',
        "`",
        "```\n",
        "[",
        "[x](",
        "e. ",
        "a, ",
        "...",
        "*",
        "¡",
        "。",
        "~~~x",
        "-\n",
        "\u0301",
    ],
)
def test_time_is_linear_in_the_text(text: str) -> None:
    started = time.perf_counter()
    split(text * (20_000 // len(text)))
    assert time.perf_counter() - started < 5


TEXTS = st.one_of(
    st.text(max_size=80),
    st.lists(
        st.sampled_from(
            [
                *"abIÄéя你はไमअع .,;:!?…—–-*_`~[](){}\"'“”«»„‘’。！？，、।؟\n\t1369#|>@/",
                *["Dr.", " Dr. ", "e.g. ", "3.5", "...", "```", "```\n", "~~~\n", "\n\n", "**", "https://a.b/c?d=e"],
                *[" word", " Word", " the", "U.S. ", "\n1. ", "\n- ", "[x](y.z)", "No. ", "👍🏽", "\u0301", " and "],
            ]
        ),
        max_size=60,
    ).map("".join),
)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (
            "Please enter your agent number followed by the pound key, please.",
            "Please enter your agent number followed",
        ),
        ("The sun sets over the sea with hues of orange.", "The sun sets over the sea"),
        ("Der Zug nach Hamburg fährt heute von Gleis acht.", "Der Zug nach Hamburg fährt heute"),
        ("Go to the end of it.", "Go to the end of it."),
        ("See https://example.com/a/b/c/d/e/f/g for more.", "See https://example.com/a/b/c/d/e/f/g for more."),
    ],
)
def test_a_long_first_clause_ends_before_a_phrase_of_its_own(text: str, first: str) -> None:
    assert split(text)[0] == first


def test_only_the_first_clause_ends_before_a_phrase() -> None:
    later = "The man in the house on the hill looked down at the people from the town."
    assert split(f"Yes. {later}") == ["Yes.", later]


@given(TEXTS, st.data())
@settings(max_examples=400)
def test_how_the_text_is_cut_into_chunks_changes_nothing(text: str, data: st.DataObject) -> None:
    options = {"first_min_words": 2, "min_words": 4, "max_chars": 30}
    splitter, items, position = ClauseSplitter(**options), [], 0
    while position < len(text):
        size = data.draw(st.integers(1, 9))
        items += splitter.feed(text[position : position + size])
        position += size
    assert items + splitter.flush() == split(text, **options)


@given(TEXTS)
@settings(max_examples=400)
def test_nothing_is_lost_added_or_reordered(text: str) -> None:
    items = split(text, first_min_words=2, min_words=4, max_chars=30)
    assert bare("".join(items)) == bare(text)
    assert all(item and item == item.strip() for item in items)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("", []),
        (" \n\t", []),
        ("...", ["..."]),
        ("Hello", ["Hello"]),
        ("Good morning. Dr. Smith is here, I think.", ["Good morning.", "Dr. Smith is here,", "I think."]),
        ("One line\nand another", ["One line", "and another"]),
    ],
)
def test_a_whole_text_in_clauses(text: str, clauses: list[str]) -> None:
    assert clauses_of(text) == clauses


@given(TEXTS)
def test_a_whole_text_is_cut_like_a_stream_of_it(text: str) -> None:
    splitter = ClauseSplitter()
    streamed = [item for character in text for item in splitter.feed(character)]
    assert clauses_of(text) == [*streamed, *splitter.flush()]
    assert bare("".join(clauses_of(text))) == bare(text)
