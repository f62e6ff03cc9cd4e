"""The picture of a chat as lines of styled text, for any size of terminal."""

from collections.abc import Iterator

from discussion_helper.commands.chat_entries import Called, Entry, Remark, Returned, Said, Spent, Thought, You
from discussion_helper.commands.chat_live import Live
from discussion_helper.commands.chat_markdown import StreamedMarkdown, clean_lines, markdown_lines
from discussion_helper.commands.chat_state import ChatState
from discussion_helper.commands.wrap import Line, cells, printable, shortened, wrap

__all__ = ["STYLE", "Transcript", "header", "keys", "waiting_lines"]

STYLE = {
    "bar": "reverse",
    "you": "bold",
    "agent": "ansicyan bold",
    "faint": "dim",
    "busy": "ansiyellow bold",
    "problem": "ansired bold",
}
"""What the style classes look like, for prompt_toolkit. Nothing is told by colour alone."""

_INDENT = 2
_WAITING_SHOWN = 3
_LONGEST_DETAIL = 4000
"""Characters shown of a tool's arguments or result."""
_PHASES = {"submitted": ("busy", "◌ thinking"), "streaming": ("agent", "▶ answering")}
_KEYS = (("^O", "details"), ("Esc", "cancel"), ("PgUp/PgDn", "scroll"), ("^Q", "quit"), ("Alt-Enter", "new line"))


def header(state: ChatState, width: int) -> Line:
    """What goes on, on the left, and what answers, on the right where there is room, in `width` columns."""
    style, phase = _PHASES.get(state.phase, ("faint", "○ ready"))
    left = f" {phase}" + (f"  {len(state.waiting)} waiting" if state.waiting and state.running else "")
    model = shortened(printable(state.properties.get("model", "")), max(0, width - cells([("", left)]) - 3))
    between = width - cells([("", left), ("", model)]) - 1
    if between < 1:
        return [(f"class:{style}", shortened(left, width))]
    return [(f"class:{style}", left), ("", " " * between), ("", f"{model} ")]


def keys(width: int, *, below: int = 0) -> Line:
    """The line at the bottom: how far it is scrolled up, or the keys there are."""
    if below:
        return [("class:faint", shortened(f" {below} more lines below: PgDn", width))]
    line: Line = []
    for key, does in _KEYS:
        item: Line = [("class:you", f" {key}"), ("class:faint", f" {does} ")]
        if cells(line) + cells(item) <= width:
            line += item
    return line


def waiting_lines(state: ChatState, width: int) -> list[Line]:
    """What was sent and has not had its turn, and what there is to say about what is being typed."""
    texts = list(state.waiting.values()) if state.running else []
    lines = [_faint(f" ⋯ {_one_line(text)}", width) for text in texts[:_WAITING_SHOWN]]
    more = len(texts) - _WAITING_SHOWN
    note = wrap([("class:faint", f"  {state.note}")], width, indent=_INDENT) if state.note else []
    return [*lines, *([_faint(f" ⋯ and {more} more", width)] if more > 0 else []), *note]


class Transcript:
    """The entries of a state as lines, made as far up as they are looked at, once for each width.

    `scroll` moves the view; at the bottom it follows what comes, elsewhere it stays where it is.
    """

    def __init__(self, state: ChatState) -> None:
        self._state = state
        self._markdown = StreamedMarkdown()
        self._made: dict[tuple[int, bool], list[Line]] = {}
        self._width = 0
        self._seen = (0, 0)
        """Entries, and lines of what is under way, when it was last looked at."""
        self._page = 1
        self.below = 0
        """Lines below the view."""

    def visible(self, width: int, height: int) -> list[Line]:
        """The lines of the view; the newest stand at the bottom of it."""
        self._page = max(1, height - 1)
        live = self._live(width)
        self._stay(width, live)
        lines = self._newest(live, self.below + height)
        self.below = max(0, min(self.below, len(lines) - height))
        end = len(lines) - self.below
        return lines[max(0, end - height) : end]

    def scroll(self, pages: int) -> None:
        """Up by so many pages; down when negative."""
        self.below = max(0, self.below + pages * self._page)

    def toggle(self) -> None:
        """Unfold the newest exchange, or fold it, and look at it."""
        self._state.toggle()
        self.below = 0

    def _stay(self, width: int, live: list[Line]) -> None:
        """What came below a view that is scrolled up does not move it; another width starts at the bottom."""
        entries, rows = self._seen
        if width != self._width:
            self._width, self._made, self.below = width, {}, 0
        if self.below:
            grown = sum(len(self._lines_of(index)) for index in range(entries, len(self._state.entries)))
            self.below = max(1, self.below + grown + len(live) - rows)
        self._seen = (len(self._state.entries), len(live))

    def _newest(self, live: list[Line], wanted: int) -> list[Line]:
        """So many lines, or all there are; whole entries."""
        parts, index, count = [live], len(self._state.entries), len(live)
        while index and count < wanted:
            index -= 1
            parts.append(self._lines_of(index))
            count += len(parts[-1])
        return [line for part in reversed(parts) for line in part]

    def _lines_of(self, index: int) -> list[Line]:
        key = index, self._state.unfolded and index >= self._state.newest
        if key not in self._made:
            entry = self._state.entries[index]
            self._made[key] = _entry_lines(entry, self._width, self._markdown, unfolded=key[1], first=not index)
        return self._made[key]

    def _live(self, width: int) -> list[Line]:
        live, state = self._state.live, self._state
        lines = [line for entry in _details(live) for line in _detail_lines(entry, width, unfolded=state.unfolded)]
        if live.text.strip():
            lines += _marked(self._markdown.lines(live.text, width - _INDENT))
        elif state.running and not lines:
            lines.append([("class:faint", "…")])
        return lines


def _details(live: Live) -> Iterator[Entry]:
    if live.thought.strip():
        yield Thought(live.thought)
    yield from live.calls


def _entry_lines(entry: Entry, width: int, streamed: StreamedMarkdown, *, unfolded: bool, first: bool) -> list[Line]:
    """`streamed` may have made the beginning of an answer already."""
    match entry:
        case You(text):
            rows = [("class:you", line) for line in clean_lines(text.strip("\n"))]
            lines = [row for line in rows for row in wrap([line], max(1, width - _INDENT))]
            return [*([] if first else [[]]), *_beside(("class:you", "> "), lines)]
        case Said(text, cut):
            room = width - _INDENT
            goes_on = streamed.goes_on_with(text, room)
            lines = streamed.lines(text, room, whole=True) if goes_on else markdown_lines(text, room)
            return _marked(_cut_off(lines, room) if cut else lines)
        case Remark(text, problem):
            style = "class:problem" if problem else "class:faint"
            return wrap([(style, f"{'! ' if problem else '  '}{printable(text)}")], width, indent=_INDENT)
    return _detail_lines(entry, width, unfolded=unfolded)


def _marked(lines: list[Line]) -> list[Line]:
    return [[], *_beside(("class:agent", "● "), lines)]


def _cut_off(lines: list[Line], width: int) -> list[Line]:
    dimmed: list[Line] = [[(f"{style} dim".strip(), word) for style, word in line] for line in lines]
    return [*dimmed, *wrap([("class:faint", "— cut off, and not kept")], width)]


def _beside(mark: tuple[str, str], lines: list[Line]) -> list[Line]:
    """The lines behind a mark."""
    return [[mark if not number else ("", " " * _INDENT), *line] for number, line in enumerate(lines)]


def _detail_lines(entry: Entry, width: int, *, unfolded: bool) -> list[Line]:
    """Folded it is one line, or none."""
    match entry:
        case Thought(text) if unfolded:
            return _block("thought", clean_lines(text.strip()), width)
        case Thought(text):
            return [_faint(f"  thought: {_one_line(text[-2 * width :], end=True, width=width - 11)}", width)]
        case Called(name, arguments) if unfolded:
            return _block(f"calls {printable(name)}", clean_lines(arguments[:_LONGEST_DETAIL]), width)
        case Called(name, arguments):
            return [_faint(f"  calls {printable(name)} {_one_line(arguments)}", width)]
        case Returned(name, text, is_error):
            verb = "fails" if is_error else "gives"
            if unfolded:
                return _block(f"{printable(name)} {verb}", clean_lines(text[:_LONGEST_DETAIL]), width)
            return [_faint(f"  {printable(name)} {verb} {_one_line(text)}", width)]
        case Spent(prompt, completion) if unfolded:
            return [_faint(f"  tokens: {prompt} read, {completion} written", width)]
    return []


def _block(title: str, lines: list[str], width: int) -> list[Line]:
    first, *rest = lines
    rows = wrap([("class:faint", f"  {title}: {first}")], width, indent=2 * _INDENT)
    for line in rest:
        rows += wrap([("class:faint", f"{' ' * 2 * _INDENT}{line}")], width, indent=2 * _INDENT)
    return rows


def _faint(text: str, width: int) -> Line:
    return [("class:faint", shortened(text, width))]


def _one_line(text: str, *, end: bool = False, width: int = 0) -> str:
    """Harmless, without breaks; its beginning, or its end where that is the news."""
    line = " ".join(printable(text[:_LONGEST_DETAIL]).split())
    while end and width > 1 and cells([("", line)]) > width:
        line = "…" + line[1 + max(1, (cells([("", line)]) - width) // 2) :]
    return line
