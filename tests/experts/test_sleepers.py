"""An expert that slept (nan) suffers the loss of the mixture."""

import numpy as np
import pytest

from selectron.experts import FixedShare, LearnAlpha, MarkovShare, StaticExpert
from tests.experts.twins import one_of_each

NAN = np.nan


def sleepy(seed, steps, n, often=0.4):
    rng = np.random.default_rng(seed)
    losses = rng.exponential(size=(steps, n)) * rng.choice([0.5, 5.0], (steps, 1))
    losses[rng.random((steps, n)) < often] = NAN
    asleep = np.isnan(losses).all(axis=1)
    losses[asleep, rng.integers(0, n, asleep.sum())] = 1.0
    return losses


@pytest.mark.parametrize("eta", [1.0, 0.4])
def test_a_sleeper_is_an_expert_that_loses_what_the_mixture_loses(eta):
    losses = sleepy(0, 400, 5)
    for name, experts in one_of_each(5, eta=eta).items():
        out = experts.run(losses)
        filled = one_of_each(5, eta=eta)[name]
        again = filled.run(np.where(np.isnan(losses), out[:, None], losses))
        np.testing.assert_allclose(again, out, rtol=1e-11, err_msg=name)
        np.testing.assert_allclose(
            filled.weights, experts.weights, rtol=1e-9, atol=1e-300, err_msg=name
        )


def test_only_those_awake_are_weighed_against_each_other():
    static = StaticExpert(3, prior=[0.5, 0.25, 0.25])
    loss = static.update([NAN, 0.0, np.log(3)])
    assert loss == pytest.approx(-np.log((1 + 1 / 3) / 2))
    np.testing.assert_allclose(static.weights, [0.5, 0.375, 0.125])


def test_alone_awake_means_nothing_is_learnt():
    for name, experts in one_of_each(3).items():
        experts.run([[0.1, 0.9, 0.4]])
        before = experts.weights
        assert experts.update([NAN, 2.5, NAN]) == pytest.approx(2.5), name
        if name in ("static", "fixed-0"):
            np.testing.assert_allclose(experts.weights, before, rtol=1e-14)


def test_a_leader_that_sleeps_leaves_the_others_their_order():
    """Weights of those awake may all be 0 in double precision; their ratios are not lost."""
    losses = np.tile([0.0, 3.0, 3.2], (1000, 1))
    kinds = {
        "static": StaticExpert(3),
        "fixed": FixedShare(3, 0.0),
        "markov": MarkovShare(np.eye(3)),
        "learn": LearnAlpha(3, alphas=[0.0, 0.0]),
    }
    for name, experts in kinds.items():
        experts.run(losses)
        assert experts.weights[1:].max() == 0.0
        assert experts.vote([None, "b", "c"]) == "b"
        assert experts.predict([NAN, 1.0, 2.0]) == pytest.approx(1.0, abs=1e-15)
        assert experts.predict([[NAN], [1.0], [2.0]]).tolist() == pytest.approx([1.0])
        assert experts.update([NAN, 4.0, 0.0]) == pytest.approx(4.0), name
        assert experts.update([NAN, 500.0, 0.0]) == pytest.approx(196.0), name  # 200 - 4 behind
        assert experts.predict([NAN, 1.0, 2.0]) == pytest.approx(2.0), name


def test_rows_of_learn_alpha_may_be_too_far_behind_for_numbers():
    """Rows that never switch lead by so much that the calm ones have weight 0."""
    experts = LearnAlpha(3, alphas=[0.0, 0.5])
    experts.run(np.tile([0.0, 3.0, 3.2], (2000, 1)))
    assert experts.alpha_weights.tolist() == [1.0, 0.0]
    assert experts.weights[1:].max() == 0.0
    assert experts.vote([None, "b", "c"]) in ("b", "c")
    assert np.isfinite(experts.update([NAN, 4.0, 0.0]))
    assert np.isfinite(experts.weights).all()


def test_what_moves_the_weight_of_one_that_never_wakes():
    """The figures of docs/guides/experts.md."""
    losses = np.random.default_rng(0).random((200, 3)) * [0.5, 1.0, np.nan]
    mixtures = {
        "given": StaticExpert(3),
        "tuned": StaticExpert(3, eta="adahedge"),
        "sharing": FixedShare(3, 0.1, prior=[0.4, 0.4, 0.2]),
        "learning": LearnAlpha(3, horizon=200),
    }
    for experts in mixtures.values():
        experts.run(losses)
    sleeper = {name: experts.weights[2] for name, experts in mixtures.items()}
    assert sleeper["given"] == pytest.approx(1 / 3, rel=1e-12)
    assert round(sleeper["tuned"], 2) == 0.43
    assert sleeper["sharing"] == pytest.approx(1 / 3, rel=1e-6)
    assert round(sleeper["learning"], 2) == 0.19
