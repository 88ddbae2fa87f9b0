"""Print a digest of weights, odds and questions for a spread of rules: run under other settings."""

import hashlib
import json
import sys

import numpy as np

from selectron.numeric.coins import coins
from selectron.scalings import Automatic, Centred, Intercept, Winsorised
from tests.rules.catalogue import PAIRS, QUERIES, UPDATES
from tests.rules.streams import as_csr, as_dense, stream
from tests.rules.subject import play

N, D = 70, 19  # longer than two vectors of eight, with a tail


def digests(pairs):
    found = {}
    for update, query in pairs:
        for dtype in (np.float64, np.float32):
            X, y = stream(n=N, d=D, seed=2, dtype=dtype)
            for kind, rows in (("dense", as_dense(X)), ("csr", as_csr(X))):
                if dtype is np.float32 and (kind == "csr" or query != "margin"):
                    continue  # the same bodies: once for every update is enough
                found[f"{update} {query} {kind} {np.dtype(dtype).name}"] = digest(
                    play(UPDATES[update], QUERIES[query], rows, y, coins(9, 0, N), d=D, dtype=dtype)
                )
    X, y = stream(n=N, d=D, seed=2)
    watching = {"centred": Centred(warmup=5), "winsorised": Winsorised(warmup=5)}
    for name, scaling in (watching | {"intercept": Intercept()}).items():
        for kind, rows in (("dense", as_dense(X)), ("csr", as_csr(X))):
            found[f"ridge balanced {name} {kind}"] = digest(
                play(UPDATES["ridge"], QUERIES["balanced"], rows, y, coins(9, 0, N), d=D,
                     scaling=scaling)
            )  # fmt: skip
    images = np.abs(stream(n=N, d=40, seed=2)[0])
    found["probit auto automatic images"] = digest(
        play(UPDATES["probit"], QUERIES["auto"], as_dense(images), y, coins(9, 0, N), d=40,
             scaling=Automatic(warmup=5))
    )  # fmt: skip
    return found


def digest(outcome):
    content = b"".join(np.ascontiguousarray(part).tobytes() for part in outcome[:6])
    return hashlib.sha256(content).hexdigest()


def spread_of_pairs():
    """Every update and every query at least once, the second-order ones with several."""
    with_margin = [(update, "margin") for update in UPDATES]
    with_queries = [(u, query) for u in ("perceptron", "second-order") for query in QUERIES]
    return list(dict.fromkeys(with_margin + with_queries))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(digests(PAIRS if "all" in sys.argv else spread_of_pairs())))
