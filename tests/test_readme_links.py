"""The links of the documents lead somewhere, and the README begins with all of its chapters."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "deploy/README.md", "audio/README.md", "models/README.md")


def text_of(file: Path) -> str:
    """Without what stands in blocks of code, where # begins a comment."""
    return re.sub(r"^```.*?^```", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors_of(text: str, levels: str = "1,6") -> list[str]:
    """Of its headings, as the usual pages of Markdown name them."""
    headings = re.findall(rf"^#{{{levels}}} (.+)$", text, re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_leads_to_a_file_and_to_a_heading_in_it(name: str) -> None:
    document = ROOT / name
    lost = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text_of(document)):
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        if ":" not in link and not (target.exists() and (not anchor or anchor in anchors_of(text_of(target)))):
            lost.append(link)

    assert [] == lost


def test_the_readme_begins_with_its_contents() -> None:
    text = text_of(ROOT / "README.md")
    contents = text.partition("**Contents:**")[2].partition("\n\n")[0]
    linked = re.findall(r"\]\(#([^)]+)\)", contents)

    assert anchors_of(text, "2") == [anchor for anchor in linked if anchor in anchors_of(text, "2")]
    assert len(text.partition("**Contents:**")[0].splitlines()) < 20
    assert len(linked) == len(set(linked)) == len(anchors_of(text)) - 1  # all but the title
