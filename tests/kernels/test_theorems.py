"""What must hold on every stream: bounds in the space of the kernel, products under a budget."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selectron.bounds import ss05
from selectron.queries import Always
from selectron.updates import Ballseptron
from tests.kernels.subject import POLY, classes_of, machine_of, play_classes, rings, twin_kernel

pytestmark = pytest.mark.plain

N_CLASSES = 3


def features(X):
    """Rows whose plain products are the kernel's values: a root of the Gram matrix."""
    kernel = twin_kernel(POLY)
    values, vectors = np.linalg.eigh(np.array([[kernel(x, s) for s in X] for x in X]))
    return vectors * np.sqrt(np.maximum(values, 0.0))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0.02, 0.5), radius=st.floats(0.0, 0.99))
def test_the_multiclass_bounds_hold_in_the_space_of_the_kernel(seed, share, radius):
    X, _ = rings(n=40, d=3, seed=seed)
    labels = classes_of(X, N_CLASSES)
    labels[::9] = (labels[::9] + 1) % N_CLASSES
    Z = features(X)
    plain_norm = float(np.sqrt((Z**2).sum(axis=1)).max())
    U = np.zeros((N_CLASSES, Z.shape[1]))
    np.add.at(U, labels, Z)
    U -= U.mean(axis=0)
    U /= np.sqrt((U**2).sum())
    margin = share * np.sqrt(2) * plain_norm
    r = 0.999 * radius * ss05.LARGEST_RADIUS * margin / np.sqrt(2)
    machine = machine_of(X, Ballseptron(r=r), Always(), n_classes=N_CLASSES, **POLY)
    _, predicted = play_classes(machine, X, labels)
    scores = Z @ U.T
    own = scores[np.arange(len(X)), labels]
    scores[np.arange(len(X)), labels] = -np.inf
    losses = np.maximum(0.0, margin - (own - scores.max(axis=1)))
    max_norm, wide = ss05.multiclass_scale(max_norm=plain_norm, r=r)
    known = {"max_norm": max_norm, "target_margin": margin, "r": wide}
    wrong = int((predicted != labels).sum())
    assert wrong <= ss05.d1_mistakes(hinge=losses.sum(), **known) + 1e-6
    assert wrong <= ss05.d2_mistakes(hinge_norm=np.sqrt(losses @ losses), **known) + 1e-6


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), removal=st.sampled_from(["random", "smallest", "projection"]))
def test_products_are_those_of_the_hypotheses(seed, removal):
    X, _ = rings(n=40, d=3, seed=seed)
    labels = classes_of(X, N_CLASSES)
    memory = {"budget": 7, "removal": removal}
    machine = machine_of(X, Ballseptron(r=0.3), Always(), n_classes=N_CLASSES, **POLY, **memory)
    play_classes(machine, X, labels)
    kernel, rows = twin_kernel(POLY), machine.support_vectors()
    assert len(rows) <= 7
    gram = np.array([[kernel(s, t) for s in rows] for t in rows])
    alphas = machine.dual_coefficients()
    expected = alphas @ gram @ alphas.T
    scale = np.abs(alphas) @ np.abs(gram) @ np.abs(alphas).T + len(X) * gram.max()
    assert (np.abs(machine.store.products - expected) <= 1e-9 * scale).all()
