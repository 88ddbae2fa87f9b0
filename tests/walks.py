"""How far a call goes: the files and the calls of this package outside compiled code.

Printed as the table of docs/architecture.md. Plain Python is needed to see where loops begin.
"""

import json
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np

import selectron
from selectron import SelectiveClassifier, load
from selectron.classifier.one_row import FIRST_CALLS
from selectron.queries import Margin
from selectron.updates import Perceptron

PACKAGE = str(Path(selectron.__file__).parent)
COMPILED = {"_quiet.<locals>.call", "toss"}  # where compiled code takes over
X, Y = np.array([[1.0, 2.0], [2.0, -1.0]]), np.array([0, 1])


def walk(call):
    """Return how many files, calls and changes of folder a call takes."""
    places, within = [], 0

    def listen(frame, event, _):
        nonlocal within
        code = frame.f_code
        if event == "call" and (within or code.co_qualname in COMPILED):
            within += 1
        elif event == "call" and code.co_filename.startswith(PACKAGE):
            places.append(code.co_filename)
        elif event == "return" and within:
            within -= 1

    sys.setprofile(listen)
    try:
        call()
    finally:
        sys.setprofile(None)
    folders = [Path(place).parent for place in places]
    changes = sum(a != b for a, b in pairwise(folders))
    return len(set(places)), len(places), changes


def walks(path):
    """Return the walks of a learner of two named rules, everything imported and cached before."""
    clf = SelectiveClassifier(Perceptron(), Margin(b=500.0), random_state=0)
    found = {"fit": walk(lambda: clf.fit(X, Y)), "ask": walk(lambda: clf.ask(X))}
    found["tell"] = walk(lambda: clf.tell([0], [1]))
    found["predict"] = walk(lambda: clf.predict(X))
    for _ in range(FIRST_CALLS):
        clf.predict_one(X[0])
    clf.ask_one(X[0])
    found["ask_one"] = walk(lambda: clf.ask_one(X[0]))
    clf.learn_one(X[0], 0)
    found["learn_one"] = walk(lambda: clf.learn_one(X[0], 0))
    found["save"] = walk(lambda: clf.save(path))
    found["load"] = walk(lambda: load(path))
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        walks(Path(folder) / "learner")
        print(json.dumps(walks(Path(folder) / "learner")))  # noqa: T201
