"""Where the sources and the documents are, and the examples that pages show."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "selectron"
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PAPERS = DOCS / "papers"
RULES_PAGE = REFERENCE / "rules.md"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def section(page, heading):
    """Return what stands under a heading, up to the next of its level or above."""
    level = heading.partition(" ")[0]
    inside, lines = False, []
    for line in page.read_text().splitlines():
        if inside and line.startswith("#") and len(line.partition(" ")[0]) <= len(level):
            break
        if inside:
            lines.append(line)
        inside = inside or line == heading
    assert inside, f"{page.name} has no heading {heading!r}"
    return "\n".join(lines)


class Example(NamedTuple):
    """A block of Python on a page, and the block of text that follows it, if any."""

    page: Path
    line: int
    code: str
    printed: str

    @property
    def name(self):
        return f"{name_of(self.page)}:{self.line}"


def fenced(text):
    """Yield language, content and first line of each fenced block."""
    for block in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield block[1], block[2], text.count("\n", 0, block.start()) + 2


def examples(page):
    blocks = list(fenced(page.read_text()))
    for block, follows in zip(blocks, [*blocks[1:], ("", "", 0)], strict=True):
        if block[0] == "python":
            yield Example(page, block[2], block[1], follows[1] if follows[0] == "text" else "")
