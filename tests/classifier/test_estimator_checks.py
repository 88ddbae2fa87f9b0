"""scikit-learn's own conformance suite."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.metadata_routing import get_routing_for_object

from selectron import SelectiveClassifier
from selectron.queries import Always
from selectron.updates import Perceptron


def out_of_reach(learner):
    """Whether no weights can make a learner predict one class on nearly all of much noise.

    A kernel takes no weights. A separator through the origin that learns from mistakes has half of
    the noise on either side, whatever labels weigh.
    """
    return learner.kernel is not None or learner.update is not None


with warnings.catch_warnings():
    # BaseEstimator is not inherited from: importing it takes longer than a first fit.
    warnings.filterwarnings("ignore", message=".*does not inherit from")
    CHECKS = [
        (estimator, check)
        for learner in (
            SelectiveClassifier(random_state=0),
            SelectiveClassifier(Perceptron(), Always(), random_state=0),
            SelectiveClassifier(random_state=0, kernel="rbf"),
        )
        for estimator, check in estimator_checks_generator(learner)
        if not (out_of_reach(learner) and "check_class_weight_classifiers" in str(check))
    ]


def mark(estimator):
    """Leave all but the quickest to compile to plain Python: they take input in as it does."""
    return () if isinstance(estimator.update, Perceptron) else pytest.mark.plain


@pytest.mark.filterwarnings("ignore:.*SCIPY_ARRAY_API")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [pytest.param(estimator, check, marks=mark(estimator)) for estimator, check in CHECKS],
    ids=[f"{c.func.__name__}-{k}" for k, (_, c) in enumerate(CHECKS)],
)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


def test_scikit_learn_hands_on_what_is_requested():
    learner = SelectiveClassifier(Perceptron(), Always(), random_state=0)
    asking = clone(learner.set_fit_request(classes=True).set_score_request(sample_weight=False))
    routing = get_routing_for_object(asking)
    assert routing.fit.requests == {"classes": True}
    assert routing.partial_fit.requests == {"classes": None}
    assert routing.score.requests == {"sample_weight": False}
    assert get_routing_for_object(SelectiveClassifier()).fit.requests == {"classes": None}
    X = np.random.default_rng(0).standard_normal((40, 3))
    with config_context(enable_metadata_routing=True):
        found = cross_validate(
            asking,
            X,
            X[:, 0] > 0,
            params={"classes": [False, True]},
            return_estimator=True,
        )
    assert found["estimator"][0].classes_.tolist() == [False, True]
