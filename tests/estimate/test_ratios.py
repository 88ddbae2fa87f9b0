"""Precision, recall and F1: the extreme quotients of what the products leave."""

from math import exp, log

import numpy as np
import pytest

from selectron.estimate import Bernstein, Evidence, Thinning
from selectron.estimate.estimates import Judge
from selectron.estimate.sums import FALSE_NEGATIVE, FALSE_POSITIVE, MISTAKES, TRUE_POSITIVE
from tests.estimate import twins
from tests.estimate.test_evidence import EXPLORE, evidence_of, stream

MISSES = {"precision": (FALSE_POSITIVE,), "recall": (FALSE_NEGATIVE,), "f1": MISTAKES}
WORTH = {"precision": 1.0, "recall": 1.0, "f1": 2.0}


def truth(predicted, labels, measure):
    """The measure as its textbook has it."""
    true = np.sum((predicted == 1) & (labels == 1))
    if measure == "precision":
        return true / np.sum(predicted == 1)
    if measure == "recall":
        return true / np.sum(labels == 1)
    p, r = truth(predicted, labels, "precision"), truth(predicted, labels, "recall")
    return 2 * p * r / (p + r)


@pytest.mark.parametrize("measure", MISSES)
def test_with_all_labels_the_value_is_the_measure(measure):
    _, _, predicted, labels = stream()
    known = evidence_of(np.ones(600), np.ones(600, bool), predicted, labels).estimate()
    share = getattr(known, measure)
    assert share.value == pytest.approx(truth(predicted, labels, measure))
    assert share.low <= share.value <= share.high


@pytest.mark.parametrize("measure", MISSES)
@pytest.mark.parametrize("construction", [Thinning(), Bernstein()], ids=str)
def test_the_ends_are_the_extreme_quotients(measure, construction):
    """Along the ray of a share the products are convex: below the low end none is small enough."""
    evidence = evidence_of(*stream(n=3000))
    share = getattr(evidence.estimate(construction=construction), measure)
    judge = Judge.at(evidence.tally(), 0.95, construction)
    misses, worth = MISSES[measure], WORTH[measure]
    low = judge.too_few(TRUE_POSITIVE), judge.too_many(*misses)
    high = judge.too_many(TRUE_POSITIVE), judge.too_few(*misses)

    def smallest(pair, at):
        """The least product of both bets among the totals that have this share."""
        hits = np.geomspace(1e-3, 1e5, 20_001)
        missed = worth * hits * (1.0 - at) / at
        return float((pair[0].at(hits) + pair[1].at(missed)).min())

    assert 0.5 < share.low < share.value < share.high < 1.0
    assert smallest(low, share.low - 1e-4) > judge.bound > smallest(low, share.low + 1e-4)
    assert smallest(high, share.high + 1e-4) > judge.bound > smallest(high, share.high - 1e-4)


def test_the_bets_behind_a_quotient_are_the_products():
    odds, asked, predicted, labels = stream(n=200)
    judge = Judge.at(evidence_of(odds, asked, predicted, labels).tally(), 0.9, Thinning())
    assert judge.bound == pytest.approx(log(20.0))
    hits = odds[asked & (predicted == 1) & (labels == 1)]
    false = odds[asked & (predicted == 1) & (labels == -1)]
    missed = odds[asked & (predicted == -1) & (labels == 1)]
    few = exp(judge.too_few(TRUE_POSITIVE).at(30.0))
    assert few == pytest.approx(twins.thinning_low(hits, 30))
    for outcome, events in ((FALSE_POSITIVE, false), (FALSE_NEGATIVE, missed)):
        many = exp(judge.too_many(outcome).at(30.0))
        assert many == pytest.approx(twins.thinning_up(events, 30, EXPLORE))


def test_pending_answers_widen_both_ends():
    evidence = evidence_of(*stream(n=3000))
    now, late = evidence.estimate(), evidence.estimate(pending=9)
    for measure in MISSES:
        before, after = getattr(now, measure), getattr(late, measure)
        assert after.low < before.low
        assert after.high > before.high
        assert after.value == before.value


def test_without_positives_nothing_is_known_of_them():
    evidence = Evidence(EXPLORE)
    evidence.reach(50)
    evidence.add(range(20), [0.5] * 20, [-1] * 20, [-1] * 20)
    shown = evidence.estimate()
    assert shown.f1.value is None
    assert (shown.recall.low, shown.recall.high) == (0.0, 1.0)
    assert str(shown.precision) == "unknown"
    assert str(evidence_of(*stream(n=3000)).estimate().f1).endswith(" %)")
