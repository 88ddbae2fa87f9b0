"""Print digests of learners of desks: made again under other settings."""

import json
import sys
from functools import cache
from hashlib import sha256

import numpy as np

from selectron.labelling.learner import PoolLearner
from tests.labelling import office

LESSONS = 24


KINDS = ("text", "fields", "vector")


def items_of(kind):
    """Return tickets as texts, as records or as vectors, and the class of each."""
    tickets, truth = office.tickets(120)
    draw = np.random.default_rng(1)
    labels = [truth[item["id"]] for item in tickets]
    middles = {name: draw.normal(size=12) for name in office.CLASSES}
    numbers = [(middles[name] + draw.normal(size=12)).tolist() for name in labels]
    texts = [item["text"] for item in tickets]
    values = {
        "text": texts,
        "fields": [
            {"age": row[0], "size": row[1] ** 2, "body": text}
            for row, text in zip(numbers, texts, strict=True)
        ],
        "vector": numbers,
    }[kind]
    return [{"id": str(k), kind: value} for k, value in enumerate(values)], labels


@cache
def digest(kind):
    """Return a digest of what a learner asks about and has learnt; items come in between."""
    items, labels = items_of(kind)
    learner, free, asked = PoolLearner({"seed": 0}), np.ones(len(items), bool), []
    learner.add_rows(items[:80])
    learner.add_classes(office.CLASSES)
    for n in range(LESSONS):
        if n == LESSONS // 2:
            learner.add_rows(items[80:])
        (pick,) = learner.choose(1, free[: 80 if n < LESSONS // 2 else 120])
        asked.append(pick.row)
        free[pick.row] = False
        learner.teach([(pick.row, labels[pick.row])])
    return sha256(f"{asked} {learner.digest()}".encode()).hexdigest()


@cache
def products():
    """Return a digest that does show the processor: what a learner must not compute with."""
    draw = np.random.default_rng(0).normal(size=(201, 201))
    return sha256((draw @ draw).tobytes() + np.exp(draw).tobytes()).hexdigest()


if __name__ == "__main__":
    found = {kind: digest(kind) for kind in sys.argv[1:]}
    sys.stdout.write(json.dumps(found | {"products": products()}))
