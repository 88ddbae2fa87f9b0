"""Read the command line, run a command, and turn every error into one line."""

import sys
import tomllib
import warnings
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.resources import files
from io import TextIOWrapper
from logging import Handler, LogRecord, getLogger
from pathlib import Path
from typing import NamedTuple, NoReturn

from selectron import __version__
from selectron.cli.interrupts import CODE, LINE, leaving_at_once, none_dropped


class Command(NamedTuple):
    """A command: its function, as ``module:function``, its help, groups of options, examples."""

    action: str
    help: str
    options: list[str]
    examples: list[str]


_DECLARED = tomllib.loads(files("selectron.cli").joinpath("commands.toml").read_text("utf-8"))
OPTIONS: dict[str, dict[str, dict[str, object]]] = _DECLARED["options"]
COMMANDS = {name: Command(**declared) for name, declared in _DECLARED["commands"].items()}
TYPES = {"int": int, "float": float, "path": Path}
EXTRAS = {
    "cluster": ("ray",),
    "label": ("anyio", "argon2", "fastapi", "httpx", "PIL", "pydantic", "starlette", "uvicorn"),
    "plot": ("matplotlib",),
    "postgres": ("psycopg",),
    "redis": ("redis",),
    "tables": ("pyarrow",),
}


class OneLineParser(ArgumentParser):
    """A parser that does not print its usage above an error."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"selectron: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; errors are one line and exit code 2, Ctrl-C is 130."""
    for stream in (sys.stdout, sys.stderr):  # where the locale is ASCII, "±" becomes "?"
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    if sys.stderr.isatty():  # whoever waits shall know why
        getLogger("selectron.compiler").addHandler(_Line())
        getLogger("selectron.compiler").setLevel("INFO")
    with warnings.catch_warnings():
        warnings.showwarning = _in_one_line(set())
        return _run(arguments)


class _Line(Handler):
    """Show a record of the log in one line."""

    def emit(self, record: LogRecord) -> None:
        print(f"selectron: {record.getMessage()}", file=sys.stderr)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        options = _parser().parse_args(arguments)
        with none_dropped():
            return int(options.action(options))
    except KeyboardInterrupt:
        return _fail(LINE, CODE)
    except BrokenPipeError:
        return 141
    except ImportError as error:
        missing = error.name or str(error)
        extras = [name for name, needs in EXTRAS.items() if missing.partition(".")[0] in needs]
        wanted = ",".join(extras or ["plot", "tables"])
        return _fail(f"selectron: {missing} is not installed: pip install 'selectron[{wanted}]'")
    except MemoryError as error:
        said = str(error) or "out of memory"
        return _fail(f"selectron: {said}; take fewer rows with --limit, or fewer features")
    except ArithmeticError:
        return _fail("selectron: a number is too large or too small to compute with")
    except (ValueError, TypeError, OSError) as error:
        return _fail(f"selectron: {' '.join(str(error).split())}")


def _fail(message: str, code: int = 2) -> int:
    print(message, file=sys.stderr)
    return code


def _in_one_line(told: set[str]) -> Callable[..., None]:
    """Return a way to show a warning: one line, once."""

    def show(message: Warning | str, *place: object) -> None:
        text = " ".join(str(message).split())
        if text not in told:
            print(f"selectron: {text}", file=sys.stderr)
            told.add(text)

    return show


def _action(name: str, options: Namespace) -> int:
    """Load the module of a command, and run the command."""
    module, _, function = COMMANDS[name].action.partition(":")
    with leaving_at_once():  # it takes seconds, and nothing has begun
        action = getattr(import_module(f"selectron.cli.{module}"), function)
    return int(action(options))


def _parser() -> ArgumentParser:
    parser = OneLineParser(
        prog="selectron",
        description="Learn a classifier from a stream, asking for as few labels as possible.",
    )
    parser.add_argument("--version", action="version", version=f"selectron {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=command.help,
            description=f"{command.help[0].upper()}{command.help[1:]}.",
            epilog="\n  ".join(["examples:", *command.examples]),
            formatter_class=RawDescriptionHelpFormatter,
        )
        sub.set_defaults(action=partial(_action, name))
        for group in command.options:
            for option, given in _DECLARED["options"][group].items():
                kind = {"type": TYPES[given["type"]]} if "type" in given else {}
                said = {name: value for name, value in given.items() if name != "flags"}
                sub.add_argument(*given.get("flags", []), option, **(said | kind))
    return parser
