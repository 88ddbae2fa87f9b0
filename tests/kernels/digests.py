"""Print digests of runs with kernels: made again under other settings."""

import hashlib
import json
import sys

import numpy as np
from scipy.sparse import csr_matrix

from selectron.queries import Auto, Margin
from selectron.updates import Ballseptron, Ridge
from tests.kernels.subject import POLY, RBF, classes_of, machine_of, play, play_classes, rings


def digests(largest_block=512, few=False):
    X, y = rings(n=70, d=11)
    found = {}
    machine = machine_of(
        X, Ballseptron(r=0.1), Margin(b=5.0), n_classes=3, largest_block=largest_block, **POLY
    )
    found["many classes"] = digest(machine, play_classes(machine, X, classes_of(X, 3))[0])
    if few:  # another processor is compiled for anew
        return found
    for name, rows in (("float32", X.astype(np.float32)), ("csr", csr_matrix(X))):
        machine = machine_of(rows, Ridge(), Auto(), largest_block=largest_block, budget=15, **RBF)
        found[f"ridge {name}"] = digest(machine, play(machine, rows, y))
    return found


def digest(machine, log):
    content = [log.forecasts, log.probabilities, log.asked, machine.dual_coefficients()]
    rows = machine.support_vectors()
    content += [rows.toarray() if hasattr(rows, "toarray") else rows]
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in content)).hexdigest()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(digests(few="few" in sys.argv)))
