"""Wild data: useless labels, concepts that flip, outliers, units of any size, one wild class."""

from contextlib import suppress

import numpy as np
import pytest

from selectron import SelectiveClassifier, load, queries, scalings, updates
from selectron.numeric.coins import coins
from selectron.numeric.rows import DenseRow
from selectron.protocol import absorb, present
from selectron.queries.threshold import WIDEST
from selectron.scalings.automatic import IMAGES, TABLE
from tests.oracles import learners, run
from tests.oracles import queries as query_twins
from tests.oracles import scalings as scaling_twins
from tests.rules.streams import as_dense
from tests.rules.subject import play

# Compiled code does not warn; in plain Python numpy does.
pytestmark = pytest.mark.filterwarnings("ignore:(over|under)flow encountered:RuntimeWarning")

MANY_SEEDS = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 30)]
SEEDS = [0, *MANY_SEEDS]
SIZES = 1e3, -9999.0, 1e100, -1e200, 1e300


def normal_rows(seed, n, d=5, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return rng, X, (X @ rng.standard_normal((d, n_classes))).argmax(axis=1)


def default(seed, X, y):
    return SelectiveClassifier(random_state=seed).partial_fit(X, y, classes=np.unique(y))


def recovers(seed, X, y, spoilt, start):
    """Tell how well a learner does after `start` rows with spoilt labels, beside a fresh one."""
    clf = default(seed, X[:start], spoilt[:start])
    clf.partial_fit(X[start : start + 2_000], y[start : start + 2_000])
    before = clf.n_asked_
    clf.partial_fit(X[start + 2_000 : -2_000], y[start + 2_000 : -2_000])
    fresh = default(seed, X[start:-2_000], y[start:-2_000])
    assert clf.n_asked_ - before <= 500
    assert clf.score(X[-2_000:], y[-2_000:]) >= fresh.score(X[-2_000:], y[-2_000:]) - 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_a_learner_recovers_from_labels_that_were_noise(seed):
    rng, X, y = normal_rows(seed, 44_000)
    recovers(seed, X, y, rng.integers(0, 2, len(y)), 30_000)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_learner_recovers_from_a_concept_that_flips(seed):
    _, X, y = normal_rows(seed, 34_000)
    recovers(seed, X, y, 1 - y, 20_000)


@pytest.mark.parametrize(
    "flips", [0.5, *(pytest.param(f, marks=pytest.mark.slow) for f in (0.3, 0.35, 0.4, 0.45))]
)
@pytest.mark.parametrize("seed", SEEDS[:10])
@pytest.mark.parametrize("query", [queries.Auto(), queries.Balanced()])
def test_few_rows_are_asked_where_labels_are_noise(query, seed, flips):
    rng, X, y = normal_rows(seed, 40_000)
    clf = SelectiveClassifier(
        updates.Probit(), query, scaling=scalings.Automatic(), random_state=seed
    )
    clf.partial_fit(X, y ^ (rng.random(len(y)) < flips), classes=[0, 1])
    assert clf.n_asked_ <= 0.15 * len(y)


def against_the_twin(query, twin, noise, flip):
    """Play labels that are noise, then a concept, then its opposite; return our final state."""
    rng, X, y = normal_rows(3, 1_500, d=3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y[:noise] = rng.integers(0, 2, noise)
    y[flip:] ^= 1
    signs, thrown = 2.0 * y - 1.0, coins(3, 0, len(y))
    ours = play(updates.Probit(), query, as_dense(X), signs, thrown, d=3, scaling=scalings.Raw())
    theirs = run.run(learners.Probit(3), twin, X, signs, thrown)
    np.testing.assert_array_equal(ours.asked, theirs.asked)
    np.testing.assert_allclose(ours.weights, theirs.learner.weights, rtol=1e-6, atol=1e-9)
    return ours.machine.states.now


@pytest.mark.parametrize(
    ("query", "twin"),
    [(queries.Auto(), query_twins.Auto), (queries.Balanced(), query_twins.Balanced)],
)
def test_a_threshold_that_meets_noise_starts_anew_by_the_definition(query, twin):
    query = against_the_twin(query, twin(), 600, 1_200).query
    assert 0.0 < query.threshold <= WIDEST * query.ceiling.largest


def test_a_belief_that_is_refuted_begins_again_by_the_definition():
    update = against_the_twin(queries.Always(), query_twins.Always(), 0, 1_200).update
    assert 250 < update.rule.noise.n_labels < 300  # of the 300 labels since the concept flipped


def spoilt(X, row, value, whole):
    X = X.copy()
    X[row, slice(None) if whole else 0] = value
    return X


@pytest.mark.parametrize("n_classes", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("whole", [False, True])
def test_an_outlier_anywhere_costs_next_to_nothing(n_classes, whole):
    n_seeds = 20 if n_classes == 2 else 60
    asked, scores = np.zeros((2, n_seeds)), np.zeros((2, n_seeds))
    for seed in range(n_seeds):
        rng, X, y = normal_rows(seed, 6_000, n_classes=n_classes)
        wild = spoilt(X[:4_000], rng.integers(0, [10, 50, 4_000][seed % 3]), SIZES[seed % 5], whole)
        for k, rows in enumerate((X[:4_000], wild)):
            clf = default(seed, rows, y[:4_000])
            asked[k, seed], scores[k, seed] = clf.n_asked_, clf.score(X[4_000:], y[4_000:])
    lost = scores[0] - scores[1]
    assert asked[1].sum() <= 1.1 * asked[0].sum()
    assert lost.mean() <= 0.001 + 3.0 * lost.std() / np.sqrt(n_seeds)


def taught(X, warmup=50):
    state = scalings.Automatic(warmup=warmup).begin(X.shape[1], np.float64)
    for x in X:
        state = absorb(state, DenseRow(x))
    return state


@pytest.mark.parametrize("value", SIZES)
@pytest.mark.parametrize("whole", [False, True])
def test_an_outlier_does_not_turn_images_into_a_table(value, whole):
    images = np.random.default_rng(0).random((60, 40))
    assert taught(spoilt(images, 7, value, whole)).kind == IMAGES
    assert taught(images - 0.1).kind == TABLE


@pytest.mark.parametrize("outliers", [0, 3])
def test_the_warm_up_of_a_table_by_its_definition(outliers):
    rng, X, _ = normal_rows(4, 80, d=6)
    X *= 10.0 ** np.array([-300, 300, 0, 0, 5, -100])
    X[:, 3] = rng.random(80) < 0.2
    X[rng.integers(0, 50, outliers), rng.integers(0, 6, outliers)] = 1e305
    early, factors = scaling_twins.cleaned(X[:50])
    rows = np.vstack([early, X[50:]]) * factors
    twin = scaling_twins.Table(6)
    expected = scaling_twins.presented(twin, rows)[-1]
    np.testing.assert_allclose(present(taught(X), DenseRow(X[-1])).values, expected, rtol=1e-9)


@pytest.mark.parametrize("columns", [slice(None), slice(1)])
@pytest.mark.parametrize("n_classes", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_units_of_any_size_give_the_same_questions(columns, n_classes):
    _, X, y = normal_rows(5, 3_000, n_classes=n_classes)
    usual = default(0, X, y)
    for power in (-995, -500, 500, 995):  # powers of two, about 1e-300 to 1e300
        units = np.ones(5)
        units[columns] = 2.0**power
        clf = default(0, X * units, y)
        assert clf.n_asked_ == usual.n_asked_
        np.testing.assert_array_equal(clf.predict(X * units), usual.predict(X))


@pytest.mark.parametrize("power", [-300, -200, 200, 300])
def test_images_of_any_unit_give_the_same_questions(power):
    X = np.random.default_rng(6).random((400, 40))
    y = (X[:, :20].sum(axis=1) > 10.0).astype(int)
    usual, clf = default(0, X, y), default(0, X * 10.0**power, y)
    assert clf.n_asked_ == usual.n_asked_
    np.testing.assert_array_equal(clf.predict(X * 10.0**power), usual.predict(X))


def test_a_warm_up_of_wild_rows_can_be_saved(tmp_path):
    _, X, y = normal_rows(7, 100)
    clf = SelectiveClassifier(random_state=0).partial_fit(X[:30] * 1e300, y[:30], classes=[0, 1])
    clf.save(tmp_path / "wild")
    again = load(tmp_path / "wild").partial_fit(X[30:] * 1e300, y[30:])
    clf.partial_fit(X[30:] * 1e300, y[30:])
    np.testing.assert_array_equal(again.predict(X * 1e300), clf.predict(X * 1e300))


@pytest.mark.parametrize("scale", [1e3, 1e299])
@pytest.mark.parametrize(
    "n_classes",
    [2, pytest.param(4, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.slow)],
)
def test_a_wild_class_does_not_ruin_the_others(n_classes, scale):
    rng = np.random.default_rng(8)
    y = rng.integers(0, n_classes, 5_000)
    X = (3.0 * rng.standard_normal((n_classes, 8)))[y] + rng.standard_normal((5_000, 8))
    X[y == 0] *= scale
    clf = default(0, X[:4_000], y[:4_000])
    assert clf.n_asked_ <= 200
    assert clf.score(X[4_000:], y[4_000:]) >= 0.98


@pytest.mark.parametrize("update", [updates.Perceptron(), updates.Ridge(), updates.Probit()])
@pytest.mark.parametrize("scale", [1e-300, 1e200, 1e300])
def test_rules_without_a_scaling_refuse_or_learn(update, scale):
    _, X, y = normal_rows(9, 200)
    clf = SelectiveClassifier(update, queries.Always(), scaling=scalings.Raw(), random_state=0)
    with suppress(ValueError):
        clf.partial_fit(X * scale, y, classes=[0, 1])
        assert np.isfinite(clf.decision_function(X)).all()
