"""Digests of weights, odds and questions; as a program, of a few rules, under other settings."""

import hashlib
import json
import sys

import numpy as np

from selectron.numeric.coins import coins
from selectron.scalings import Automatic, Centred, Intercept, Winsorised
from tests.rules.catalogue import PAIRS, QUERIES, UPDATES
from tests.rules.spread import FEW, SPREAD
from tests.rules.streams import as_csr, as_dense, stream
from tests.rules.subject import play

N, D = 70, 19  # longer than two vectors of eight, with a tail
COINS = coins(9, 0, N)
FORMS = {
    "dense": (as_dense, np.float64),
    "csr": (as_csr, np.float64),
    "dense float32": (as_dense, np.float32),
}
SCALINGS = {
    "centred": Centred(warmup=5),
    "winsorised": Winsorised(warmup=5),
    "intercept": Intercept(),
}


def digests(pairs, forms=tuple(FORMS)):
    found = {}
    for update, query in pairs:
        for form in forms:
            read, dtype = FORMS[form]
            X, y = stream(n=N, d=D, seed=2, dtype=dtype)
            outcome = play(UPDATES[update], QUERIES[query], read(X), y, COINS, d=D, dtype=dtype)
            found[f"{update} {query} {form}"] = digest(outcome)
    return found


def scaled(forms=("dense", "csr")):
    """Play a pair behind each scaling that moves rows."""
    X, y = stream(n=N, d=D, seed=2)
    rules = UPDATES["ridge"], QUERIES["balanced"]
    found = {
        f"{name} {form}": digest(play(*rules, FORMS[form][0](X), y, COINS, d=D, scaling=scaling))
        for name, scaling in SCALINGS.items()
        for form in forms
    }
    images = np.abs(stream(n=N, d=40, seed=2)[0])
    rules = UPDATES["probit"], QUERIES["auto"]
    outcome = play(*rules, as_dense(images), y, COINS, d=40, scaling=Automatic(warmup=5))
    return found | {"automatic": digest(outcome)}


def digest(outcome):
    content = b"".join(np.ascontiguousarray(part).tobytes() for part in outcome[:6])
    return hashlib.sha256(content).hexdigest()


def spread():
    """Every rule once, dense and sparse, a few of them in single precision too."""
    return digests(SPREAD, ["dense", "csr"]) | digests(FEW) | scaled(["dense"])


def few():
    """Two rules in every form, a few more in one: another processor is compiled for anew."""
    others = [
        next(p for p in SPREAD if p[0] == name) for name in ("ballseptron", "winnow", "ridge")
    ]
    return digests(FEW) | digests(others, ["dense"])


def several():
    """Every update in every form, and every query with a first- and a second-order update."""
    with_queries = [(u, query) for u in ("perceptron", "second-order") for query in QUERIES]
    in_forms = digests([(update, "margin") for update in UPDATES]) | scaled()
    return in_forms | digests(with_queries, ["dense", "csr"])


def every():
    return several() | digests(PAIRS, ["dense", "csr"])


CHOICES = {"spread": spread, "few": few, "several": several, "every": every}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(CHOICES[sys.argv[1]]()))
