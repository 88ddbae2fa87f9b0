"""Where the sources and the documents are."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "selectron"
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")])
MODULES = sorted(SOURCE.rglob("*.py"))


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
