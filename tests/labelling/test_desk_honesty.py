"""Audits are honest: desks whose error is known, and what the desk says of it.

Each desk is looked at all the way, and counts as one that lied if it ever did. At most 5 % may.
If exactly 5 % of the desks lied, the bounds below would be exceeded with probability 0.0015 by 100
desks (12 of them) and 0.0010 by 1,000 (71).
"""

from dataclasses import dataclass, field
from itertools import cycle

import numpy as np
import pytest

from selectron.labelling.desk import Desk, Pick
from tests.labelling.counting import narrow

ITEMS = 1000
PEOPLE = 8  # each has two questions at a time, so that 16 are chosen at once
CLASSES = ["no", "yes"]
BOUNDS = {100: 12, 1000: 71}


class KnownLearner:
    """A model that stays as it is: what it says of each item was decided before."""

    def __init__(self, chances, order):
        self._chances, self._order = chances, order  # of "yes"; which rows are asked about first

    def add_rows(self, items):
        pass

    add_classes = restore = add_rows

    def teach(self, lessons):
        pass

    def chances_at(self, rows):
        return self.chances()[rows]

    def choose(self, n, free):
        rows = [row for row in self._order if free[row]][:n]
        return [
            Pick(int(row), 0.0, "doubt", CLASSES[int(self._chances[row] > 0.5)]) for row in rows
        ]

    def chances(self):
        return np.column_stack([1.0 - self._chances, self._chances])

    def snapshot(self):
        return None


@dataclass
class Story:
    """What became of one desk."""

    left: bool = False  # the truth was outside the interval at some time
    declared: bool = False
    wrongly: bool = False
    audits: int = 0
    answers: int = 0
    chances: dict = field(default_factory=dict)  # of a mistake, by the number of the audit


class Simulation:
    """A desk, people who know the truth, and a learner whose mistakes are known."""

    def __init__(self, seed, mistakes=0.0, positives=0.5, **settings):
        draw = np.random.default_rng(seed)
        self.truth = np.zeros(ITEMS, bool)
        self.truth[draw.permutation(ITEMS)[: round(positives * ITEMS)]] = True
        self.wrong = np.zeros(ITEMS, bool)
        self.wrong[draw.permutation(ITEMS)[: round(mistakes * ITEMS)]] = True
        chances = np.where(self.truth ^ self.wrong, 0.6, 0.4)
        if positives < 0.5:  # a ranking by noisy scores, for goals of recall
            chances = 0.5 * self.truth + 0.5 * draw.random(ITEMS) ** 2
        order = draw.permutation(ITEMS)  # so that doubt does not find the mistakes, and they stay
        self.desk, self.n = Desk(lambda settings: KnownLearner(chances, order)), 0
        self.story = Story()
        items = [{"id": f"i{k}", "text": "a text"} for k in range(ITEMS)]
        self.take(self.desk.add_items(items, 0.0))
        self.take(self.desk.add_classes(CLASSES, 0.0))
        self.take(self.desk.set({"seed": seed, **settings}, 0.0))

    def take(self, decision):
        free = self.desk.books.free()  # audits are drawn from these before anything else is chosen
        for event in decision.events:
            self.n += 1
            self.desk.apply(event, self.n)
            if event.kind == "chosen" and event.body["kind"] == "audit":
                number, row = int(event.body["question"][1:]), int(event.body["item"][1:])
                self.story.chances[number] = self.wrong[free].mean()
                free[row] = False
        return decision.reply

    def work(self, most):
        """Answer until the goal is declared, or so many answers were given."""
        desk, story = self.desk, self.story
        while story.answers < most:
            self.take(desk.choose(0.0))
            if desk.quality.reached():
                story.declared, story.wrongly = True, self.is_wrong()
                break
            asked = [
                (question, person)
                for person in map(str, range(PEOPLE))
                for question in self.take(desk.next(person, 2, 0.0, 0.0))["questions"]
            ]
            for question, person in asked:
                label = CLASSES[int(self.truth[int(question["item"]["id"][1:])])]
                story.answers += 1
                id = f"a{story.answers}"
                self.take(desk.answer(id, question["question"], label, person, 0.0, 0.0))
            story.left |= self.is_left()
        story.audits = len(desk.quality.judged())
        return story

    def is_left(self):
        books, quality = self.desk.books, self.desk.quality
        if books.settings["positive"]:
            return quality.recall()["low"] > self.recall()
        said = quality.error()
        if not said["audits"]:
            return False
        judged = [question.number for question, _ in quality.judged()]
        mean = float(np.mean([self.story.chances[number] for number in judged]))
        now = self.share_left() if books.frozen else mean
        return not (said["low"] <= mean and now <= said["high"])

    def is_wrong(self):
        limit = float(self.desk.books.settings["goal"].partition("=")[2])
        if self.desk.books.settings["positive"]:
            return self.recall() < limit
        return self.share_left() > limit

    def recall(self):
        return self.desk.books.balance["yes"] / self.truth.sum()

    def share_left(self):
        left = np.ones(ITEMS, bool)
        left[list(self.desk.books.labels)] = False
        return (self.wrong & left).sum() / max(left.sum(), 1)


def check(stories):
    bound = BOUNDS[len(stories)]
    assert sum(story.left for story in stories) <= bound
    assert sum(story.wrongly for story in stories) <= bound
    return sum(story.declared for story in stories)


DESKS = pytest.mark.parametrize("desks", [100, pytest.param(1000, marks=pytest.mark.slow)])


@DESKS
def test_the_goal_of_an_error(desks):
    mistakes = cycle([0.0, 0.01, 0.02, 0.055])
    stories = [Simulation(k, next(mistakes), goal="error<=0.05").work(400) for k in range(desks)]
    check(stories)
    assert all(story.declared for story in stories[::4])  # those without a mistake
    assert sum(story.declared for story in stories[1::4]) > desks / 4 * 0.6  # those with 1 in 100


@DESKS
def test_the_interval_of_the_error(desks):
    mistakes = cycle([0.0, 0.02, 0.055, 0.3])
    check([Simulation(k, next(mistakes), audit_rate=0.5).work(250) for k in range(desks)])


@DESKS
def test_the_goal_of_recall(desks):
    settings = {"positives": 0.1, "positive": "yes", "audit_rate": 0.2}
    goals = cycle(["recall>=0.5", "recall>=0.7"])
    stories = [Simulation(k, goal=next(goals), **settings).work(300) for k in range(desks)]
    assert check(stories) > desks / 3


def test_the_test_can_fail():
    """Control: an interval that trusts the share of the audits as it is."""
    stories = []
    for k in range(100):
        desk = Simulation(k, 0.055, goal="error<=0.05")
        desk.desk.quality._estimate = narrow
        stories.append(desk.work(150))
    assert sum(story.left for story in stories) > 50
    assert sum(story.wrongly for story in stories) > 20
