"""Load and use mutants, and say of each what became of it.

python -m tests.hostile FOLDER FIRST COUNT [KIND ...]: two lines a mutant, its number and its
outcome. Mutant k is of kind k modulo the number of kinds. The process that reads the lines knows by
which mutant this one died; a mutant that takes too long dies by the alarm.
"""

import resource
import signal
import sys
import warnings
from pathlib import Path

from selectron import DamagedFile
from tests.hostile.learners import KINDS, reader_of, uses_of, write
from tests.hostile.mutants import Original

DEADLINE = 60  # seconds for one mutant; a busy machine is slow
ROOM = 256 << 10  # kilobytes of memory that one mutant may take
# What plain Python says where compiled code would compute NaN, or write somewhere.
NUMERIC = ("math domain error", "cannot convert float", "out of bounds", "negative dimensions")


def outcome(kind, path):
    """Load a file and use what was loaded: `refused`, `used`, or what went wrong."""
    try:
        learner = reader_of(kind)(path)
    except DamagedFile as error:
        said = str(error)
        return "refused" if "MemoryError" not in said and "\n" not in said else f"FAILED {said}"
    except Exception as error:
        return f"FAILED load {type(error).__name__}: {error}"
    for step, use in enumerate(uses_of(kind)):
        try:
            use(learner, path)
        except ValueError as error:  # refused: rows, labels, or a request
            if any(words in str(error) for words in NUMERIC):
                return f"FAILED step {step} {type(error).__name__}: {error}"
        except Exception as error:
            return f"FAILED step {step} {type(error).__name__}: {error}"
    return "used"


def original(kind, folder):
    path = folder / kind
    if not path.exists():
        write(kind, path)
    return Original(path)


def say(text):
    sys.stdout.write(ascii(text)[1:-1] + "\n")
    sys.stdout.flush()


def main(folder, first, count, *kinds):
    warnings.simplefilter("ignore")
    path, originals, kinds = folder / "mutant", {}, kinds or KINDS
    for number in range(first, first + count):
        kind = kinds[number % len(kinds)]
        if kind not in originals:
            originals[kind] = original(kind, folder)
        changed = originals[kind].mutant(number // len(kinds), path)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        signal.alarm(DEADLINE)
        say(f"{number} {kind} {changed!a}")
        ended = outcome(kind, path)
        taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        if taken > ROOM:
            ended = f"FAILED took {taken >> 10} MB"
        say(ended)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
