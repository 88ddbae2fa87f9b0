"""What all commands share: help with examples, errors of one line, and a clean way out."""

import json
import re
import shlex
import signal
import subprocess
import sys
from importlib import import_module

import pytest

from selectron import __version__
from selectron.cli.main import COMMANDS, _parser
from selectron.cli.named import EXAMPLES
from selectron.cli.power import EVERYTHING, MAX_SLEEP, PAGES, REGIMES
from selectron.kernels import NAMES, REMOVALS
from tests.other_process import environment

PLAIN = "perceptron+margin:b=0.3"
ASCII = "import sys; from selectron.cli import main; sys.exit(main())"


def test_version(command):
    assert command("--version") == (0, f"selectron {__version__}\n", "")


def test_help_names_every_command(command):
    code, out, _ = command("--help")
    assert code == 0
    for name, described in COMMANDS.items():
        assert name in out
        assert described.help in " ".join(out.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_shows_an_example(command, name):
    code, out, _ = command(name, "--help")
    assert code == 0
    assert f"examples:\n  selectron {name} " in out or f"examples:\n  selectron {name}\n" in out
    assert "--json FILE" in out


@pytest.mark.parametrize("example", [e for c in COMMANDS.values() for e in c.examples])
def test_every_example_can_be_parsed(example):
    program, *arguments = shlex.split(example)
    assert program == "selectron"
    assert _parser().parse_args(arguments).action


def test_the_declared_words_are_those_of_the_library():
    parsers = _parser()._subparsers._group_actions[0].choices
    help_of = {a.dest: a.help for name in ("run", "power") for a in parsers[name]._actions}
    choices = {a.dest: a.choices for a in parsers["run"]._actions}
    assert choices["kernel"] == list(NAMES)
    assert choices["removal"] == list(REMOVALS)
    assert help_of["rules"].endswith(EXAMPLES)
    assert help_of["policy"].endswith(", ".join(EVERYTHING))
    for dest, default in (("max_sleep", MAX_SLEEP), ("pages", PAGES), ("regimes", REGIMES)):
        assert help_of[dest].endswith(f"[{default}]")


ERRORS = {
    "no command": ([], "required: COMMAND; see selectron --help"),
    "unknown command": (["nope"], "invalid choice: 'nope'"),
    "unknown option": (["run", "DATA", "--nope"], "unrecognized arguments: --nope"),
    "no data": (["run"], "required: data; see selectron run --help"),
    "no file": (["run", "gone.csv"], "gone.csv: there is no such file"),
    "a folder": (["run", "."], "there are no pictures in it"),
    "unknown rule": (
        ["run", "DATA", "--rules", "perceptrn"],
        "unknown rule 'perceptrn'; did you mean perceptron? known are",
    ),
    "unknown knob": (["run", "DATA", "--rules", "perceptron+margin:c=1"], "margin has no knob 'c'"),
    "no knobs": (["run", "DATA", "--rules", "perceptron+always:b=1"], "it has no knobs"),
    "bad knob": (["run", "DATA", "--rules", "perceptron+margin:b=0"], "b must lie in (0, inf)"),
    "a word for a knob": (["run", "DATA", "--rules", "ridge:a=x"], "a must be a number, got 'x'"),
    "a query alone": (["run", "DATA", "--rules", "margin"], "not an update rule and a query rule"),
    "two updates": (["run", "DATA", "--rules", "ridge+arow"], "not an update rule and a query"),
    "three rules": (["run", "DATA", "--rules", "ridge+margin+always"], "not an update rule"),
    "no seeds": (["run", "DATA", "--seeds", "0"], "--seeds must be at least 1, got 0"),
    "seeds in words": (["run", "DATA", "--seeds", "two"], "invalid int value: 'two'"),
    "a bad seed": (["run", "DATA", "--seed", "-1"], "random_state must lie in [0, 2**63)"),
    "no limit": (["run", "DATA", "--limit", "0"], "--limit must be at least 1, got 0"),
    "all for the test": (["run", "DATA", "--test", "1"], "--test must lie in [0, 1), got 1.0"),
    "a class that is not": (["run", "DATA", "--positive", "9"], "no row of class '9'"),
    "one side only": (["run", "DATA", "--negative", "4"], "--negative 4 needs --positive"),
    "both sides": (["run", "DATA", "--positive", "4", "--negative", "4"], "class '4' is on the"),
    "no such target": (["run", "DATA", "--target", "z"], "there is no array 'z'"),
    "many classes": (["run", "THREE", "--rules", "arow"], "Arow is for two classes and there are"),
    "no such folder": (["run", "DATA", "--json", "gone/x.json"], "--json gone/x.json: there is no"),
    "nowhere to save": (["run", "DATA", "--save", "gone/x"], "--save gone/x: there is no such"),
    "no such picture": (["run", "DATA", "--plot", "x.foo"], "--plot x.foo: end its name in one of"),
    "a picture of no kind": (["demo", "--plot", "x"], "--plot x: end its name in one of .png"),
    "nothing to compare": (["compare", "DATA"], "required: rules"),
    "an unknown one": (["compare", "DATA", "default", "nope"], "unknown rule 'nope'"),
    "unknown theorem": (["bound", "ng.nope"], "unknown theorem 'ng.nope'; selectron bound --list"),
    "unknown argument": (
        ["bound", "ng.novikoff", "b=1"],
        "unknown argument 'b'; it takes max_norm",
    ),
    "missing argument": (["bound", "ng.novikoff", "max_norm=1"], "missing margin: pass them as"),
    "argument in words": (["bound", "ng.novikoff", "margin=x"], "margin='x' is not a number"),
    "two for one": (["bound", "ng.novikoff", "margin=1,2"], "margin takes one number, got 1,2"),
    "given twice": (
        ["bound", "ng.novikoff", "max_norm=1", "margin=1", "margin=2"],
        "margin is given twice: give it one value",
    ),
    "outside its range": (["bound", "ng.novikoff", "max_norm=1", "margin=0"], "margin must be in"),
    "too large": (
        ["bound", "ng.novikoff", "max_norm=1", "margin=1e-200"],
        "too large or too small",
    ),
    "no learner": (["inspect", "gone.selectron"], "gone.selectron: there is no such file"),
    "not a learner": (["inspect", "DATA"], "truncated or not a learner's file"),
    "unknown scaling": (
        ["run", "DATA", "--rules", "ridge", "--scaling", "centered"],
        "unknown rule 'centered'; did you mean centred?",
    ),
    "one class": (["warm", "--classes", "1"], "classes=1: there are two at least"),
    "unknown experiment": (["reproduce", "nope"], "unknown experiment 'nope'; known are"),
    "no runs": (["reproduce", "dkm09-labels", "--seeds", "0"], "--seeds must be at least 1"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_is_one_line_and_exit_code_2(command, case, data, three, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, message = ERRORS[case]
    places = {"DATA": data, "THREE": three}
    code, out, err = command(*(places.get(argument, argument) for argument in arguments))
    assert code == 2
    assert out == ""
    assert err.startswith("selectron: ")
    assert message in err
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert not list(tmp_path.iterdir())


def test_want_of_memory_is_one_line(command, data, monkeypatch):
    def greedy(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("selectron.cli.run.judge", greedy)
    code, out, err = command("run", data, "--rules", PLAIN)
    assert (code, out) == (2, "")
    assert err.startswith("selectron: out of memory; take fewer rows with --limit")


def test_a_locale_of_ascii_is_no_error(data):
    done = subprocess.run(
        [sys.executable, "-c", ASCII, "run", data, "--rules", PLAIN, "--seeds", "2"],
        env=environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", NUMBA_DISABLE_JIT="1"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    done.stdout.decode("ascii")


def test_scaling_is_an_option(command, data):
    code, plain, _ = command("run", data, "--rules", PLAIN, "--json", "-")
    scaled = command("run", data, "--rules", PLAIN, "--scaling", "centred", "--json", "-")
    assert (code, scaled[0]) == (0, 0)
    assert plain != scaled[1]


def test_warm_says_how_long_it_took(command):
    code, out, _ = command("warm", "--features", "3", "--rules", PLAIN)
    assert code == 0
    assert re.fullmatch(r"compiled, or found compiled, in \d+\.\d s\n", out)


@pytest.mark.filterwarnings("always::UserWarning")
def test_a_warning_is_one_line_and_told_once(command, data):
    options = ["--rules", "reflection+halving", "--seeds", "2"]
    code, out, err = command("run", data, *options)
    assert code == 0
    assert "learner " in out
    assert err == "selectron: Reflection is made for rows of length one: yours are scaled to it\n"
    assert command("run", data, *options, "--unit-norm")[2] == ""


def test_a_missing_extra_is_named_before_the_work_begins(command, data, monkeypatch, tmp_path):
    monkeypatch.setattr("selectron.cli.output.find_spec", lambda name: None)
    code, out, err = command("run", data, "--rules", PLAIN, "--plot", tmp_path / "x.png")
    assert (code, out) == (2, "")
    assert err == ("selectron: matplotlib is not installed: pip install 'selectron[plot]'\n")


@pytest.mark.parametrize(
    ("module", "name"), [("selectron.cli.run", "judge"), ("selectron.cli.main", "import_module")]
)
def test_control_c_leaves_nothing_half_written(command, data, tmp_path, monkeypatch, module, name):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module(module), name, interrupt)
    targets = [f"--{kind}={tmp_path / kind}.png" for kind in ("json", "plot", "save")]
    assert command("run", data, "--rules", PLAIN, *targets) == (130, "", "interrupted\n")
    assert not list(tmp_path.iterdir())


INTERRUPTED = """
import signal, sys
from contextlib import contextmanager
from types import SimpleNamespace

import selectron.cli.reproduce as command
from selectron.cli import main

@contextmanager
def progress(total, what):
    yield SimpleNamespace(update=lambda n: print("busy", file=sys.__stdout__, flush=True))

signal.signal(signal.SIGINT, signal.default_int_handler)
command.progress = progress
sys.exit(main(["reproduce", "dkm09-labels", "--json", "x.json", "--plot", "x.png"]))
"""


def test_control_c_in_a_process_of_its_own(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "busy\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "interrupted\n")
    assert "growth" not in out
    assert not list(tmp_path.iterdir())


def test_a_closed_pipe_is_no_error():
    code = (
        "import os, sys\n"
        "from selectron.cli import main\n"
        "reader, writer = os.pipe()\n"
        "os.close(reader)\n"
        "sys.stdout = os.fdopen(writer, 'w', buffering=1)\n"
        "code = main(['bound', '--list'])\n"
        "os._exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (141, "")


def test_the_command_itself(data, tmp_path):
    """Once through a real process: the installed entry point, a pipe, no bar in it."""
    entry = "import sys; from selectron.cli import main; sys.exit(main())"
    arguments = ["run", str(data), "--rules", PLAIN, "--json", "-"]
    done = subprocess.run(
        [sys.executable, "-c", entry, *arguments],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rows"] == 240
