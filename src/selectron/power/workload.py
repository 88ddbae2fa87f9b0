"""What the user of the client does: pages, each of a document and its images, and pauses."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from selectron.power.distributions import web_distributions

HEADING = "# think_s, then request bytes, reply bytes, server delay_s for every object"


class Fetch(NamedTuple):
    """One object: bytes asked with, bytes answered, seconds the server takes in between."""

    request: int
    reply: int
    delay_s: float = 0.0


class Page(NamedTuple):
    """One page: the document, then its images; and how long the user thinks afterwards."""

    think_s: float
    fetches: tuple[Fetch, ...]


@dataclass(frozen=True)
class Workload:
    """A sequence of pages: the same for every policy and both engines."""

    pages: tuple[Page, ...]

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


def read_page(words: Sequence[str]) -> Page:
    if len(words) % 3 != 1:
        raise ValueError(f"{len(words)} numbers are not one and three for every object")
    triples = zip(words[1::3], words[2::3], words[3::3], strict=True)
    fetches = tuple(
        Fetch(int(request), int(reply), float(delay)) for request, reply, delay in triples
    )
    return Page(float(words[0]), fetches)


def check_page(number: int, page: Page) -> None:
    if not 0 <= page.think_s < 1e9:
        raise ValueError(f"page {number}: think_s={page.think_s!r} must be seconds, 0 or more")
    if not page.fetches:
        raise ValueError(f"page {number} fetches nothing; give it at least one object")
    for request, reply, delay in page.fetches:
        for size in (request, reply):
            if size != int(size) or not 1 <= size <= 10**9:
                raise ValueError(f"page {number}: {size!r} is not a size; give bytes, 1 to 10^9")
        if not 0 <= delay < 1e9:
            raise ValueError(f"page {number}: delay_s={delay!r} must be seconds, 0 or more")


def web_workload(
    pages: int = 100,
    seed: int = 1,
    *,
    server_delay_s: float = 0.0,
    longest_think_s: float = 1000.0,
    data: str | Path | None = None,
) -> Workload:
    """Draw a user's browsing from the empirical distributions ([Mon06] section 2.5.4).

    Parameters
    ----------
    pages : int
        Web transfers. The first pages of a longer workload are those of a shorter one.
    seed : int
        Everything is drawn from it.
    server_delay_s : float
        Time the server takes for each reply; [Mon06] gives no figure.
    longest_think_s : float
        Longer pauses are drawn again; at 1000 s the mean is 52.9 s.
    data : str or Path, optional
        See `web_distributions`.

    Examples
    --------
    >>> think_s, (document, *images) = web_workload(pages=2, seed=1).pages[0]
    >>> think_s, document, len(images)
    (30.025, Fetch(request=201, reply=219, delay_s=0.0), 1)
    """
    if pages < 1 or pages != int(pages):
        raise ValueError(f"pages={pages!r} must be a whole number, at least 1")
    if seed < 0:
        raise ValueError(f"seed={seed!r} must be 0 or more")
    tables = web_distributions(data)
    tables["think_s"] = tables["think_s"].at_most(longest_think_s)
    # A stream of its own for each kind of draw: more pages never change the first ones.
    streams = np.random.SeedSequence(seed).spawn(4)
    generators = dict(zip(tables, map(np.random.default_rng, streams), strict=True))

    def draw(kind: str, n: int) -> list[float]:
        drawn: list[float] = tables[kind].quantile(generators[kind].random(n)).tolist()
        return drawn

    thinks = draw("think_s", pages)
    objects = [1 + round(images) for images in draw("images", pages)]
    sizes = iter(zip(draw("request", sum(objects)), draw("reply", sum(objects)), strict=True))
    return Workload(
        tuple(
            Page(think_s, tuple(make_fetch(*next(sizes), server_delay_s) for _ in range(n)))
            for think_s, n in zip(thinks, objects, strict=True)
        )
    )


def make_fetch(request: float, reply: float, delay_s: float) -> Fetch:
    """Read the distributions' length 0 as 1000 bytes, as ns-2's http.tcl does."""
    return Fetch(round(request) or 1000, round(reply) or 1000, delay_s)
