"""What the user of the client does: loads pages, each a document with images, and pauses."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

HEADING = (
    "# think_s, then request bytes, reply bytes, server delay_s for every object; "
    "or the word push and bytes"
)


class Fetch(NamedTuple):
    """One object: bytes of the request, bytes of the reply, seconds the server takes in between."""

    request: int
    reply: int
    delay_s: float = 0.0


class Page(NamedTuple):
    """One page: the document and its images, and how long the user thinks afterwards."""

    think_s: float
    fetches: tuple[Fetch, ...]


class Push(NamedTuple):
    """Bytes that the server sends unasked over an open connection, and the pause afterwards."""

    think_s: float
    size: int


@dataclass(frozen=True)
class Workload:
    """A sequence of pages and pushes, the same for every policy and both engines."""

    pages: tuple[Page | Push, ...]

    def __post_init__(self) -> None:
        if not self.pages:
            raise ValueError("a workload needs at least one page, got none")
        for number, page in enumerate(self.pages):
            check_page(number, page)

    def save(self, path: str | Path) -> None:
        """Write one page a line, as text that the script of ns-2 reads too."""
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
        """Read a file that ``save`` wrote."""
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


def check_counts(seed: int, **counts: int) -> None:
    """Check the arguments of a function that draws a workload: a seed, and how much to draw."""
    for name, value in counts.items():
        if value < 1 or value != int(value):
            raise ValueError(f"{name}={value!r} must be a whole number, at least 1")
    if seed < 0:
        raise ValueError(f"seed={seed!r} must be 0 or more")
