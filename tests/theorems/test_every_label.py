"""Bounds of [CBGZ06] without coins, for learners that see every label: they hold on every run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron.bounds import cbgz06
from tests.theorems.streams import bits, comparators, hinge_losses, hostile, noisy, orthonormal
from tests.theorems.subjects import ALWAYS, faults

streams = st.one_of(noisy(), hostile())
margins = st.sampled_from([0.25, 1.0, 3.0])


def updates_of(play, update, X, y):
    """Return the rounds in which a learner that asks for every label is at fault."""
    return faults(y, play(update, ALWAYS, X, y, np.zeros(len(y))))


def p_norm_bound(p, gamma, X, y, updates, us):
    return min(
        cbgz06.p_norm_every_label(
            p=p,
            max_norm=float(np.linalg.norm(X, p, axis=1).max()),
            comparator_norm=float(np.linalg.norm(u, p / (p - 1))) * gamma,
            target_margin=gamma,
            hinge=updates @ hinge_losses(X, y, u * gamma, gamma),
        )
        for u in us
    )


@given(case=streams, p=st.sampled_from([2.0, 3.0, 6.0]), gamma=margins)
def test_the_bound_of_the_p_norm_family_holds(play, case, p, gamma):
    X, y = case
    updates = updates_of(play, ("PNorm", {"p": p}), X, y)
    bound = p_norm_bound(p, gamma, X, y, updates, comparators(X, y))
    assert updates.sum() <= bound * (1 + 1e-9) + 1e-9


def test_orthonormal_rows_attain_the_bound_for_p_2(play):
    X, y = orthonormal(4)
    updates = updates_of(play, ("PNorm", {"p": 2.0}), X, y)
    assert updates.sum() == 4 == pytest.approx(p_norm_bound(2.0, 1.0, X, y, updates, [y @ X]))


def test_the_factor_p_minus_1_is_needed(play):
    # With X² in place of (p - 1)X² the bound would be below the five mistakes.
    X, y = bits(5, tilt=0.01)
    p = 2 * np.log(32)
    updates = updates_of(play, ("PNorm", {"p": p}), X, y)
    bound = p_norm_bound(p, 1.0, X, y, updates, [np.eye(32)[0]])
    assert bound / (p - 1) < updates.sum() == 5 <= bound


@given(case=streams, a=st.sampled_from([0.3, 1.0, 2.5]), gamma=margins)
def test_inequality_13_holds_for_second_order(play, case, a, gamma):
    X, y = case
    updates = updates_of(play, ("SecondOrder", {"a": a}), X, y)
    learnt = X[updates]
    gram = learnt.T @ learnt
    volume = cbgz06.log_volume_of(eigenvalues=np.linalg.eigvalsh(gram), a=a)
    A = a * np.eye(len(gram)) + gram
    for u in comparators(X, y):
        bound = cbgz06.second_order_optimal_mistakes(
            target_margin=gamma,
            hinge=updates @ hinge_losses(X, y, u * gamma, gamma),
            comparator_energy=u @ A @ u * gamma**2,
            log_volume=volume,
        )
        assert updates.sum() <= bound * (1 + 1e-9) + 1e-9


@given(case=streams, eta=st.sampled_from([0.1, 0.5, 2.0]), above=st.sampled_from([1.2, 2.0, 9.0]))
@pytest.mark.parametrize("balanced", [False, True])
def test_the_bound_of_winnow_holds(play, balanced, case, eta, above):
    X, y = case
    d, longest = X.shape[1], float(np.abs(X).max())
    gamma = above * eta * longest**2 / 2
    updates = updates_of(play, ("Winnow", {"eta": eta, "balanced": balanced}), X, y)
    us = [*np.eye(d), np.full(d, 1 / d)]
    if balanced:
        us += [u / max(1.0, np.abs(u).sum()) for u in comparators(X, y)]
    known = {"eta": eta, "target_margin": gamma, "max_norm": longest, "d": (1 + balanced) * d}
    for u in us:
        hinge = updates @ hinge_losses(X, y, u, gamma)
        assert updates.sum() <= cbgz06.winnow_every_label(hinge=hinge, **known) * (1 + 1e-9)


def test_halving_the_candidates_each_round_comes_close_to_the_bound_of_winnow(play):
    # log₂ d mistakes against 2 ln d; a bound with half of ln d would be broken.
    X, y = 0.99 * bits(6).X - 0.01, np.ones(6)
    updates = updates_of(play, ("Winnow", {"eta": 0.98, "balanced": False}), X, y)
    hinge = updates @ hinge_losses(X, y, np.eye(64)[0], 0.98)
    known = {"eta": 0.98, "target_margin": 0.98, "max_norm": float(np.abs(X).max()), "d": 64}
    bound = cbgz06.winnow_every_label(hinge=hinge, **known)
    assert bound / 2 < updates.sum() <= bound


def test_halving_the_weight_each_round_comes_closer(play):
    # 21 mistakes against 22.2: ηX²/4 in place of ηX²/2, or a tenth less, would be broken.
    X = half_of_the_weight(0.5, 4096)
    updates = updates_of(play, ("Winnow", {"eta": 0.5, "balanced": False}), X, np.ones(len(X)))
    known = {"eta": 0.5, "target_margin": 1.0, "max_norm": 1.0, "d": 4096}
    bound = cbgz06.winnow_every_label(hinge=0.0, **known)
    assert 0.94 * bound < updates.sum() == len(X) <= bound


def test_labels_that_alternate_cost_winnow_all_of_the_hinge_loss(play):
    # Each label undoes the one before. The second entry keeps margins off 0.
    X, y = np.tile([1.0, -1.0 - 1e-6], (40, 1)), np.resize([1.0, -1.0], 40)
    updates = updates_of(play, ("Winnow", {"eta": 0.5, "balanced": False}), X, y)
    hinge = updates @ hinge_losses(X, y, np.full(2, 0.5), 50.0)
    known = {"eta": 0.5, "target_margin": 50.0, "max_norm": 1.0 + 1e-6, "d": 2}
    bound = cbgz06.winnow_every_label(hinge=hinge, **known)
    assert 0.99 * bound < updates.sum() == 40 <= bound


def half_of_the_weight(eta, d):
    """Return rows of signs: on each, entries with less than half of Winnow's weight are right.

    The first entry always is. The rows end when it has half of the weight by itself.
    """
    weights, rows = np.full(d, 1 / d), []
    while weights[0] < 0.5:
        row, held = np.full(d, -1.0), weights[0]
        row[0] = 1.0
        for i in np.argsort(-weights[1:], kind="stable") + 1:
            if held + weights[i] < 0.5:
                row[i] = 1.0
                held += weights[i]
        rows.append(row)
        weights = weights * np.exp(eta * row)
        weights /= weights.sum()
    return np.array(rows)


def test_a_margin_too_small_for_the_rate_of_winnow_is_named():
    with pytest.raises(ValueError, match="needs target_margin > eta max_norm²/2"):
        cbgz06.winnow_every_label(eta=1.0, target_margin=0.5, max_norm=1.0, hinge=0.0, d=3)
