"""`selectron store`: whether a store is whole, a copy of it, and what is in it."""

from argparse import Namespace

from selectron.cli.desks import is_address, reading, without_password
from selectron.cli.output import check_outputs, facts_table, tell


def store(options: Namespace) -> int:
    check_outputs(options)
    return {"verify": _verify, "backup": _backup, "info": _info}[options.task](options)


def _verify(options: Namespace) -> int:
    with reading(options.store) as opened:
        report = opened.verify()
    name = without_password(options.store)
    facts = report._asdict() | {"ok": report.ok}
    if report.ok:
        marked = "no mark beside it" if report.marked is None else f"marked to {report.marked:,}"
        text = f"{name} is whole: {report.events:,} events, {marked}, {report.head}"
    else:
        text = "\n".join(f"{name}: {problem}" for problem in report.problems)
    tell(options, text, facts)
    return 0 if report.ok else 1


def _backup(options: Namespace) -> int:
    target = options.output or (
        "selectron.backup.db" if is_address(options.store) else f"{options.store}.backup"
    )
    with reading(options.store) as opened:
        opened.backup(target)
    name = without_password(options.store)
    return tell(options, f"{target} is a whole copy of {name}", {"backup": target})


def _info(options: Namespace) -> int:
    with reading(options.store) as opened:
        info = opened.info()
    shown = info | {"kinds": ", ".join(f"{n:,} {kind}" for kind, n in info["kinds"].items())}
    return tell(options, facts_table(shown), info)
