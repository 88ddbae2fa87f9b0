"""`selectron bound`: the theorems as numbers."""

import inspect
from argparse import Namespace
from collections.abc import Callable

from selectron import bounds
from selectron.cli.output import check_outputs, tell

Theorem = Callable[..., float | tuple[float, ...]]


def theorems() -> dict[str, Theorem]:
    """Return every bound by paper and name: `cbgz06.perceptron_mistakes`."""
    papers = {paper: getattr(bounds, paper) for paper in bounds.__all__}
    return {
        f"{paper}.{name}": function
        for paper, module in papers.items()
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }


def bound(options: Namespace) -> int:
    check_outputs(options)
    known = theorems()
    if options.list or options.theorem is None:
        names = {name: list(inspect.signature(found).parameters) for name, found in known.items()}
        lines = [
            f"{name}({', '.join(names[name])})\n    {_first_line(found)}"
            for name, found in known.items()
        ]
        return tell(options, "\n".join(lines), names)
    if options.theorem not in known:
        raise ValueError(f"unknown theorem {options.theorem!r}; selectron bound --list names them")
    theorem = known[options.theorem]
    if not options.values:
        return tell(
            options, f"{options.theorem}{_explained(theorem)}", {"theorem": options.theorem}
        )
    arguments = _arguments(theorem, options.values)
    value = theorem(**arguments)
    parts = value if isinstance(value, tuple) else (value,)
    shown = ", ".join(f"{part:,.6g}" for part in parts)
    text = f"{_first_line(theorem)}\n{options.theorem} = {shown}"
    facts = {"theorem": options.theorem, "arguments": arguments, "value": value}
    return tell(options, text, facts)


def _arguments(theorem: Theorem, given: list[str]) -> dict[str, float | list[float]]:
    names = inspect.signature(theorem).parameters
    arguments: dict[str, float | list[float]] = {}
    for assignment in given:
        name, _, text = assignment.partition("=")
        if name not in names:
            raise ValueError(f"unknown argument {name!r}; it takes {', '.join(names)}")
        if name in arguments:
            raise ValueError(f"{name} is given twice: give it one value")
        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError:
            raise ValueError(f"{name}={text!r} is not a number") from None
        is_list = "Sequence" in str(names[name].annotation)
        if not is_list and len(numbers) > 1:
            raise ValueError(f"{name} takes one number, got {text}")
        whole = int(numbers[0]) if numbers[0].is_integer() else numbers[0]
        arguments[name] = numbers if is_list else whole
    missing = [n for n, p in names.items() if p.default is p.empty and n not in arguments]
    if missing:
        raise ValueError(f"missing {', '.join(missing)}: pass them as name=value")
    return arguments


def _explained(theorem: Theorem) -> str:
    """Return what a theorem takes, and what it says."""
    names = ", ".join(inspect.signature(theorem).parameters)
    return f"({names})\n\n{inspect.getdoc(theorem)}"


def _first_line(theorem: Theorem) -> str:
    return (inspect.getdoc(theorem) or "").partition("\n")[0]
