"""Calls from several threads: none is lost, and predictions disturb nobody."""

import sys
from collections import Counter
from threading import Event, Thread
from time import monotonic, sleep

import numpy as np
import pytest
from numba import config

from selectron import SelectiveClassifier, load
from selectron.classifier.run import Run
from selectron.queries import Margin
from selectron.tracking import TrackingClassifier
from selectron.updates import Perceptron

pytestmark = pytest.mark.skipif(
    config.DISABLE_JIT, reason="plain Python changes threads within a round"
)

LEARNERS = {
    "default": lambda: SelectiveClassifier(random_state=0),
    "kernel": lambda: SelectiveClassifier(
        Perceptron(), Margin(b=0.1), kernel="poly", degree=5, random_state=0
    ),
    "tracking": lambda: TrackingClassifier(random_state=0),
}


@pytest.fixture
def restless():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_beside_a_run_do_not_change_it(name):
    X = np.random.default_rng(0).standard_normal((8000, 20))
    y = X[:, 0] * X[:, 1] > 0
    alone, watched = (LEARNERS[name]().partial_fit(X[:60], y[:60]) for _ in range(2))
    over, seen = Event(), [0]

    def watch():
        while not over.is_set():
            watched.predict(X[:200])
            seen[0] += 1

    thread = Thread(target=watch)
    thread.start()
    for start in range(0, len(y), 500):
        rows, before = slice(start, start + 500), seen[0]
        while seen[0] == before and thread.is_alive():
            sleep(1e-4)
        watched.partial_fit(X[rows], y[rows])
        alone.partial_fit(X[rows], y[rows])
    over.set()
    thread.join()
    assert watched.n_asked_ == alone.n_asked_
    assert np.array_equal(watched.decision_function(X), alone.decision_function(X))


# --- every call from every thread

ROWS = np.random.default_rng(1).standard_normal((5000, 6))
LABELS = (ROWS[:, 0] + 0.3 * ROWS[:, 1] > 0).astype(int)


class Service:
    """A learner that several threads use at once, and what they did."""

    def __init__(self, path, rounds):
        self.path, self.rounds = path, rounds
        self.clf = SelectiveClassifier(random_state=0, explore=0.05)
        self.clf.partial_fit(ROWS[:300], LABELS[:300])
        self.journal, self.failures, self.played = [], [], Counter()

    def listen(self, monkeypatch):
        """Write down what the run does, in the order in which the lock lets it happen."""
        for name in ("ask", "tell", "forget", "teach"):
            monkeypatch.setattr(Run, name, self.written_down(name, getattr(Run, name)))

    def written_down(self, name, method):
        def call(run, *given, **options):
            if run is self.clf._run:
                self.journal.append((name, given, options))
            return method(run, *given, **options)

        return call

    def work(self, seed, one_row, deadline):
        rng = np.random.default_rng(seed)
        calls = [self.ask_tell, self.learn, self.give_up, self.look]
        calls += [self.ask_one, self.learn_one] if one_row else []
        for _ in range(self.rounds):
            try:
                rng.choice(calls)(int(rng.integers(300, 2400)))
            except Exception as error:
                self.failures.append(repr(error))
            if monotonic() > deadline:
                return

    def ask_tell(self, t):
        asked = self.clf.ask(ROWS[t : t + 2])
        tickets = asked.tickets[asked.asked]
        self.clf.tell(tickets, LABELS[t : t + 2][asked.asked])
        self.played["rounds"] += 2

    def learn(self, t):
        self.clf.partial_fit(ROWS[t : t + 3], LABELS[t : t + 3])
        self.played["rounds"] += 3

    def give_up(self, t):
        asked = self.clf.ask(ROWS[t : t + 1])
        self.clf.forget(asked.tickets[asked.asked])
        self.played["rounds"] += 1

    def ask_one(self, t):
        self.clf.ask_one(ROWS[t])
        self.played["rounds"] += 1

    def learn_one(self, t):
        t = 2500 + t  # nobody asks about these rows, so each is a round of its own
        self.clf.learn_one(ROWS[t], int(LABELS[t]))
        self.played["rounds"] += 1

    def look(self, t):
        assert self.clf.estimate().high <= 1.0
        assert "labels asked" in self.clf.readout()
        assert len(self.clf.predict(ROWS[t : t + 5])) == len(ROWS[t : t + 5])
        self.clf.save(self.path)
        assert load(self.path).n_seen_ >= 300


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize(
    ("rounds", "seconds"), [(150, 20), pytest.param(10_000, 60, marks=pytest.mark.slow)]
)
def test_calls_from_eight_threads_are_as_if_one_after_the_other(
    tmp_path, monkeypatch, rounds, seconds
):
    service = Service(tmp_path / "learner", rounds)
    service.listen(monkeypatch)
    deadline = monotonic() + seconds
    threads = [Thread(target=service.work, args=(k, False, deadline)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert service.failures == []
    assert {name for name, *_ in service.journal} == {"ask", "tell", "forget", "teach"}
    twin = SelectiveClassifier(random_state=0, explore=0.05).partial_fit(ROWS[:300], LABELS[:300])
    for name, given, options in service.journal:
        getattr(twin._run, name)(*given, **options)
    clf = service.clf
    assert (clf.n_seen_, clf.n_asked_) == (twin.n_seen_, twin.n_asked_)
    assert clf.estimate() == twin.estimate()
    assert clf.readout() == twin.readout()
    np.testing.assert_array_equal(clf.decision_function(ROWS), twin.decision_function(ROWS))


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize(
    ("rounds", "seconds"), [(150, 20), pytest.param(10_000, 60, marks=pytest.mark.slow)]
)
def test_no_round_of_eight_threads_is_lost(tmp_path, rounds, seconds):
    service = Service(tmp_path / "learner", rounds)
    deadline = monotonic() + seconds
    counts = [Counter() for _ in range(8)]

    def work(k):
        own = Service.__new__(Service)
        own.__dict__ = service.__dict__ | {"played": counts[k]}
        own.work(k, True, deadline)

    threads = [Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert service.failures == []
    assert service.clf.n_seen_ == 300 + sum(count["rounds"] for count in counts)
    load(service.path)
