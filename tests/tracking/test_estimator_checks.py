"""scikit-learn's own conformance suite, on trackers compiled and plain."""

import warnings

import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from selectron.queries import Always
from selectron.tracking import ForgettingRidge, TrackingClassifier
from selectron.updates import Perceptron

FEW = [ForgettingRidge(), ForgettingRidge(memory=None), Perceptron()]

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=".*does not inherit from")
    CHECKS = [
        (estimator, check)
        for learner in (
            TrackingClassifier(FEW, query=Always()),
            TrackingClassifier([SGDClassifier(random_state=0), Perceptron()], query=Always()),
        )
        for estimator, check in estimator_checks_generator(learner)
    ]


def mark(estimator, check):
    """Leave compiled learners to plain Python, but for arrays that the compiler sees as others.

    Compiling takes longer than running, and every kind of row that a check brings is compiled.
    """
    read_only = check.func.__name__ == "check_readonly_memmap_input"
    return pytest.mark.plain if estimator.learners == FEW and not read_only else ()


@pytest.mark.filterwarnings("ignore:.*SCIPY_ARRAY_API")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [pytest.param(estimator, check, marks=mark(estimator, check)) for estimator, check in CHECKS],
    ids=[f"{c.func.__name__}-{k}" for k, (_, c) in enumerate(CHECKS)],
)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)
