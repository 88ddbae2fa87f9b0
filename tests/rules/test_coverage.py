"""Rows that stand for many others: against the definition, and what comes of asking them first."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.evaluate import progressive
from selectron.numeric.coins import coins
from selectron.numeric.rows import DenseRow, ShiftedRow, SparseRow
from selectron.protocol import ManyForecast, advance, ask_probability, count_class, observe, preview
from selectron.queries import Capped
from selectron.queries.coverage import after_decision, fresh_coverage, stands_out, weight, with_row
from tests.oracles.coverage import Coverage as Twin

D = 6
RNG = np.random.default_rng(9)
ROWS = RNG.standard_normal((400, D)) * RNG.random((400, 1))


@pytest.mark.parametrize("sparse", [False, True])
def test_the_definition(sparse):
    ours, twin = fresh_coverage(D), Twin()
    columns = np.arange(D, dtype=np.uint32)
    for t, coin in enumerate(coins(2, 0, len(ROWS))):
        x = SparseRow(ROWS[t], columns) if sparse else DenseRow(ROWS[t])
        ours = with_row(ours, x)
        twin.preview(ROWS[t])
        assert ours.gain == pytest.approx(twin.gain, abs=1e-12)
        assert weight(ours) == pytest.approx(twin.weight, rel=1e-9)
        first = t < 150
        assert stands_out(ours) == twin.stands_out
        asked = stands_out(ours) if first else bool(coin < 0.1)
        ours = after_decision(ours, asked, first)
        twin.decide(asked, first)
        np.testing.assert_allclose(ours.nearest[: ours.n_rows], twin.nearest, atol=1e-12)
    assert ours.n_rows == len(twin.rows) == 256
    assert 10 < ours.asked.sum() == len(twin.questions) < 60


def test_a_row_that_many_resemble_comes_before_one_that_none_does():
    coverage = fresh_coverage(D)
    middle, alone = np.eye(D)[0], np.eye(D)[1]
    for noise in 0.1 * RNG.standard_normal((40, D)):
        coverage = after_decision(with_row(coverage, DenseRow(middle + noise)), False, True)
    assert with_row(coverage, DenseRow(middle)).gain > with_row(coverage, DenseRow(alone)).gain
    after = after_decision(with_row(coverage, DenseRow(middle)), True, True)
    again = with_row(after, DenseRow(middle))
    assert again.gain == pytest.approx(0.0, abs=0.1)  # one question stands for them all
    assert weight(again) < 1.0


def test_without_a_row_at_hand_nothing_changes():
    coverage = after_decision(with_row(fresh_coverage(D), DenseRow(ROWS[0])), True, True)
    assert coverage.gain < 0.0
    assert weight(coverage) == 1.0
    assert after_decision(coverage, True, True) is coverage


def test_rows_that_are_too_wide_or_never_written_out_are_not_kept():
    wide = fresh_coverage(5000)
    assert wide.rows.shape == (1, 5000)
    assert with_row(wide, DenseRow(np.ones(5000))) is wide
    coverage, total = fresh_coverage(D + 1), np.ones(D)
    row = ShiftedRow(ROWS[0], np.arange(D, dtype=np.uint32), total, 1.0, 0.1, 1.0, 0.25, 1.0)
    assert with_row(coverage, row) is coverage


def test_the_first_questions_go_by_coverage_one_row_in_ten_and_then_by_margins():
    query, rounds, by_margin = Capped(explore=0.0).many(D, 3), [], 0
    unsure, sure = (ManyForecast(m, 1.0, 1.0, 1.0, True, 0, 1) for m in (1e-9, 50.0))
    for x in np.tile(ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True), (2, 1)):
        query = preview(query, DenseRow(x))
        odds = ask_probability(query, DenseRow(x), sure)
        more = ask_probability(query, DenseRow(x), unsure)
        assert odds <= more
        if query.coverage.n_rows > 10 and query.n_asked < 15:
            assert odds == more
        by_margin += odds < more
        asked = odds == 1.0
        query = advance(query, sure, asked)
        if asked:
            query = observe(count_class(query, len(rounds) % 3, 3), DenseRow(x), sure, 1.0)
            rounds.append(query.n_rounds)
    assert 60 < rounds[14] < 300
    assert by_margin > 400


@pytest.mark.parametrize("kinds", [1, 4])
def test_rows_that_only_come_again_do_not_hold_it_up(kinds):
    query, asked, forecast = Capped().many(D, 3), [], ManyForecast(0.1, 1.0, 1.0, 1.0, True, 0, 1)
    for t in range(900):
        x = DenseRow(np.eye(D)[t % kinds])
        query = preview(query, x)
        asked.append(ask_probability(query, x, forecast) == 1.0)
        query = advance(query, forecast, asked[-1])
        if asked[-1]:
            query = observe(count_class(query, 0, 3), x, forecast, 1.0)
    assert 15 <= sum(asked) <= 40  # of one class: 20 labels, then one row in ten by their coins


def test_after_400_labels_rows_are_not_looked_at():
    query = Capped().many(D, 3)._replace(n_labels=400)
    assert preview(query, DenseRow(ROWS[0])) is query


@pytest.mark.plain
def test_few_labels_know_many_clusters():
    """Of thirty tight clusters in five classes the first questions are about one each."""
    rng = np.random.default_rng(3)
    which = rng.integers(0, 30, 900)
    X = rng.standard_normal((30, 20))[which] + 0.1 * rng.standard_normal((900, 20))
    asked = which[progressive(SelectiveClassifier(random_state=0), X, which % 5).asked]
    assert len(set(asked[:15])) >= 13
