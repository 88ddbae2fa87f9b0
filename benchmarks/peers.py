"""The same work by scikit-learn, Vowpal Wabbit and River."""

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
from river import linear_model, preprocessing
from sklearn.linear_model import Perceptron as SkPerceptron

from benchmarks.data import mnist, rcv1, small
from benchmarks.paired import Row, ratio, times
from benchmarks.passes import one_pass
from selectron import SelectiveClassifier
from selectron import river as on_dictionaries
from selectron.queries import Margin
from selectron.scalings import Winsorised
from selectron.updates import Perceptron

VW_ROWS = 100_000
ROUNDS_OF_ROWS = 50


def rows():
    return [*scikit_learn(), *vowpal_wabbit(), *river(), *dictionaries()]


def scikit_learn():
    found = []
    streams = (rcv1(), 1.5), (mnist(), 4.0), (mnist(np.float32), 4.0), (small(), 4.5)
    for stream, gate in streams:
        contestants = {"ours": one_pass(stream)}
        for order, shuffle in (("as it comes", True), ("rows in order", False)):  # it shuffles them
            theirs = SkPerceptron(max_iter=1, tol=None, shuffle=shuffle)
            contestants[order] = partial(theirs.fit, stream.X, stream.y)
        taken = times(contestants)
        ours = taken.pop("ours")
        for order, each in taken.items():
            name = f"6 sklearn Perceptron.fit {order}, {stream.name} {stream.X.dtype}"
            found.append(Row(name, ratio(each, ours), gate, faster=True))
    stream = mnist()
    n = 300
    theirs = SkPerceptron()

    def query_loop():
        theirs.partial_fit(stream.X[:1], stream.y[:1], classes=[False, True])
        for t in range(n):
            if abs(theirs.decision_function(stream.X[t : t + 1])[0]) < np.inf:
                theirs.partial_fit(stream.X[t : t + 1], stream.y[t : t + 1])

    taken = times({"ours": one_pass(stream), "theirs": query_loop})
    each = [t / n for t in taken["theirs"]], [t / len(stream.y) for t in taken["ours"]]
    found.append(Row("7 sklearn partial_fit(1) in a query loop", ratio(*each), 1000, faster=True))
    return found


def vowpal_wabbit():
    """Return row 5; Python's own start and imports are not counted, on either side."""
    stream = rcv1(n=VW_ROWS)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "rows.vw"
        _write_vw(stream, text)
        cache = ["--cache_file", str(Path(folder) / "rows.cache")]
        active = ["--active", "--simulation", "--mellowness", "0.001"]
        _vw(["-d", str(text), *cache])
        commands = {
            "sgd": (["-d", str(text), *cache, "--sgd", *active], 8),
            "default": (["-d", str(text), *cache, *active], 18),
            "text": (["-d", str(text), *active], 35),
        }
        contestants = {name: (lambda c=c: _vw(c)) for name, (c, _) in commands.items()}
        contestants |= {"start": _imports_of_vw, "ours": one_pass(stream)}
        taken = times(contestants)
    found = []
    for name, (_, gate) in commands.items():
        learning = [t - s for t, s in zip(taken[name], taken["start"], strict=True)]
        label = {
            "sgd": "cache --sgd --active",
            "default": "cache --active",
            "text": "text --active",
        }
        found.append(
            Row(
                f"5 VW {label[name]} --simulation",
                ratio(learning, taken["ours"]),
                gate,
                faster=True,
            )
        )
    return found


def _write_vw(stream, path):
    X, y = stream.X, np.where(stream.y, 1, -1)
    with path.open("w") as file:
        for t in range(len(y)):
            part = slice(X.indptr[t], X.indptr[t + 1])
            cells = " ".join(
                f"{j}:{v:.6g}" for j, v in zip(X.indices[part], X.data[part], strict=True)
            )
            file.write(f"{y[t]} | {cells}\n")


def _vw(arguments):
    command = [sys.executable, "-m", "vowpalwabbit", "--quiet", "-b", "18", *arguments]
    subprocess.run(command, check=True, capture_output=True)


def _imports_of_vw():
    subprocess.run([sys.executable, "-c", "import vowpalwabbit.__main__"], check=True)


def river():
    found = []
    rng = np.random.default_rng(0)
    sparse = rcv1(n=VW_ROWS).X
    for name, n, gate in (("d=30", 500, 8), ("sparse 75", 200, 15), ("dense 784", 50, 45)):
        if name == "sparse 75":
            ours_rows = [sparse[[t]] for t in range(n)]
            dicts = [dict(zip(x.indices.tolist(), x.data.tolist(), strict=True)) for x in ours_rows]
        else:
            d = 30 if name == "d=30" else 784
            X = rng.standard_normal((n, d)) / np.sqrt(d)
            ours_rows, dicts = list(X), [dict(enumerate(x.tolist())) for x in X]
        labels = [bool(flag) for flag in rng.random(n) < 0.5]
        taken = times(
            {"ours": _ours_by_row(ours_rows, labels), "theirs": _river_by_row(dicts, labels)}
        )
        faster = ratio(taken["theirs"], taken["ours"])
        found.append(Row(f"8 River predict_one + learn_one, {name}", faster, gate, faster=True))
    return found


def dictionaries():
    """Return row 8 on dictionaries: rows as they are, and rows that both sides scale online.

    Every row is predicted, with the decision whether to ask on our side, and every row is learnt.
    """
    found = []
    rng = np.random.default_rng(0)
    ours, regression = on_dictionaries.SelectiveClassifier, linear_model.LogisticRegression
    for d, gates in ((30, (1.1, 4, 4)), (75, (1.4, 6.5, 5))):
        X = rng.standard_normal((200, d)) / np.sqrt(d)
        rows = [{f"column {k}": v for k, v in enumerate(x.tolist())} for x in X]
        labels = (X @ rng.standard_normal(d) > 0).tolist()
        contestants = {
            "regression": regression(),
            "scaled regression": preprocessing.StandardScaler() | regression(),
            "Perceptron": ours(Perceptron(), Margin(b=0.1), seed=0),
            "scaled Perceptron": ours(Perceptron(), Margin(b=0.1), Winsorised(), seed=0),
            "default": ours(seed=0),
        }
        taken = times({name: _row_by_row(m, rows, labels) for name, m in contestants.items()})
        pairs = (
            ("regression", "Perceptron"),
            ("scaled regression", "scaled Perceptron"),
            ("scaled regression", "default"),
        )
        for (theirs, mine), gate in zip(pairs, gates, strict=True):
            name = f"8 River {theirs} / {mine}, dicts of {d} keys"
            found.append(Row(name, ratio(taken[theirs], taken[mine]), gate, faster=True))
    return found


def _ours_by_row(rows, labels):
    learner = SelectiveClassifier(Perceptron(), Margin(b=0.1), random_state=0)
    return _row_by_row(learner, rows, labels)


def _river_by_row(rows, labels):
    return _row_by_row(linear_model.Perceptron(), rows, labels)


def _row_by_row(learner, rows, labels):
    """Predict and learn a few rows, again and again: in a service a row was just made."""

    def run():
        for _ in range(ROUNDS_OF_ROWS):
            for x, y in zip(rows, labels, strict=True):
                learner.predict_one(x)
                learner.learn_one(x, y)

    return run


def start_up():
    """Return row 15: a new process to its first fit, against importing scikit-learn's models."""
    ours = (
        "import numpy as np\nfrom selectron import SelectiveClassifier\n"
        "from selectron.queries import Margin\nfrom selectron.updates import Perceptron\n"
        "X = np.ones((4, 3))\n"
        "SelectiveClassifier(Perceptron(), Margin(b=0.1), random_state=0).fit(X, [0, 1, 0, 1])"
    )
    run = lambda code: subprocess.run([sys.executable, "-c", code], check=True)  # noqa: E731
    taken = times({"ours": lambda: run(ours), "theirs": lambda: run("import sklearn.linear_model")})
    start = perf_counter()
    run("pass")
    python = perf_counter() - start
    ours_net = [t - python for t in taken["ours"]]
    theirs_net = [t - python for t in taken["theirs"]]
    return [
        Row("15 import and first cached fit / import sklearn", ratio(ours_net, theirs_net), 1.0)
    ]
