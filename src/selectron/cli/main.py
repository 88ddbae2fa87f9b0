"""Read the command line, run a command, and turn every error into one line."""

import sys
import warnings
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from selectron import __version__


class Command(NamedTuple):
    """A command: the module that has it, its two functions there, and its help."""

    module: str
    options: str
    action: str
    help: str
    examples: list[str]


COMMANDS = {
    "demo": Command(
        "demo",
        "add_demo",
        "demo",
        "run the main job on a data set that ships along",
        ["selectron demo", "selectron demo --plot demo.svg --json demo.json"],
    ),
    "run": Command(
        "run",
        "add_run",
        "run",
        "run one learner over a file of rows",
        [
            "selectron run letters.csv --positive A --shuffle --test 0.2",
            "selectron run digits.csv --rules perceptron+margin:b=0.1 --shuffle",
            "selectron run mnist.npz --positive 4 --negative 7 --unit-norm",
            "selectron run rcv1.svm.gz --rules half-step+balanced --seeds 5 --json -",
        ],
    ),
    "compare": Command(
        "run",
        "add_compare",
        "compare",
        "compare learners with each other and with labels asked at random",
        [
            "selectron compare letters.csv default perceptron+margin:b=0.1 --positive A",
            "selectron compare mnist.npz default reflection+halving:patience=8,start=1 "
            "--positive 4 --negative 7 --unit-norm --limit 10000 --plot compare.png",
        ],
    ),
    "bound": Command(
        "bound",
        "add_bound",
        "bound",
        "evaluate a theorem",
        [
            "selectron bound --list",
            "selectron bound ng.novikoff max_norm=1 margin=0.1",
            "selectron bound cbgz06.perceptron_mistakes b=0.5 max_norm=1 target_margin=0.1 "
            "hinge=0 comparator_norm=1",
        ],
    ),
    "inspect": Command(
        "inspect_file",
        "add_inspect",
        "inspect_file",
        "describe a saved learner, tracker or experts",
        ["selectron inspect model.selectron"],
    ),
    "power": Command(
        "power",
        "add_power",
        "power",
        "simulate 802.11 power saving: one policy, or all of them compared",
        [
            "selectron power compare --pages 100 --seed 1 --json power.json",
            "selectron power compare --lambda 0.5 1 2 --max-sleep 24.3 --runs 4 --plot front.png",
            "selectron power compare --traffic changing --runs 4",
            "selectron power simulate --policy learned --lambda 2 --plot sleeps.svg",
        ],
    ),
    "reproduce": Command(
        "reproduce",
        "add_reproduce",
        "reproduce",
        "make a table or figure of the papers again",
        ["selectron reproduce --list", "selectron reproduce dkm09-labels --plot dkm.png"],
    ),
}


class OneLineParser(ArgumentParser):
    """A parser that does not print its usage above an error."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"selectron: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; errors are one line and exit code 2, Ctrl-C is 130."""
    with warnings.catch_warnings():
        warnings.showwarning = _in_one_line(set())
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        options = _parser(arguments).parse_args(arguments)
        return int(options.action(options))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 141
    except ImportError as error:
        missing = error.name or str(error)
        print(f"selectron: {missing} is not installed: pip install 'selectron[plot,tables]'",
              file=sys.stderr)  # fmt: skip
        return 2
    except ArithmeticError:
        print("selectron: a number is too large or too small to compute with", file=sys.stderr)
        return 2
    except (ValueError, TypeError, OSError) as error:
        print(f"selectron: {' '.join(str(error).split())}", file=sys.stderr)
        return 2


def _note(message: Warning | str, *details: Any) -> None:
    print(f"selectron: note: {message}", file=sys.stderr)


def _in_one_line(told: set[str]) -> Callable[..., None]:
    def show(message: Warning | str, *place: object) -> None:
        text = " ".join(str(message).split())
        if text not in told:
            print(f"selectron: {text}", file=sys.stderr)
            told.add(text)

    return show


def _parser(arguments: Sequence[str] | None) -> ArgumentParser:
    parser = OneLineParser(
        prog="selectron",
        description="Learn a classifier from a stream, asking for as few labels as possible.",
    )
    parser.add_argument("--version", action="version", version=f"selectron {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    given = list(sys.argv[1:] if arguments is None else arguments)
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=command.help,
            description=f"{command.help[0].upper()}{command.help[1:]}.",
            epilog="\n  ".join(["examples:", *command.examples]),
            formatter_class=RawDescriptionHelpFormatter,
        )
        if name in given:  # the others' modules are not worth their loading time
            _fill(sub, command)
    return parser


def _fill(sub: ArgumentParser, command: Command) -> None:
    module = import_module(f"selectron.cli.{command.module}")
    add_options: Callable[[ArgumentParser], None] = getattr(module, command.options)
    action: Callable[[Namespace], int] = getattr(module, command.action)
    add_options(sub)
    sub.set_defaults(action=action)
