"""Windows: evidence restarted every quarter, each start with its share of the level."""

import numpy as np
import pytest

from selectron.estimate import Evidence, Recent
from tests.estimate.test_evidence import EXPLORE, stream

WINDOW = 200


def played(n, cuts, outside=None):
    """Gather a stream in batches; return the evidence and the stream."""
    odds, asked, predicted, labels = stream(n=n)
    if outside is not None:
        odds[outside] = 0.01
        asked[outside] = False
    recent, done = Recent(WINDOW, EXPLORE), 0
    for reached in [*cuts, n]:
        recent.reach(reached, outside=int((odds[:reached] < EXPLORE).sum()))
        told = done + np.flatnonzero(asked[done:reached])
        recent.add(told, odds[told], predicted[told], labels[told])
        done = reached
    return recent, (odds, asked, predicted, labels)


def since(start, run, level, pending=0):
    """The same from scratch, on the rounds since a start."""
    odds, asked, predicted, labels = (part[start:] for part in run)
    evidence = Evidence(EXPLORE)
    evidence.reach(len(odds), outside=int((odds < EXPLORE).sum()))
    told = np.flatnonzero(asked & (odds >= EXPLORE))
    evidence.add(told, odds[told], predicted[told], labels[told])
    return evidence.estimate(level, pending=pending)


@pytest.mark.parametrize(
    ("n", "start"), [(40, 0), (200, 0), (250, 0), (251, 50), (300, 50), (999, 750), (1000, 750)]
)
@pytest.mark.parametrize("cuts", [(), (7,), range(10, 1000, 10), range(50, 1000, 50)])
def test_a_window_is_the_evidence_since_its_start(n, start, cuts):
    recent, run = played(n, [c for c in cuts if c < n])
    shown = recent.estimate(0.9)
    number = start // 50 + 1
    wanted = since(start, run, 1.0 - (1.0 - 0.9) / (number * (number + 1)))
    assert (shown.error, shown.low, shown.high) == (wanted.error, wanted.low, wanted.high)
    assert (shown.rounds, shown.labels, shown.level) == (n - start, wanted.labels, 0.9)
    assert n <= WINDOW or WINDOW < shown.rounds <= 1.25 * WINDOW
    assert shown.f1 == wanted.f1


def test_few_pieces_live():
    recent, _ = played(5000, range(10, 5000, 10))
    assert len(recent._pieces) <= 6
    jump = Recent(WINDOW, EXPLORE)
    jump.reach(10**9)
    assert len(jump._pieces) == 6


def test_rounds_outside_belong_to_their_piece():
    cuts = range(50, 1000, 50)
    recent, run = played(1000, cuts, outside=np.arange(700, 790))
    wanted = since(750, run, 1.0 - (1.0 - 0.95) / (16 * 17))
    shown = recent.estimate()
    assert (shown.outside, shown.rounds) == (40, 210)
    assert (shown.low, shown.high) == (wanted.low, wanted.high)


def test_rounds_outside_across_a_start_are_refused():
    recent = Recent(WINDOW, EXPLORE)
    recent.reach(30, outside=2)
    with pytest.raises(ValueError, match="5 rounds outside between rounds 30 and 60: tell the"):
        recent.reach(60, outside=7)
    recent.reach(50, outside=5)
    recent.reach(60, outside=7)
    assert recent.estimate().outside == 7


def test_late_answers_and_questions_go_where_they_belong():
    recent, run = played(1000, [])
    wanted = since(750, run, 1.0 - (1.0 - 0.95) / (16 * 17), pending=([250 - 1], [0.3]))
    assert recent.estimate(pending=([10, 999], [0.3, 0.3])).high == wanted.high
    before = recent.estimate()
    recent.add([5], [0.5], [1], [-1])
    assert recent.estimate() == before  # too old to matter
    recent.add([999], [0.5], [1], [-1])
    assert recent.estimate().labels == before.labels + 1


def test_forgotten_questions_go_where_they_belong():
    recent, run = played(1000, [])
    wanted = since(750, run, 1.0 - (1.0 - 0.95) / (16 * 17), pending=([250 - 1], [0.3]))
    recent.forget([10, 999], [0.3, 0.3])
    assert recent.estimate().high == wanted.high
    shown = recent.estimate(pending=900)
    assert (shown.pending, shown.lost) == (250, 1)
    with pytest.raises(ValueError, match="5000 pending questions of 1000"):
        recent.estimate(pending=5000)


def test_it_goes_on_where_it_was_saved():
    recent, _ = played(620, range(10, 620, 10))
    resumed = Recent.from_state(recent.state())
    for r in (recent, resumed):
        r.reach(700)
        r.add([650, 660], [0.2, 0.4], [1, -1], [-1, -1])
    one, other = recent.state(), resumed.state()
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[k], other[k]) for k in one)
    assert resumed.estimate() == recent.estimate()


@pytest.mark.parametrize("window", [0, 3, 10, -4])
def test_a_bad_window_is_refused(window):
    with pytest.raises(ValueError, match="window must be a multiple of 4 rounds"):
        Recent(window, EXPLORE)


def test_other_bad_input_is_refused():
    recent, _ = played(100, [])
    with pytest.raises(ValueError, match=r"level must lie .* got 1\.5"):
        recent.estimate(1.5)
    with pytest.raises(ValueError, match="rounds only add up"):
        recent.reach(90)
    with pytest.raises(ValueError, match="has not been played"):
        recent.add(100, 0.5, 1, 1)


def test_without_a_window_it_is_the_later_half():
    """It speaks of the rounds since the last start but one, each start with its share."""
    recent, stream = Recent(None, EXPLORE), Evidence(EXPLORE)
    since = {499: 0, 500: 0, 999: 0, 1000: 500, 1999: 500, 2000: 1000, 3999: 1000, 4000: 2000}
    for rounds in range(1, 4001):
        recent.reach(rounds)
        if rounds in since:
            assert recent.since == since[rounds]
    stream.reach(2000)
    for evidence, first in ((recent, 2000), (stream, 0)):
        evidence.add([first + 5, first + 9], [0.5, EXPLORE], [1, 1], [-1, 1])
    alone = stream.estimate(1.0 - 0.05 / (4 * 5))  # 0, 500, 1,000, 2,000: the fourth start
    shown = recent.estimate()
    assert (shown.low, shown.high, shown.rounds) == (alone.low, alone.high, alone.rounds)
    jumped = Recent(None, EXPLORE)
    jumped.reach(10**9)
    assert jumped.since == 500 * 2**19
    assert Recent.from_state(recent.state()).estimate() == shown
