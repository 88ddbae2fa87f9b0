"""Run the whole fast suite: `python -m tests`. Arguments go to pytest."""

import os
import subprocess
import sys

# One more than cores: servers, browsers and killed processes are waited for.
WORKERS = str(min(4, 1 + (os.cpu_count() or 1)))


def main() -> int:
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
