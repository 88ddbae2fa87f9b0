"""Ctrl-C at any moment of a command: one line, exit code 130, and a store that is whole."""

import ctypes
import signal
import subprocess
import sys
from time import sleep

import pytest

from selectron.cli.interrupts import none_dropped
from selectron.labelling.store import open_store
from tests.other_process import environment

LINE = "interrupted\n"
# Stop in the midst of an import, say so, and wait for the signal.
STOPPED = """
import sys, time

class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            print("here", flush=True)
            time.sleep(60)

sys.meta_path.insert(0, Stop())
from selectron.cli import main
sys.exit(main({arguments!r}))
"""
# The learner is busy for a minute, as if it compiled, in the thread that writes.
BUSY = """
import sys, time
from selectron.labelling.desk import Desk

def busy(desk, *arguments):
    print("here", flush=True)
    time.sleep(60)

setattr(Desk, {method!r}, busy)
from selectron.cli import main
sys.exit(main(["label", "items.csv", "--classes", "a,b", "--no-browser", "--port", "0"]))
"""


@pytest.fixture
def items(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("text\n" + "".join(f"letter {i}\n" for i in range(20)))
    return path


def started(code, cwd, **env):
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=cwd, env=environment(**env), text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


@pytest.mark.plain
@pytest.mark.parametrize("command", ["run", "label"])
@pytest.mark.parametrize("module", ["tomllib", "numpy", "numba", "selectron.loop"])
def test_while_modules_are_imported(items, command, module):
    code = STOPPED.format(module=module, arguments=[command, items.name])
    with started(code, items.parent) as process:
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == ("", LINE)
    assert process.returncode == 130
    assert list(items.parent.iterdir()) == [items]


@pytest.mark.plain
@pytest.mark.parametrize("method", ["add_items", "choose", "warm"])
def test_while_the_learner_is_busy_the_store_is_left_whole(items, method):
    code = BUSY.format(method=method)
    with started(code, items.parent, NUMBA_DISABLE_JIT="1") as process:
        assert process.stdout.readline() == "here\n"
        sleep(0.3)  # until the main thread waits
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert err.endswith(LINE)
    with open_store(items.with_name("items.selectron.db")) as store:
        assert store.verify().ok


def compile_interrupted(error=None):
    """Drop a KeyboardInterrupt as LLVM does; then fail, or go on."""

    def raises():
        raise KeyboardInterrupt

    with none_dropped():
        ctypes.CFUNCTYPE(None)(raises)()
        if error:
            raise error
        for _ in range(100):
            sleep(0.05)


@pytest.mark.parametrize("error", [None, RuntimeError("no compiled object yet")])
def test_an_interrupt_that_the_compiler_drops_comes_again(capsys, error):
    with pytest.raises(KeyboardInterrupt):
        compile_interrupted(error)
    assert capsys.readouterr().err == ""


def test_an_error_without_an_interrupt_stays_an_error():
    with pytest.raises(RuntimeError, match="another"), none_dropped():
        raise RuntimeError("another")
