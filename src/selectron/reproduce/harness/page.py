"""Write the outcomes of experiments as one HTML page that needs nothing beside itself."""

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from selectron import __version__
from selectron.reproduce.harness.experiment import STANDING_IN
from selectron.reproduce.harness.session import Outcome

HEAD = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>The papers again</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2330; background: #fff;
       max-width: 76rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { border-top: 1px solid #d5d9e0; padding: .4rem .6rem; text-align: left;
         vertical-align: top }
th { background: #f4f5f8 }
code, pre { font: .85rem/1.45 ui-monospace, monospace }
pre { overflow-x: auto; background: #f4f5f8; padding: .8rem }
img { max-width: 100% }
.holds { color: #14652f } .part { color: #7a5200 } .not { color: #a3151c }
</style>
</head>
<body>
"""


def page_of(outcomes: Sequence[Outcome], quick: bool, total: int) -> str:
    """Return the page: the claims of papers, our own experiments, what did not run, and details.

    `total` is how many experiments there are; a page is written after each of them.
    """
    judged = [each for each in outcomes if each.verdicts]
    ours = [each for each in outcomes if each.text and not each.verdicts]
    missing = [each for each in outcomes if each.not_run or each.failed]
    seeds = "the fewest seeds (<code>--quick</code>)" if quick else "the seeds of an hour"
    counts = Counter(_kind(v["verdict"])[1] for each in judged for v in each.verdicts)
    said = "; ".join(f"{n} {escape(kind)}" for kind, n in counts.most_common()) or "none"
    return "".join([
        HEAD,
        "<h1>The papers again</h1>\n",
        f"<p>Selectron {escape(__version__)} ran {len(judged) + len(ours)} of {total} "
        f"experiments with {seeds}{_to_come(total - len(outcomes))}; a command "
        "without <code>--seeds</code> runs as many as the pages of the documentation have. "
        f"Claims of papers: {said}.</p>\n",
        "<h2>Claims of the papers</h2>\n",
        _table(("table or figure", "the paper's claim", "ours", "tolerance", "verdict", "time",
                "command"), map(_claims, judged)),
        "<h2>Experiments of our own</h2>\n",
        _table(("experiment", "time", "command"), map(_own, ours)),
        "<h2>Not run, or failed</h2>\n",
        _table(("experiment", "reason", "command"), map(_missing, missing)),
        "<h2>Tables and figures</h2>\n",
        *map(_details, [*judged, *ours]),
        "</body>\n</html>\n",
    ])  # fmt: skip


def _to_come(n: int) -> str:
    return f", and {n} are still to come: the same command goes on" if n else ""


def _table(head: Iterable[str], rows: Iterable[str]) -> str:
    body = "".join(rows)
    if not body:
        return "<p>None.</p>\n"
    cells = "".join(f"<th>{word}</th>" for word in head)
    return f"<table>\n<tr>{cells}</tr>\n{body}</table>\n"


def _claims(outcome: Outcome) -> str:
    """Return a row for each verdict; name, time and command stand beside all of them."""
    n = len(outcome.verdicts)
    name = f'<td rowspan="{n}">{_link(outcome)}</td>'
    rest = (f'<td rowspan="{n}">{_time(outcome)}</td>'
            f'<td rowspan="{n}"><code>{escape(outcome.command)}</code></td>')  # fmt: skip
    data = f"<br>data: {escape(outcome.data)}" if outcome.data else ""
    rows = []
    for k, each in enumerate(outcome.verdicts):
        colour, _ = _kind(each["verdict"])
        rows.append(
            f"<tr>{name if k == 0 else ''}<td>{escape(each['claim'])}</td>"
            f"<td>{escape(each['ours'])}</td><td>{escape(each['tolerance'])}</td>"
            f'<td><b class="{colour}">{escape(each["verdict"])}</b>{data}</td>'
            f"{rest if k == 0 else ''}</tr>\n"
        )
    return "".join(rows)


def _kind(verdict: str) -> tuple[str, str]:
    """Return the colour of a verdict, and the verdict without its numbers."""
    said = verdict.removesuffix(STANDING_IN)
    word = said.partition(" (")[0]
    kind = word if said == verdict else f"{word}{STANDING_IN}"
    return {"holds": "holds", "holds in part": "part"}.get(word, "not"), kind


def _own(outcome: Outcome) -> str:
    return (f"<tr><td>{_link(outcome)}</td><td>{_time(outcome)}</td>"
            f"<td><code>{escape(outcome.command)}</code></td></tr>\n")  # fmt: skip


def _missing(outcome: Outcome) -> str:
    reason = f"failed: {outcome.failed}" if outcome.failed else outcome.not_run
    return (f"<tr><td>{escape(outcome.summary)}</td><td>{escape(reason)}</td>"
            f"<td><code>{escape(outcome.command)}</code></td></tr>\n")  # fmt: skip


def _details(outcome: Outcome) -> str:
    name = escape(outcome.name, quote=True)
    return (
        f'<h3 id="{name}">{escape(outcome.summary)}</h3>\n'
        f'<img alt="{name}" src="data:image/png;base64,{outcome.picture}">\n'
        f"<details><summary>the numbers</summary><pre>{escape(outcome.text)}</pre></details>\n"
    )


def _link(outcome: Outcome) -> str:
    return f'<a href="#{escape(outcome.name, quote=True)}">{escape(outcome.summary)}</a>'


def _time(outcome: Outcome) -> str:
    return f"{outcome.seconds:.0f} s" if outcome.seconds >= 1 else "under 1 s"
