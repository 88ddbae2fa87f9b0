"""A whole labelling house in a process: store, service, the real learner and the HTTP server."""

from time import sleep, time

import numpy as np

from selectron.labelling import service as service_module
from selectron.labelling.desk import Desk
from selectron.labelling.learner import PoolLearner
from selectron.labelling.server.run import Server
from selectron.labelling.service import Service
from selectron.labelling.store import StoreError, open_store
from tests.labelling import office
from tests.labelling.faults.lives import HastyService


def token_of(name):
    """Return the token of the program that speaks for an annotator."""
    return f"the-token-of-annotator-{name}"


def prepare():
    """Compile all that a life needs, or read it from the cache: a life is shorter than that."""
    items, truth = office.tickets(60)
    learner = PoolLearner({"seed": 0})
    learner.add_rows(items)
    learner.add_classes(office.CLASSES)
    for row, item in enumerate(items[:20]):
        learner.teach([(row, truth[item["id"]])])
        learner.choose(4, np.arange(60) > row)
    learner.chances()
    PoolLearner({"seed": 0}).unpack(learner.packing()(), items)


def begin(address, items):
    """Make a store with tickets to label."""
    service = Service(open_store(address), Desk(PoolLearner))
    for call in (
        lambda desk: desk.add_classes(office.CLASSES, time()),
        lambda desk: desk.set({"overlap": 0.2}, time()),
        lambda desk: desk.add_items(items, time()),
    ):
        service.submit(call).result()
    service.close()


def serve(address, port, annotators, control=False):
    """Serve until killed."""
    service_module.PACK_LESSONS = 66
    HastyService.haste = 0.05
    make = HastyService if control else Service
    while True:
        try:
            service = make(open_store(address), Desk(PoolLearner))
            break
        except StoreError:  # the server has not noticed yet that the last life ended
            sleep(0.01)
    tokens = {token_of(name): str(name) for name in range(annotators)}
    Server(service, port=port, tokens=tokens).run()
