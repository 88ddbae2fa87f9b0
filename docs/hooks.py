"""Steps of `mkdocs build` that no plugin has: a paper's key in brackets becomes a link."""

import re
from posixpath import dirname, relpath
from typing import Any

KEY = re.compile(r"\[((?:[A-Z]+[a-z]*)+\d\d|Ng)\b")
KEPT = re.compile(r"(<(a|pre|code|h\d|title)\b.*?</\2>)", re.DOTALL)  # no links inside of these
INDEX = "papers/index.html"


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """Link every key, of pages and of docstrings, to its entry in the index of papers."""
    index = relpath(INDEX, dirname(page.url) or ".")

    def link(found: re.Match[str]) -> str:
        return f'[<a href="{index}#{found[1].lower()}">{found[1]}</a>'

    parts = KEPT.split(html)  # text, kept, name of the kept tag, text, ...
    parts[::3] = [KEY.sub(link, text) for text in parts[::3]]
    del parts[2::3]
    return "".join(parts)
