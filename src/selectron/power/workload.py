"""What the user of the client does: pages, each of a document and its images, and pauses."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

HEADING = (
    "# think_s, then request bytes, reply bytes, server delay_s for every object; "
    "or the word push and bytes"
)


class Fetch(NamedTuple):
    """One object: bytes asked with, bytes answered, seconds the server takes in between."""

    request: int
    reply: int
    delay_s: float = 0.0


class Page(NamedTuple):
    """One page: the document, then its images; and how long the user thinks afterwards."""

    think_s: float
    fetches: tuple[Fetch, ...]


class Push(NamedTuple):
    """Bytes that the server sends unasked, over a connection that is open; then a pause."""

    think_s: float
    size: int


@dataclass(frozen=True)
class Workload:
    """A sequence of pages, or of what is pushed: the same for every policy and both engines."""

    pages: tuple[Page | Push, ...]

    def __post_init__(self) -> None:
        if not self.pages:
            raise ValueError("a workload needs at least one page, got none")
        for number, page in enumerate(self.pages):
            check_page(number, page)

    def save(self, path: str | Path) -> None:
        """Write one page a line, as text that ns-2's Tcl reads too."""
        lines = [HEADING]
        for page in self.pages:
            words = [repr(float(page.think_s))]
            if isinstance(page, Push):
                words += ["push", str(page.size)]
            else:
                for fetch in page.fetches:
                    words += [str(fetch.request), str(fetch.reply), repr(float(fetch.delay_s))]
            lines.append(" ".join(words))
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "Workload":
        """Read what ``save`` wrote."""
        pages = []
        text = Path(path).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), start=1):
            if line.startswith("#") or not line.strip():
                continue
            try:
                pages.append(read_page(line.split()))
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}; expected {HEADING!r}") from None
        return cls(tuple(pages))


def read_page(words: Sequence[str]) -> Page | Push:
    if words[1:2] == ["push"] and len(words) == 3:
        return Push(float(words[0]), int(words[2]))
    if len(words) % 3 != 1:
        raise ValueError(f"{len(words)} numbers are not one and three for every object")
    triples = zip(words[1::3], words[2::3], words[3::3], strict=True)
    fetches = tuple(
        Fetch(int(request), int(reply), float(delay)) for request, reply, delay in triples
    )
    return Page(float(words[0]), fetches)


def check_page(number: int, page: Page | Push) -> None:
    if not 0 <= page.think_s < 1e9:
        raise ValueError(f"page {number}: think_s={page.think_s!r} must be seconds, 0 or more")
    if isinstance(page, Push):
        check_sizes(number, page.size)
        return
    if not page.fetches:
        raise ValueError(f"page {number} fetches nothing; give it at least one object")
    for request, reply, delay in page.fetches:
        check_sizes(number, request, reply)
        if not 0 <= delay < 1e9:
            raise ValueError(f"page {number}: delay_s={delay!r} must be seconds, 0 or more")


def check_sizes(number: int, *sizes: float) -> None:
    for size in sizes:
        if size != int(size) or not 1 <= size <= 10**9:
            raise ValueError(f"page {number}: {size!r} is not a size; give bytes, 1 to 10^9")
