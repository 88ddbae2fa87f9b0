"""What cannot be right is refused, by name and with a remedy, and nothing is learnt from it."""

import numpy as np
import pytest

from selectron.experts import (
    AdaHedge,
    FixedShare,
    LearnAlpha,
    MarkovShare,
    StaticExpert,
    best_alpha,
    best_partition,
    discretisation_size,
    optimal_alphas,
)
from tests.experts.twins import one_of_each

NAN, INF = np.nan, np.inf


def same_state(one, other):
    return one.keys() == other.keys() and all(
        np.array_equal(one[key], other[key], equal_nan=True) for key in one
    )


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ([0.1, -0.5, 0.2], r"expert 1 is -0.5; losses must be >= 0 and finite"),
        ([0.1, 0.2, INF], r"expert 2 is inf; .*cap them"),
        ([-INF, 0.2, 0.3], r"expert 0 is -inf"),
        ([NAN, NAN, NAN], r"all experts slept \(nan\); leave out"),
        ([0.1, 0.2], r"shape \(2,\); give one loss an expert, \(3,\)"),
        ([[0.1, 0.2, 0.3]], r"shape \(1, 3\); give one loss an expert, \(3,\)"),
    ],
)
def test_bad_losses_change_nothing(losses, message):
    for experts in one_of_each(3, eta=AdaHedge()).values():
        experts.run([[0.3, 0.1, 0.9], [0.0, 0.4, NAN]])
        before = experts.state()
        with pytest.raises(ValueError, match=message):
            experts.update(losses)
        assert same_state(before, experts.state())


def test_a_bad_row_refuses_the_whole_matrix():
    for experts in one_of_each(3).values():
        before = experts.state()
        with pytest.raises(ValueError, match=r"expert 2 at step 1 is -1.0"):
            experts.run([[0.1, 0.2, 0.3], [0.1, 0.2, -1.0]])
        with pytest.raises(ValueError, match=r"slept .* at step 1; leave out"):
            experts.run([[0.1, 0.2, 0.3], [NAN, NAN, NAN]])
        with pytest.raises(ValueError, match=r"loss_matrix has shape \(2, 2\); .* \(T, 3\)"):
            experts.run([[0.1, 0.2], [0.1, 0.2]])
        with pytest.raises(ValueError, match=r"loss_matrix has shape \(3,\)"):
            experts.run([0.1, 0.2, 0.3])
        assert same_state(before, experts.state())


def test_predictions_need_someone_awake_and_one_an_expert():
    for experts in one_of_each(3).values():
        with pytest.raises(ValueError, match="all experts abstain"):
            experts.predict([NAN, NAN, NAN])
        with pytest.raises(ValueError, match="all experts abstain"):
            experts.predict([[1.0, NAN], [1.0, NAN], [1.0, NAN]])
        with pytest.raises(ValueError, match=r"shape \(2,\); give one prediction an expert"):
            experts.predict([1.0, 2.0])
        with pytest.raises(ValueError, match="all experts abstain"):
            experts.vote([None, None, None])
        with pytest.raises(ValueError, match="2 labels for 3 experts"):
            experts.vote(["a", "b"])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: StaticExpert(0), "n is 0; a mixture needs"),
        (lambda: StaticExpert(2.5), "n is 2.5"),
        (lambda: StaticExpert(2, eta=0.0), "eta is 0.0; give a finite rate > 0"),
        (lambda: StaticExpert(2, eta=INF), "eta is inf"),
        (lambda: StaticExpert(2, eta="hedge"), "eta is 'hedge'; .*adahedge"),
        (lambda: StaticExpert(2, prior=[0.5, 0.0]), "give 2 weights > 0"),
        (lambda: StaticExpert(2, prior=[1.0]), "give 2 weights > 0"),
        (lambda: StaticExpert(2, prior=[1.0, INF]), "give 2 weights > 0"),
        (lambda: AdaHedge(factor=0.0), "factor is 0.0; AdaHedge needs factor > 0"),
        (lambda: AdaHedge(cap=-1.0), "cap is -1.0"),
        (lambda: FixedShare(2, -0.1), "alpha is -0.1; a switching rate"),
        (lambda: FixedShare(2, 1.1), "alpha is 1.1"),
        (lambda: FixedShare(2, NAN), "alpha is nan"),
        (lambda: FixedShare(2, 1e-290), "alpha is 1e-290; .* from 1e-280"),
        (lambda: LearnAlpha(2), "horizon is None and alphas is None; give one"),
        (lambda: LearnAlpha(2, horizon=5, alphas=[0.5]), "give one of them"),
        (lambda: LearnAlpha(2, alphas=[]), r"alphas have shape \(0,\); give at least one"),
        (lambda: LearnAlpha(2, alphas=[0.5, 2.0]), "alpha is 2.0"),
        (lambda: LearnAlpha(2, horizon=0), "horizon is 0; give the number of steps"),
        (lambda: MarkovShare([[0.5, 0.4], [0.5, 0.5]]), "row 0 of transition sums to 0.9; divide"),
        (lambda: MarkovShare([[1.5, -0.5], [0.5, 0.5]]), r"row 0 .* lie in \[0, 1\]"),
        (lambda: MarkovShare([[NAN, 1.0], [0.5, 0.5]]), "row 0"),
        (lambda: MarkovShare([[0.5, 0.5]]), r"shape \(1, 2\); give a square matrix"),
        (lambda: MarkovShare(np.empty((0, 0))), r"shape \(0, 0\)"),
        (lambda: optimal_alphas(), "delta is None and horizon is None; give one"),
        (lambda: optimal_alphas(0.1, horizon=5), "give one of them"),
        (lambda: optimal_alphas(0.0), "delta is 0.0; give a finite number from"),
        (lambda: optimal_alphas(NAN), "delta is nan"),
        (lambda: discretisation_size(horizon=10**13), "over a million rates"),
        (lambda: best_alpha([[0.1, NAN]]), "loss_matrix holds nan; .* fill in"),
        (lambda: best_alpha([[0.1, -2.0]]), "loss_matrix holds -2.0"),
        (lambda: best_alpha([[0.1, INF]]), "loss_matrix holds inf"),
        (lambda: best_alpha(np.empty((0, 2))), r"shape \(0, 2\)"),
        (lambda: best_partition([[0.1, 0.2]], -1), "n_switches is -1"),
        (lambda: best_partition([[0.1, 0.2]], 0.5), "n_switches is 0.5"),
    ],
)
def test_impossible_arguments_are_named(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_nothing_to_learn_from_is_fine():
    for experts in one_of_each(3).values():
        before = experts.state()
        assert experts.run(np.empty((0, 3))).shape == (0,)
        assert same_state(before, experts.state())


@pytest.mark.parametrize("eta", [None, [1.0], 10**400, "1", 0, -1.0, NAN, INF])
def test_a_bad_rate_is_named(eta):
    with pytest.raises(ValueError, match=r"eta is .*; give a finite rate > 0"):
        StaticExpert(2, eta=eta)


@pytest.mark.parametrize("value", [None, "1", 10**400, 0, NAN])
def test_a_bad_factor_or_cap_is_named(value):
    for name in ("factor", "cap"):
        with pytest.raises(ValueError, match=f"{name} is .*; AdaHedge needs {name} > 0"):
            AdaHedge(**{name: value})
    with pytest.raises(ValueError, match="factor is inf; AdaHedge needs a finite one"):
        AdaHedge(factor=INF)


WORDS = {
    "n": lambda bad: StaticExpert(bad),
    "alpha": lambda bad: FixedShare(3, bad),
    "horizon": lambda bad: LearnAlpha(3, horizon=bad),
    "alphas": lambda bad: LearnAlpha(3, alphas=[0.1, bad]),
    "transition": lambda bad: MarkovShare([[0.5, 0.5], [0.5, bad]]),
    "prior": lambda bad: StaticExpert(2, prior=[0.5, bad]),
    "losses": lambda bad: StaticExpert(2).update([0.5, bad]),
    "loss_matrix": lambda bad: StaticExpert(2).run([[0.5, bad]]),
    "expert_predictions": lambda bad: StaticExpert(2).predict([0.5, bad]),
    "n_switches": lambda bad: best_partition([[0.1, 0.2]], bad),
}


@pytest.mark.parametrize("bad", ["a", [1.0], {}, 10**400], ids=["text", "list", "dict", "huge"])
@pytest.mark.parametrize("name", WORDS)
def test_what_is_no_number_is_named(name, bad):
    with pytest.raises(ValueError, match=f"^{name} (is|have)[^;]*; "):
        WORDS[name](bad)


def test_a_vote_of_one_label_that_is_no_list():
    with pytest.raises(ValueError, match="1 labels for 2 experts; give one an expert"):
        StaticExpert(2).vote(None)


def test_one_number_is_no_list_of_rates_or_weights():
    with pytest.raises(ValueError, match=r"alphas have shape \(\); give at least one rate"):
        LearnAlpha(3, alphas=0.5)
    with pytest.raises(ValueError, match=r"prior is 1.0; give 1 weights"):
        StaticExpert(1, prior=1.0)
