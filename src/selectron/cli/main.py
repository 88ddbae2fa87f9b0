"""Read the command line, run a command, and turn every error into one line."""

import sys
import warnings
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple, NoReturn

from selectron import __version__


class Command(NamedTuple):
    """A command: its function, as ``module:function``, its help, and examples."""

    action: str
    help: str
    examples: list[str]


COMMANDS = {
    "demo": Command(
        "demo:demo",
        "run the main job on a data set that ships along",
        ["selectron demo", "selectron demo --plot demo.svg --json demo.json"],
    ),
    "run": Command(
        "run:run",
        "run one learner over a file of rows",
        [
            "selectron run letters.csv --positive A --shuffle --test 0.2",
            "selectron run digits.csv --rules perceptron+margin:b=0.1 --shuffle",
            "selectron run mnist.npz --positive 4 --negative 7 --unit-norm",
            "selectron run rcv1.svm.gz --rules half-step+balanced --seeds 5 --json -",
        ],
    ),
    "compare": Command(
        "run:compare",
        "compare learners with each other and with labels asked at random",
        [
            "selectron compare letters.csv default perceptron+margin:b=0.1 --positive A",
            "selectron compare mnist.npz default reflection+halving:patience=8,start=1 "
            "--positive 4 --negative 7 --unit-norm --limit 10000 --plot compare.png",
        ],
    ),
    "bound": Command(
        "bound:bound",
        "evaluate a theorem",
        [
            "selectron bound --list",
            "selectron bound ng.novikoff max_norm=1 margin=0.1",
            "selectron bound cbgz06.perceptron_mistakes b=0.5 max_norm=1 target_margin=0.1 "
            "hinge=0 comparator_norm=1",
        ],
    ),
    "inspect": Command(
        "inspect_file:inspect_file",
        "describe a saved learner, tracker or experts",
        ["selectron inspect model.selectron"],
    ),
    "power": Command(
        "power:power",
        "simulate 802.11 power saving: one policy, or all of them compared",
        [
            "selectron power compare --pages 100 --seed 1 --json power.json",
            "selectron power compare --lambda 0.5 1 2 --max-sleep 24.3 --runs 4 --plot front.png",
            "selectron power compare --traffic changing --runs 4",
            "selectron power simulate --policy learned --lambda 2 --plot sleeps.svg",
        ],
    ),
    "reproduce": Command(
        "reproduce:reproduce",
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
        return _fail("interrupted", 130)
    except BrokenPipeError:
        return 141
    except ImportError as error:
        missing = error.name or str(error)
        return _fail(f"selectron: {missing} is not installed: pip install 'selectron[plot,tables]'")
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
        if name in given:  # only this command's module is worth its loading time
            module, _, action = command.action.partition(":")
            loaded = import_module(f"selectron.cli.{module}")
            getattr(loaded, f"add_{name}")(sub)
            sub.set_defaults(action=getattr(loaded, action))
    return parser
