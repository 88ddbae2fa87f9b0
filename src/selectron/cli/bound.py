"""`selectron bound`: the theorems as numbers."""

import inspect
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from types import ModuleType
from typing import Any

from selectron import bounds
from selectron.cli.output import check_outputs, write_json


def theorems() -> dict[str, Callable[..., Any]]:
    """Return every bound by paper and name: `cbgz06.perceptron_mistakes`."""
    return {
        f"{paper}.{name}": function
        for paper in bounds.__all__
        for name, function in _functions(getattr(bounds, paper))
    }


def _functions(module: ModuleType) -> list[tuple[str, Callable[..., Any]]]:
    return [
        (name, function)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    ]


def add_bound(parser: ArgumentParser) -> None:
    parser.add_argument("theorem", nargs="?", help="such as cbgz06.perceptron_mistakes")
    parser.add_argument("values", nargs="*", metavar="name=value", help="its arguments")
    parser.add_argument("--list", action="store_true", help="list all theorems")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to FILE, - for stdout")


def bound(options: Namespace) -> int:
    check_outputs(options)
    known = theorems()
    if options.list or options.theorem is None:
        return _tell_all(known, options.json)
    if options.theorem not in known:
        raise ValueError(f"unknown theorem {options.theorem!r}; selectron bound --list names them")
    function = known[options.theorem]
    arguments = _arguments(function, options.values)
    value = function(**arguments)
    if options.json != "-":
        print(f"{_first_line(function)}\n{options.theorem} = {_shown(value)}")
    write_json({"theorem": options.theorem, "arguments": arguments, "value": value}, options.json)
    return 0


def _tell_all(known: dict[str, Callable[..., Any]], target: str | None) -> int:
    names = {name: list(inspect.signature(function).parameters) for name, function in known.items()}
    if target != "-":
        for name, function in known.items():
            print(f"{name}({', '.join(names[name])})\n    {_first_line(function)}")
    write_json(names, target)
    return 0


def _arguments(function: Callable[..., Any], given: list[str]) -> dict[str, Any]:
    names = inspect.signature(function).parameters
    arguments: dict[str, Any] = {}
    for assignment in given:
        name, _, text = assignment.partition("=")
        if name not in names:
            raise ValueError(f"unknown argument {name!r}; it takes {', '.join(names)}")
        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError:
            raise ValueError(f"{name}={text!r} is not a number") from None
        is_list = "Sequence" in str(names[name].annotation)
        if not is_list and len(numbers) > 1:
            raise ValueError(f"{name} takes one number, got {text}")
        arguments[name] = numbers if is_list else _whole(numbers[0])
    missing = [n for n, p in names.items() if p.default is p.empty and n not in arguments]
    if missing:
        raise ValueError(f"missing {', '.join(missing)}: pass them as name=value")
    return arguments


def _whole(number: float) -> float:
    return int(number) if number.is_integer() else number


def _first_line(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(_shown(part) for part in value)
    return f"{value:,.6g}"
