"""Run the whole fast suite: `python -m tests`. Arguments go to pytest."""

import os
import subprocess
import sys
from pathlib import Path

BYTECODE = Path(__file__).parents[1] / ".pytest_cache" / "bytecode"

# One more than cores: servers, browsers and killed processes are waited for.
WORKERS = str(min(4, 1 + (os.cpu_count() or 1)))


def main() -> int:
    # Where the environment forbids bytecode, every process of a test compiles all that it imports:
    # 7 of 10 seconds of its processor. A folder of our own keeps other folders clean.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(BYTECODE))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-m",
        "not slow",
        "-n",
        WORKERS,
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",  # by number of tests; `conftest.py` puts long files first
    ]
    return subprocess.call([*command, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
