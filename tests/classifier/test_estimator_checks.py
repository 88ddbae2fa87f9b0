"""scikit-learn's own conformance suite."""

import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from selectron import SelectiveClassifier
from selectron.queries import Always
from selectron.updates import Perceptron

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
