"""Probabilities of classes: their form, who has them, and whether they come true."""

from math import erfc, sqrt

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

from selectron import SelectiveClassifier, load, updates
from selectron.classifier.rows import read_rows
from selectron.loop import compiled, run_margins
from selectron.numeric.rows import sealed
from selectron.scalings import Winsorised
from selectron.tracking import TrackingClassifier
from selectron.updates.sharpness import (
    SHARPEST,
    UNTAUGHT,
    UNTAUGHT_SOFTMAX,
    Sharpness,
    chances_of_margins,
    chances_of_scores,
    sharpened,
    sharpened_among,
)

RNG = np.random.default_rng(5)
X = RNG.standard_normal((1_500, 6))
WAY = RNG.standard_normal(6)
TWO = np.where(X @ WAY > 0, "yes", "no")
THREE = np.array(["c", "a", "b"])[np.argmax(X[:, :3], axis=1)]


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "form",
    [
        pytest.param(np.asarray, id="64"),
        pytest.param(np.float32, id="32", marks=pytest.mark.plain),
        pytest.param(csr_matrix, id="csr", marks=pytest.mark.plain),
    ],
)
def test_a_row_of_probabilities_sums_to_one_and_agrees_with_the_prediction(y, form):
    rows = form(X)
    clf = SelectiveClassifier(random_state=0).fit(rows, y)
    chances = clf.predict_proba(rows)
    assert chances.shape == (len(y), len(clf.classes_))
    assert ((chances >= 0.0) & (chances <= 1.0)).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(clf.classes_[chances.argmax(axis=1)], clf.predict(rows))


def test_a_larger_margin_is_more_probable():
    clf = SelectiveClassifier(random_state=0).fit(X, TWO)
    order = np.argsort(clf.decision_function(X))
    assert (np.diff(clf.predict_proba(X)[order, 1]) >= 0.0).all()


def test_several_labels_have_a_column_each():
    flags = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5, X[:, 2] > 1]).astype(int)[:400]
    clf = SelectiveClassifier(random_state=0).fit(X[:400], flags)
    chances = clf.predict_proba(X[:400])
    assert chances.shape == flags.shape
    np.testing.assert_array_equal(chances > 0.5, clf.predict(X[:400]) == 1)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_a_file_keeps_the_bits(y, tmp_path):
    clf = SelectiveClassifier(random_state=0).fit(X, y)
    clf.save(tmp_path / "m")
    assert load(tmp_path / "m").predict_proba(X).tobytes() == clf.predict_proba(X).tobytes()


def test_every_door_teaches_the_scale():
    given = SelectiveClassifier(random_state=0).partial_fit(X, TWO, classes=["no", "yes"])
    asked = SelectiveClassifier(random_state=0)
    asked.partial_fit(X, lambda at: TWO[at], classes=["no", "yes"])
    told = SelectiveClassifier(random_state=0).partial_fit(X[:1], TWO[:1], classes=["no", "yes"])
    for row, label in zip(X[1:], TWO[1:], strict=True):
        if told.ask_one(row).asked:
            told.learn_one(row, label)
    assert asked.predict_proba(X).tobytes() == given.predict_proba(X).tobytes()
    assert told.predict_proba(X).tobytes() == given.predict_proba(X).tobytes()


@pytest.mark.parametrize("update", ["perceptron", updates.Arow()])
def test_rules_without_a_scale_have_no_such_method(update):
    assert not hasattr(SelectiveClassifier(update), "predict_proba")
    assert not hasattr(SelectiveClassifier(update).fit(X, TWO), "predict_proba")


def test_who_has_the_method():
    assert hasattr(SelectiveClassifier(), "predict_proba")
    assert hasattr(SelectiveClassifier("probit:rank=8"), "predict_proba")
    assert hasattr(SelectiveClassifier("rehearsal"), "predict_proba")
    assert not hasattr(SelectiveClassifier(kernel="rbf"), "predict_proba")
    assert not hasattr(SelectiveClassifier("no such rule"), "predict_proba")
    assert not hasattr(TrackingClassifier(), "predict_proba")
    with pytest.raises(AttributeError, match=r"Perceptron.*has no predict_proba.*Probit"):
        SelectiveClassifier(updates.Perceptron()).predict_proba(X)


def test_two_classes_by_prototypes():
    clf = SelectiveClassifier("rehearsal", random_state=0).fit(X, TWO)
    chances = clf.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(clf.classes_[chances.argmax(axis=1)], clf.predict(X))


def test_before_any_label_it_says_so():
    with pytest.raises(NotFittedError):
        SelectiveClassifier().predict_proba(X)
    clf = SelectiveClassifier().partial_fit(X[:5], TWO[:5], classes=["no", "yes"])
    with pytest.raises(ValueError, match="no label has been learnt yet"):
        clf.predict_proba(X)


def test_a_single_class_is_certain():
    clf = SelectiveClassifier(random_state=0).fit(X, np.full(len(X), "yes"))
    np.testing.assert_array_equal(clf.predict_proba(X), np.ones((len(X), 1)))


# --- whether they come true


def unreliability(told, true):
    """Return the mean distance of probabilities from the shares that came true, in ten bins."""
    bins = np.minimum((told * 10).astype(int), 9)
    return sum(abs((told - true)[bins == k].sum()) for k in range(10)) / len(told)


def test_probabilities_come_true_and_those_of_a_broken_scale_do_not():
    """The bound was read off: about 0.05 is left at 300 labels, more than chance alone."""
    far = {1.0: 0.0, 3.0: 0.0, 0.33: 0.0}  # by what the logarithm of the odds is multiplied with
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((5_000, 6))
        truth = 1.0 / (1.0 + np.exp(-rows @ [2.0, -1.0, 1.0, 0.0, 2.0, 0.0]))
        labels = rng.random(5_000) < truth
        clf = SelectiveClassifier(random_state=seed).fit(rows[:3_000], labels[:3_000])
        told = clf.predict_proba(rows[3_000:])[:, 1]
        for power in far:
            odds = (told / (1.0 - told)) ** power
            far[power] += unreliability(odds / (1.0 + odds), truth[3_000:]) / 4
    assert far[1.0] < 0.06
    assert far[3.0] > 0.09
    assert far[0.33] > 0.09


def test_the_slope_of_margins_is_found():
    """Labels drawn with a slope of 2 are learnt to within three standard deviations."""
    rng = np.random.default_rng(0)
    margins, noise = rng.standard_normal(2_000), rng.standard_normal(2_000)
    sharpness = UNTAUGHT
    for n, (margin, bump) in enumerate(zip(margins, noise, strict=True)):
        y = 1.0 if 2.0 * margin + bump > 0.0 else -1.0
        sharpness = sharpened(sharpness, n, y, margin, 1.0, 0.0)
    assert sharpness.spread == pytest.approx(1.0)
    assert abs(sharpness.slope - 2.0) < 3.0 * np.sqrt(sharpness.variance)
    assert sharpness.variance < 0.02
    positive = chances_of_margins(sharpness, np.array([-1.0, 0.0, 1.0]), 0.0)[:, 1]
    np.testing.assert_allclose(positive, [0.023, 0.5, 0.977], atol=0.01)


def test_margins_of_any_size_have_probabilities():
    margins = np.array([-1e308, -1e155, -1e3, 0.0, 1e3, 1e155, 1e308])
    for slope in (0.05, 1.0, 20.0):
        positive = chances_of_margins(Sharpness(1e-3, slope, 0.5), margins, 0.02)[:, 1]
        assert (np.diff(positive) >= 0.0).all()
        assert 0.0 < positive[0] < 0.5 < positive[-1] < 1.0


def test_probabilities_are_those_of_the_normal_distribution():
    margins = np.linspace(-8.0, 8.0, 161)
    found = chances_of_margins(Sharpness(1.0, 1.0, 0.0), margins, 0.0)[:, 1]
    wanted = [erfc(-margin / sqrt(2.0)) / 2.0 for margin in margins]
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def learnt_softmax(scores, labels, counts):
    softmax = UNTAUGHT_SOFTMAX
    for row, label in zip(scores, labels, strict=True):
        softmax = sharpened_among(softmax, counts, row, label)
    return softmax


@pytest.mark.plain
@pytest.mark.parametrize("sharpness", [2.0, 5.0, 9.0])
def test_the_sharpness_of_scores_is_found(sharpness):
    """To within three standard deviations; a class that was never named has no part in it."""
    rng = np.random.default_rng(0)
    scores, counts = rng.standard_normal((5_000, 3)), np.array([5.0, 3.0, 9.0, 0.0])
    chances = chances_of_scores(scores, sharpness)
    drawn = (chances.cumsum(axis=1) < rng.random((5_000, 1))).sum(axis=1)
    scores = np.column_stack([scores, rng.standard_normal(5_000) + 5.0])
    found = learnt_softmax(scores, drawn, counts)
    assert abs(found.sharpness - sharpness) < 3.0 * np.sqrt(found.variance)
    assert found.variance < 0.1
    assert learnt_softmax(scores, scores[:, :3].argmax(axis=1), counts).sharpness > 0.9 * SHARPEST


@pytest.mark.plain
def test_a_label_of_a_new_class_does_not_move_the_sharpness():
    scores, counts = np.array([0.3, -0.2, 0.0]), np.array([2.0, 4.0, 0.0])
    assert sharpened_among(UNTAUGHT_SOFTMAX, counts, scores, 2) is UNTAUGHT_SOFTMAX


@pytest.mark.plain
@pytest.mark.parametrize(
    ("update", "off"),
    [(updates.Probit(), 0.0), (updates.Probit(rank=4), 0.0), (updates.DualProbit(), 1e-8)],
)
def test_the_margin_of_a_glance_is_the_exact_one(update, off):
    """`decision_function` of rules with a scale computes no variance.

    `DualProbit` knows a margin in two ways, and its glance says the least that either can be.
    """
    clf = SelectiveClassifier(update, "always", scaling=Winsorised()).fit(X[:300], TWO[:300])
    machine, exact = clf._run.machine, np.empty(len(X))
    loop = compiled(run_margins, machine.states.kinds)
    loop(machine.states.tree, machine.states.numbers, sealed(read_rows(X)), exact, True)
    found = clf.decision_function(X)
    np.testing.assert_allclose(found, exact, rtol=0.0, atol=off)
    assert (np.abs(found) <= np.abs(exact)).all()
