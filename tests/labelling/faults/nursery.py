"""A process that forks lives: importing takes a second, and there are hundreds of lives to end.

Each line of input starts a life (`[name, arguments]`) or waits for the end of one (its pid); each
line of output is a pid or an exit status. A life is a function of a module, in a process of its
own. What the function `prepare` of the module does, all its lives find done.
"""

import ctypes
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import traceback
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DIE_WITH_PARENT = 1  # Linux: PR_SET_PDEATHSIG


class Nursery:
    """The side of the test."""

    def __init__(self, *command, module="lives", **variables):
        path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        self._process = subprocess.Popen(
            [*command, sys.executable, "-m", "tests.labelling.faults.nursery", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": path} | variables,
        )

    def start(self, life, **arguments):
        """Start a life; return its pid."""
        return self._say([life, arguments])

    def wait(self, pid):
        """Wait for the end of a life; return its exit status, negative for a signal."""
        return self._say(pid)

    def kill(self, pid):
        os.kill(pid, signal.SIGKILL)
        assert self.wait(pid) == -signal.SIGKILL

    def run(self, life, **arguments):
        """Let a life end by itself, without an error."""
        assert self.wait(self.start(life, **arguments)) == 0

    def _say(self, what):
        print(json.dumps(what), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


def compiled(source, folder):
    """Compile a library to load before all others; return its path."""
    if not shutil.which("gcc"):
        pytest.skip("no C compiler: gcc is not installed")
    library = folder / f"{source}.so"
    path = Path(__file__).with_name(source)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, path, "-ldl"], check=True)
    return str(library)


def main():
    name = sys.argv[1]
    lives = import_module(name if "." in name else f"tests.labelling.faults.{name}")
    logging.disable()  # the faults are on purpose
    getattr(lives, "prepare", lambda: None)()
    for line in sys.stdin:
        what = json.loads(line)
        if isinstance(what, int):
            status = os.waitstatus_to_exitcode(os.waitpid(what, 0)[1])
        else:
            status = os.fork() or live(getattr(lives, what[0]), what[1])
        print(status, flush=True)  # noqa: T201


def live(life, arguments):
    """Live in the new process, and never return to the loop of the old one."""
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)  # a test that is stopped leaves none
    try:
        life(**arguments)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main()
