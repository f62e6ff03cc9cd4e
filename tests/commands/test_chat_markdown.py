"""Markdown as lines for a terminal."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.commands import chat_markdown
from discussion_helper.commands.chat_markdown import StreamedMarkdown, clean_lines, markdown_lines
from discussion_helper.commands.wrap import Line, cells

PIECES = (
    *("# h", "\n", "\n\n", "- ", "1. ", "> ", "```", "`", "**", "*", "_", "|", "[x](y)", "![i](u)", "<b>", "&#27;"),
    *("| a | b |\n|---|---|\n| c | d |", "&#8238;", "&#x9b;", "\x1b[2J", "\x9b", "\u202e", "日本語", "\t", "    "),
    *("word ", "---", "~~", "\r", "\x0b", "\x0c", "\u2028", "\ud800", "\\", "http://a.b/c ", "<!--", "-->", "&amp;"),
)
TEXT = """# Head

A *paragraph* with **bold** and `code`.

1. one

2. two

```python
def f(x):
\treturn x
```

| a | b |
|---|---|
| 1 | 2 |

> quoted
"""


def rows(lines: list[Line]) -> list[str]:
    return ["".join(text for _, text in line).rstrip() for line in lines]


def test_blocks_are_apart_and_look_like_what_they_are() -> None:
    lines = markdown_lines(TEXT, 40)
    texts = rows(lines)

    assert ["A paragraph with bold and code."] == [text for text in texts if "paragraph" in text]
    assert {" 1. one", " 2. two"} <= set(texts)
    assert "Head" == texts[0]
    assert [" def f(x):", "     return x"] == [text for text in texts if "f(x)" in text or "return" in text]
    styles = {text: style for line in lines for style, text in line}
    assert "italic" in styles["paragraph"]
    assert "bold" in styles["bold"]
    assert "ansi" in styles["code"]
    assert not any("bg:" in style for style in styles.values())


@pytest.mark.parametrize("step", [1, 7, 50])
def test_a_text_that_streams_in_ends_as_the_whole_one(step: int) -> None:
    streamed = StreamedMarkdown()
    for end in range(0, len(TEXT), step):
        streamed.lines(TEXT[:end], 40)

    assert rows(markdown_lines(TEXT, 40)) == rows(streamed.lines(TEXT, 40, whole=True))


def test_blocks_that_are_complete_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def rows_of(text: str, width: int) -> list[Any]:
        made.append(text)
        return []

    monkeypatch.setattr(chat_markdown, "_rows", rows_of)
    streamed = StreamedMarkdown()
    for end in range(len("one\n\ntwo\n\nthree") + 1):
        streamed.lines("one\n\ntwo\n\nthree"[:end], 40)

    late = made[made.index("thr") :]
    assert ["one\n\n", "two\n\n"] == [text for text in dict.fromkeys(made) if text.endswith("\n\n")]
    assert {"two\n\n", "thr", "thre", "three"} == set(late)


def test_another_text_and_another_width_begin_anew() -> None:
    streamed = StreamedMarkdown()
    streamed.lines("one\n\ntwo", 40)
    assert ["six"] == rows(streamed.lines("six", 40))
    streamed.lines("one two three four\n\ntwo", 40)
    assert ["one two", "three four", "", "two"] == rows(streamed.lines("one two three four\n\ntwo", 12))


def test_a_very_long_block_is_shown_as_it_is_written() -> None:
    code = "```python\n" + "x = f(1, 2)\n" * 1000
    streamed = StreamedMarkdown()
    for end in range(0, len(code), 500):
        lines = streamed.lines(code[:end], 40)
    assert "```python" == rows(lines)[0]
    assert "x = f(1, 2)" == rows(markdown_lines(code + "```", 40))[-2]


@pytest.mark.parametrize("width", [0, 1, 5, 11])
def test_a_narrow_text_is_shown_as_it_is_written(width: int) -> None:
    assert "**a**" == "".join(rows(markdown_lines("**a**", width)))


def test_lines_are_harmless() -> None:
    assert ["a b", "", "    c\ufffd[2J"] == clean_lines("a\u2028b\r\n\r\tc\x1b[2J")


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from([1, 11, 12, 20, 78]))
def test_nothing_that_a_terminal_obeys_comes_out_of_it(text: str, width: int) -> None:
    lines = [*markdown_lines(text, width), *StreamedMarkdown().lines(text, width)]
    assert all(character.isprintable() and character != "\u202e" for line in rows(lines) for character in line)
    assert width < 12 or all(cells(line) <= width for line in lines)
