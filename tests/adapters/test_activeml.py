"""What scikit-activeml promises of a stream query strategy.

Its own templates for such tests are not in its wheels, so what they ask is asked here again.
"""

from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.naive_bayes import GaussianNB

from selectron.queries import Balanced, Budget, Margin, RateTracking
from tests.rules.catalogue import QUERIES

pytest.importorskip(
    "skactiveml", reason="scikit-activeml is not installed: pip install 'selectron[activeml]'"
)

from skactiveml.classifier import ParzenWindowClassifier, SklearnClassifier

from selectron.activeml import RuleSampling

pytestmark = pytest.mark.plain
X, centres = make_blobs(60, centers=3, random_state=0)
y = centres % 2
CLF = ParzenWindowClassifier(classes=[0, 1], random_state=0)
FITTED = clone(CLF).fit(X[:10], y[:10])


class Anything:
    pass


def asked(strategy=None, **changed):
    arguments = {"candidates": X[10:], "clf": FITTED} | changed
    return (strategy or RuleSampling(random_state=0)).query(**arguments)


# --- parameters


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("random_state", np.nan, ValueError),
        ("random_state", "state", ValueError),
        ("budget", Anything, TypeError),
        ("budget", "0.0", TypeError),
        ("budget", 1, TypeError),
        ("budget", 0.0, ValueError),
        ("budget", 1.1, ValueError),
        ("rule", Anything(), TypeError),
        ("rule", "no-such-rule", ValueError),
    ],
)
def test_wrong_settings_are_refused_by_the_first_query(name, value, error):
    strategy = RuleSampling(**{name: value})
    assert getattr(strategy, name) is value
    with pytest.raises(error):
        asked(strategy)


def test_two_budgets_are_refused():
    with pytest.raises(ValueError, match="give one of them"):
        asked(RuleSampling(Budget(Margin(), rate=0.2), budget=0.1))


@pytest.mark.parametrize(
    ("name", "value", "errors"),
    [
        ("candidates", np.nan, ValueError),
        ("candidates", Anything, ValueError),
        ("clf", np.nan, TypeError),
        ("clf", "state", TypeError),
        ("clf", Anything(), TypeError),
        ("clf", GaussianNB(), TypeError),
        ("X", "string", (ValueError, TypeError)),
        ("X", Anything, (ValueError, TypeError)),
        ("X", X[:20], ValueError),
        ("y", np.nan, TypeError),
        ("y", Anything, TypeError),
        ("y", np.vstack([y[:10], y[:10]]), ValueError),
        ("sample_weight", np.nan, (ValueError, TypeError)),
        ("sample_weight", Anything, (ValueError, TypeError)),
        ("sample_weight", np.ones(11), ValueError),
        ("fit_clf", np.nan, TypeError),
        ("fit_clf", "state", TypeError),
        ("return_utilities", "string", TypeError),
        ("return_utilities", Anything, TypeError),
    ],
)
def test_wrong_arguments_of_query_are_refused(name, value, errors):
    usual = {"X": X[:10], "y": y[:10], "fit_clf": True}
    with pytest.raises(errors):
        asked(**(usual | {name: value}))


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("candidates", Anything, TypeError),
        ("queried_indices", "string", IndexError),
        ("queried_indices", Anything, IndexError),
    ],
)
def test_wrong_arguments_of_update_are_refused(name, value, error):
    usual = {"candidates": [[]], "queried_indices": []}
    with pytest.raises(error):
        RuleSampling().update(**(usual | {name: value}))
    RuleSampling().update(**usual)


@pytest.mark.parametrize(
    ("missing", "classes"),
    [(np.nan, [1.0, 2.0]), (0, [1, 2]), (None, [1, 2]), (None, ["A", "B"]), ("", ["A", "B"])],
)
def test_labels_of_any_type(missing, classes):
    clf = ParzenWindowClassifier(classes=classes, missing_label=missing)
    kind = object if missing is None else np.asarray([missing, *classes]).dtype
    labels = np.full(10, missing, kind)
    labels[:2] = classes
    asked(clf=clf, X=X[:10], y=labels, fit_clf=True, sample_weight=np.ones(10))


# --- query changes nothing, update does


@pytest.mark.parametrize("rule", QUERIES.values(), ids=QUERIES)
def test_query_changes_nothing(rule):
    budget = None if isinstance(rule, Budget) else 0.3
    strategy = RuleSampling(rule, budget, random_state=np.random.RandomState(0))
    clf = deepcopy(FITTED)
    found = [asked(strategy, clf=clf, return_utilities=True) for _ in range(3)]
    for queried, utilities in found:
        assert queried.tolist() == found[0][0].tolist()
        assert utilities.tolist() == found[0][1].tolist()
        assert len(utilities) == 50
    assert clf.predict_proba(X).tolist() == FITTED.predict_proba(X).tolist()


def test_fit_clf_fits_a_copy():
    queried = asked(clf=CLF, X=X[:10], y=y[:10], fit_clf=True)
    assert queried.tolist() == asked().tolist()
    assert not hasattr(CLF, "classes_")


def test_one_by_one_is_the_same_as_all_at_once():
    together, alone = (RuleSampling(RateTracking(rate=0.5), 0.5, random_state=1) for _ in range(2))
    said = {"utilities": [], "mistakes": []}
    indices = []
    for t in range(40):
        x = X[10 + t : 11 + t]
        queried, utilities = alone.query(x, FITTED, return_utilities=True)
        wrong = FITTED.predict(x)[queried] != y[10 + t : 11 + t][queried]
        alone.update(x, queried, {"utilities": utilities, "mistakes": wrong})
        indices += [t] * len(queried)
        said["utilities"].extend(utilities)
        said["mistakes"].extend(wrong)
    together.update(X[10:50], indices, said)
    assert together.state_ == alone.state_
    last = [s.query(X[50:], FITTED).tolist() for s in (together, alone)]
    assert last[0] == last[1]


@pytest.mark.parametrize("rule", ["always", "margin:b=0.1", "balanced", "halving", "auto"])
@pytest.mark.parametrize("budget", [0.1, 0.4])
def test_the_budget_is_spent_and_never_exceeded(rule, budget):
    strategy, n_asked = RuleSampling(rule, budget, random_state=0), 0
    rng = np.random.default_rng(0)
    for t in range(200):
        x = rng.standard_normal((1, 2)) * 3
        queried, utilities = strategy.query(x, FITTED, return_utilities=True)
        strategy.update(x, queried, {"utilities": utilities})
        n_asked += len(queried)
        assert n_asked <= budget * (t + 1)
    assert n_asked >= budget * 200 - 3


def test_mistakes_widen_what_is_asked():
    careful, sure = (RuleSampling(Balanced(), 1.0, random_state=0) for _ in range(2))
    for strategy, mistakes in ((careful, True), (sure, False)):
        strategy.update(X[:9], range(9), {"utilities": np.full(9, 0.5), "mistakes": [mistakes] * 9})
    assert careful.state_.rule.threshold > sure.state_.rule.threshold


def test_more_than_two_classes():
    clf = SklearnClassifier(GaussianNB(), classes=[0, 1, 2]).fit(X, centres)
    queried, utilities = asked(clf=clf, return_utilities=True)
    ranked = np.sort(clf.predict_proba(X[10:]), axis=1)
    np.testing.assert_allclose(utilities, 1.0 - (ranked[:, -1] - ranked[:, -2]))
    assert 0 < len(queried) <= 5


def test_a_classifier_of_one_class_leaves_no_doubt():
    clf = ParzenWindowClassifier(classes=[0]).fit(X[:2], [0, 0])
    assert asked(clf=clf, return_utilities=True)[1].tolist() == [0.0] * 50


def test_it_is_cloned_and_shown_as_scikit_learn_does():
    strategy = RuleSampling(Margin(b=0.2), budget=0.3, random_state=1)
    assert clone(strategy).get_params() == strategy.get_params()
    assert repr(strategy) == "RuleSampling(budget=0.3, random_state=1, rule=Margin(b=0.2))"
