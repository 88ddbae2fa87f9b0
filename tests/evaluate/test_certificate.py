"""Certificates: the theorem of the pair, evaluated on the run, and a clear no where there is none.

The bounds of [SS05] hold on every run, so every run is checked. Those of [CBGZ06] hold in
expectation over the coins: there the mean of the mistakes over many seeds is held against the bound
at the means of what it depends on (hinge loss, A and its volume), for each of several comparators.
"""

import re
from math import inf, log

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from selectron import SelectiveClassifier
from selectron.bounds import cbgz06, ss05
from selectron.evaluate import Certificate, progressive
from selectron.queries import AdaptiveMargin, Always, Balanced, Margin, SecondOrderMargin, Uniform
from selectron.scalings import Centred
from selectron.updates import (
    Ballseptron,
    Perceptron,
    PNorm,
    Reflection,
    Ridge,
    SecondOrder,
    Winnow,
)

D = 4
SEEDS = range(60)
SCALES = (0.3, 1.0, 3.0, 10.0)
IN_EXPECTATION = {
    "theorem 1": (Perceptron(eta=2.0), Margin(b=0.6)),
    "theorem 2": (Perceptron(eta=0.5), AdaptiveMargin(beta=0.4)),
    "theorem 3": (SecondOrder(a=0.5), Margin(b=0.3)),
    "theorem 3, sharper odds": (SecondOrder(a=0.5), SecondOrderMargin(b=0.3)),
    "theorem 4": (Winnow(eta=0.4), Margin(b=0.1)),
    "theorem 4, balanced": (Winnow(eta=0.4, balanced=True), Margin(b=0.1)),
}
ALWAYS = {
    "perceptron": Perceptron(eta=0.7),
    "ballseptron": Ballseptron(r=0.05),
    "ballseptron, large": Ballseptron(r=0.4),
}


def half_space(seed, n=120, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    target = np.array([0.7, 0.2, 0.1, 0.0])
    y = np.where(X @ target > 0.0, 1.0, -1.0)
    y[rng.random(n) < noise] *= -1.0
    return X, y, target


X, Y, TARGET = half_space(0)


def run(pair, rows=X, y=Y, seed=0, **options):
    return progressive(SelectiveClassifier(*pair, **options), rows, y, seed=seed)


def hinge(trace, u, gamma=1.0, rows=X, y=Y):
    """Sum the hinge losses over the updates, one by one."""
    total = 0.0
    for x, sign, updated in zip(rows, y, trace.updated, strict=True):
        if updated:
            total += max(0.0, gamma - sign * float(np.dot(u, x)))
    return total


# --- what is printed


@pytest.mark.parametrize(
    ("name", "theorem"),
    [
        ("theorem 1", "Theorem 1"),
        ("theorem 2", "Theorem 2"),
        ("theorem 3", "Theorem 3"),
        ("theorem 3, sharper odds", "Theorem 3"),
        ("theorem 4", "Theorem 4"),
        ("theorem 4, balanced", "Theorem 4"),
    ],
)
def test_the_line_of_a_bound_in_expectation(name, theorem):
    trace = run(IN_EXPECTATION[name])
    certificate = trace.certificate()
    line = (
        rf"mistakes {trace.n_mistakes} <= [\d,]+ \(\[CBGZ06\] {theorem}, gamma [\d.e+-]+, "
        r"hinge [\d.]+; in expectation over the coins\)"
    )
    assert re.fullmatch(line, str(certificate))
    assert certificate.holds is True
    assert certificate.mistakes == trace.n_mistakes


@pytest.mark.parametrize(
    ("name", "theorems"),
    [
        ("perceptron", "Theorem 1|Theorem 2"),
        ("ballseptron", "Corollary 1|equation 17"),
        ("ballseptron, large", "Corollary 1|equation 17"),
    ],
)
def test_the_line_of_a_bound_that_always_holds(name, theorems):
    trace = run((ALWAYS[name], Always()))
    line = (
        rf"mistakes {trace.n_mistakes} <= [\d,]+ \(\[SS05\] ({theorems}), gamma [\d.e+-]+, "
        r"hinge [\d.]+; hinge/gamma alone is \d+, so any labels have such a bound\)"
    )
    assert re.fullmatch(line, str(trace.certificate()))


def test_a_bound_that_labels_drawn_by_coins_have_as_well_says_so():
    rows = np.random.default_rng(0).standard_normal((400, 5))
    learner = SelectiveClassifier(Perceptron(), Always())
    coins = np.random.default_rng(1).random(400) < 0.5
    assert progressive(learner, rows, coins).certificate().is_hollow
    apart = rows + 9.0 * np.sign(rows[:, :1]) * np.eye(5)[0]
    assert not progressive(learner, apart, apart[:, 0] > 0.0).certificate().is_hollow
    assert not Certificate(5, 8.9, "", 1.0, 4.0, rounds=9).is_hollow
    assert Certificate(5, 8.9, "", 0.5, 2.3, rounds=9).is_hollow


def test_a_line_with_large_numbers_and_a_bound_that_is_broken():
    assert (
        str(Certificate(1312, 1040.4, "[X] Theorem 9", 0.2134, 77.49))
        == "mistakes 1,312 > 1,040 ([X] Theorem 9, gamma 0.213, hinge 77.5)"
    )
    assert str(Certificate(5, 9.0, "[X] Theorem 9", rounds=9)).endswith(
        "that says nothing, for there are 9 rounds)"
    )
    assert not Certificate(5, 8.9, "", rounds=9).says_nothing
    assert Certificate(5, 4.9, "").holds is False
    assert Certificate(5, 5.0, "").holds is True
    assert Certificate(5, None, "").holds is None


# --- a comparator given by hand: every number against the formula


def least(bound_of, u):
    """Minimise over the length of u; the certificate does so to a thousandth."""
    unit = u / np.linalg.norm(u)
    return min(bound_of(scale * unit) for scale in np.logspace(-4, 2, 1201))


def by_theorem_1(trace, u):
    return cbgz06.perceptron_mistakes(
        b=0.3, max_norm=1.0, target_margin=1.0, hinge=hinge(trace, u),
        comparator_norm=float(np.linalg.norm(u)),
    )  # fmt: skip


def by_theorem_2(trace, u):
    return cbgz06.adaptive_mistakes(
        beta=0.8, max_norm=1.0, target_margin=1.0, hinge=hinge(trace, u),
        comparator_norm=float(np.linalg.norm(u)),
    )  # fmt: skip


def by_theorem_3(trace, u):
    updates = X[trace.updated]
    A = 0.5 * np.eye(D) + sum(np.outer(x, x) for x in updates)
    return cbgz06.second_order_mistakes(
        b=0.3, target_margin=1.0, hinge=hinge(trace, u), comparator_energy=float(u @ A @ u),
        log_volume=float(np.linalg.slogdet(A)[1] - D * log(0.5)),
    )  # fmt: skip


BY_HAND = {
    "theorem 1": by_theorem_1,
    "theorem 2": by_theorem_2,
    "theorem 3": by_theorem_3,
    "theorem 3, sharper odds": by_theorem_3,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_comparator_by_hand(name):
    trace = run(IN_EXPECTATION[name])
    certificate = trace.certificate(TARGET)
    assert certificate.bound == pytest.approx(
        least(lambda u: BY_HAND[name](trace, u), TARGET), rel=1e-3
    )
    unit = TARGET / np.linalg.norm(TARGET)
    assert certificate.hinge == pytest.approx(hinge(trace, unit, certificate.gamma), rel=1e-6)
    assert trace.certificate(3.0 * TARGET).bound == pytest.approx(certificate.bound)


@pytest.mark.parametrize("name", ["theorem 4", "theorem 4, balanced"])
def test_a_comparator_of_the_simplex(name):
    trace = run(IN_EXPECTATION[name])
    certificate = trace.certificate(TARGET)
    max_entry = float(np.abs(X).max())
    gamma = 0.1 + 0.4 * max_entry**2 / 2
    eta, b = cbgz06.winnow_parameters(alpha=0.1 / gamma, target_margin=gamma, max_norm=max_entry)
    assert (eta, b) == pytest.approx((0.4, 0.1))
    assert certificate.gamma == pytest.approx(gamma)
    assert certificate.hinge == pytest.approx(hinge(trace, TARGET, gamma))
    assert certificate.bound == pytest.approx(
        cbgz06.winnow_mistakes(
            alpha=0.1 / gamma,
            target_margin=gamma,
            max_norm=max_entry,
            hinge=certificate.hinge,
            d=2 * D if "balanced" in name else D,
        )
    )


def test_balanced_winnow_takes_weights_of_either_sign_and_less_than_one_in_all():
    trace = run(IN_EXPECTATION["theorem 4, balanced"])
    u = np.array([0.5, -0.2, 0.0, 0.1])
    certificate = trace.certificate(u)
    assert certificate.hinge == pytest.approx(hinge(trace, u, certificate.gamma))


@pytest.mark.parametrize("name", ALWAYS)
def test_a_comparator_by_hand_when_every_label_is_asked(name):
    update = ALWAYS[name]
    r = getattr(update, "r", 0.0)
    trace = run((update, Always()))
    mistakes = Y * trace.margins <= 0.0
    n_margin_errors = int((trace.updated & ~mistakes).sum())
    assert (n_margin_errors > 0) == (r > 0)
    unit = TARGET / np.linalg.norm(TARGET)
    best = inf
    for scale in np.logspace(-2, 2, 801):
        gamma = 1.0 / scale
        if gamma > 1.0 or r * scale >= np.sqrt(2) - 1:
            continue
        losses = [max(0.0, gamma - y * x @ unit) for x, y in zip(X, Y, strict=True)]
        losses = np.array(losses)[trace.updated]
        shared = {
            "max_norm": 1.0,
            "target_margin": gamma,
            "r": r,
            "n_margin_errors": n_margin_errors,
        }
        best = min(
            best,
            ss05.d2_mistakes_refined(hinge_norm=float(np.linalg.norm(losses)), **shared),
            ss05.d1_mistakes_refined(hinge=float(losses.sum()), **shared),
        )
    assert trace.certificate(TARGET).bound == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("name", [*IN_EXPECTATION, *ALWAYS])
def test_hindsight_is_no_worse_than_the_truth(name):
    """The comparator it finds beats the half-space that made the labels, or nearly."""
    pair = IN_EXPECTATION.get(name) or (ALWAYS[name], Always())
    trace = run(pair)
    assert trace.certificate().bound <= 1.02 * trace.certificate(TARGET).bound


def test_hindsight_finds_a_better_separator_than_the_mean():
    """The mean over a Perceptron's updates is its last hypothesis: good, but not the best."""
    images, digits = load_digits(return_X_y=True)
    trace = run((Perceptron(), Margin(b=0.1)), normalize(images), digits == 3)
    mean = trace.learner.coef_[0]
    assert trace.certificate().bound <= 0.9 * trace.certificate(mean).bound


# --- do they hold?


@pytest.mark.parametrize("name", ALWAYS)
def test_a_bound_without_coins_holds_on_every_run(name):
    for seed in range(8):
        for noise in (0.0, 0.3):
            rows, y, _ = half_space(seed, n=80, noise=noise)
            certificate = run((ALWAYS[name], Always()), rows * (1 + seed), y).certificate()
            assert certificate.holds is not False, str(certificate)


@pytest.mark.parametrize("name", IN_EXPECTATION)
def test_a_bound_in_expectation_holds_for_the_mean_over_seeds(name):
    traces = [run(IN_EXPECTATION[name], seed=seed) for seed in SEEDS]
    mean_mistakes = np.mean([trace.n_mistakes for trace in traces])
    assert len({trace.n_asked for trace in traces}) > 5  # the coins do matter
    if "4" in name:
        certificates = [trace.certificate(TARGET) for trace in traces]
        # at one comparator and gamma the bound is linear in the hinge loss
        assert mean_mistakes <= np.mean([c.bound for c in certificates])
        return
    for scale in SCALES:
        u = scale * TARGET / np.linalg.norm(TARGET)
        assert mean_mistakes <= mean_bound(name, traces, u)


def mean_bound(name, traces, u):
    """Evaluate the bound at the means of all it depends on."""
    losses = float(np.mean([hinge(trace, u) for trace in traces]))
    norm = float(np.linalg.norm(u))
    shared = {"target_margin": 1.0, "hinge": losses}
    if name == "theorem 1":
        return cbgz06.perceptron_mistakes(b=0.3, max_norm=1.0, comparator_norm=norm, **shared)
    if name == "theorem 2":
        return cbgz06.adaptive_mistakes(beta=0.8, max_norm=1.0, comparator_norm=norm, **shared)
    grams = [X[trace.updated].T @ X[trace.updated] for trace in traces]
    energy = float(u @ (0.5 * np.eye(D) + np.mean(grams, axis=0)) @ u)
    volumes = [np.linalg.slogdet(np.eye(D) + gram / 0.5)[1] for gram in grams]
    return cbgz06.second_order_mistakes(
        b=0.3, comparator_energy=energy, log_volume=float(np.mean(volumes)), **shared
    )


# --- the same whatever the rows look like


@pytest.mark.parametrize(
    "name",
    ["theorem 1"]
    + [pytest.param(n, marks=pytest.mark.plain) for n in ("theorem 3", "theorem 4", "ballseptron")],
)
def test_sparse_rows_have_the_same_certificate(name):
    pair = IN_EXPECTATION.get(name) or (ALWAYS[name], Always())
    dense, sparse = run(pair).certificate(), run(pair, csr_array(X)).certificate()
    assert str(dense) == str(sparse)
    assert dense.bound == pytest.approx(sparse.bound, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("theorem 1", X),
        pytest.param("theorem 1", csr_array(X), marks=pytest.mark.plain),
        pytest.param("theorem 3", X, marks=pytest.mark.plain),
        pytest.param("theorem 4", X, marks=pytest.mark.plain),
        pytest.param("ballseptron", X, marks=pytest.mark.plain),
    ],
)
def test_an_intercept_is_a_feature_that_is_one(name, rows):
    pair = IN_EXPECTATION.get(name) or (ALWAYS[name], Always())
    ours = run(pair, rows, fit_intercept=True)
    theirs = run(pair, np.column_stack([X, np.ones(len(X))]))
    assert ours.n_mistakes == theirs.n_mistakes
    assert str(ours.certificate()) == str(theirs.certificate())
    u = np.append(TARGET, 0.0)
    assert ours.certificate(u).bound == pytest.approx(theirs.certificate(u).bound)


def test_a_step_scales_the_margin_and_nothing_else():
    one = run((Perceptron(eta=1.0), Margin(b=0.3)))
    two = run((Perceptron(eta=2.0), Margin(b=0.6)))
    assert one.asked.tobytes() == two.asked.tobytes()
    assert str(one.certificate()) == str(two.certificate())


# --- a clear no


NOT_COVERED = {
    "Perceptron with Uniform": (Perceptron(), Uniform(rate=0.5)),
    "Reflection with Always": (Reflection(), Always()),
    "Ballseptron with Margin": (Ballseptron(), Margin()),
    "Ridge with Balanced": (Ridge(), Balanced()),
}


@pytest.mark.parametrize("name", NOT_COVERED)
def test_a_run_no_theorem_covers_says_so(name):
    trace = run(NOT_COVERED[name])
    certificate = trace.certificate()
    assert str(certificate) == f"mistakes {trace.n_mistakes}: no worst-case theorem covers {name}"
    assert certificate.bound is certificate.holds is None


def test_rows_that_move_are_not_covered():
    trace = run((Perceptron(), Margin(b=0.3)), scaling=Centred(warmup=10))
    assert str(trace.certificate()).endswith("covers Perceptron with Margin on Centred rows")


def test_a_ball_as_large_as_the_rows_is_not_covered():
    trace = run((Ballseptron(r=0.5), Always()))
    assert trace.certificate().bound is None
    assert "wants r < (√2 - 1)γ and γ at most the longest row" in str(trace.certificate())


def test_the_worst_point_on_mistakes_too_by_hand():
    trace = run((Ballseptron(r=0.05, mistakes_too=True), Always()))
    margin_errors = int((trace.updated & (Y * trace.margins > 0)).sum())
    u, best = TARGET / np.linalg.norm(TARGET), np.inf
    for gamma in np.linspace(0.06, 1.0, 400):
        lost = np.maximum(0.0, gamma - Y * (X @ u))[trace.updated]
        known = {"max_norm": 1.0, "target_margin": gamma, "r": 0.05}
        known["n_margin_errors"] = margin_errors
        best = min(
            best,
            ss05.d2_mistakes_too(hinge_norm=float(np.linalg.norm(lost)), **known),
            ss05.d1_mistakes_too(hinge=float(lost.sum()), **known),
        )
    given, found = trace.certificate(TARGET), trace.certificate()
    assert given.bound == pytest.approx(best, rel=0.01)
    assert trace.n_mistakes <= found.bound <= 1.05 * best
    assert re.fullmatch(r"ours, after \[SS05\] Theorem [12]", found.theorem)
    assert run((Ballseptron(r=0.5, mistakes_too=True), Always())).certificate().bound is not None
    assert "wants r < γ" in str(
        run((Ballseptron(r=1.5, mistakes_too=True), Always())).certificate()
    )


def test_rows_of_nothing_are_not_covered():
    trace = run((Perceptron(), Margin(b=0.3)), np.zeros((4, 2)), np.array([1, -1, 1, -1]))
    assert str(trace.certificate()) == (
        "mistakes 2: [CBGZ06] Theorem 1 has no comparator for these rows"
    )


def test_winnow_without_an_update_has_a_certificate():
    rows = np.vstack([np.abs(X[:20]), -np.abs(X[:20])])
    trace = run((Winnow(eta=0.4), Margin(b=0.1)), rows, np.repeat([1, -1], 20))
    assert trace.n_updates == trace.n_mistakes == 0
    assert trace.certificate().hinge == 0.0
    assert trace.certificate().holds


@pytest.mark.parametrize(
    ("pair", "comparator", "message"),
    [
        ("theorem 1", [1.0, 2.0], "has 2 weights and the update rule sees 4 features"),
        ("theorem 2", np.zeros(4), "must be finite and not 0"),
        ("theorem 3", [1.0, np.nan, 0.0, 0.0], "must be finite and not 0"),
        ("theorem 4", [1.0, 0.5, 0.0, 0.0], "compares with a distribution"),
        ("theorem 4", [1.5, -0.5, 0.0, 0.0], "compares with a distribution"),
        ("theorem 4, balanced", [0.9, -0.2, 0.0, 0.0], "sum to 1 at most"),
    ],
)
def test_a_comparator_that_will_not_do(pair, comparator, message):
    with pytest.raises(ValueError, match=message):
        run(IN_EXPECTATION[pair]).certificate(comparator)


def test_an_intercept_needs_a_weight_in_the_comparator():
    trace = run(IN_EXPECTATION["theorem 1"], fit_intercept=True)
    with pytest.raises(ValueError, match="sees 5 features: give one for each, the intercept last"):
        trace.certificate(TARGET)


def test_p_norm_two_has_the_certificate_of_the_perceptron():
    one = run((Perceptron(), Margin(b=0.6))).certificate()
    two = run((PNorm(p=2.0), Margin(b=0.6))).certificate()
    assert two.bound == pytest.approx(one.bound)
    assert (two.gamma, two.hinge) == pytest.approx((one.gamma, one.hinge))


@pytest.mark.plain
@pytest.mark.parametrize("constant", [False, True])
def test_p_norms_measure_rows_and_comparators_by_dual_norms(constant):
    trace = run((PNorm(p=4.0), Margin(b=0.6)), fit_intercept=constant)
    rows = np.hstack([X, np.ones((len(X), 1))]) if constant else X
    u = np.append(TARGET, 0.1)[: rows.shape[1]]
    found = trace.certificate(comparator=u)
    length = 1.0 / (found.gamma * np.linalg.norm(u))  # the one that was best for this direction
    expected = cbgz06.p_norm_mistakes(
        p=4.0,
        b=0.6,
        max_norm=np.linalg.norm(rows, ord=4, axis=1).max(),
        target_margin=1.0,
        hinge=hinge(trace, length * u, rows=rows),
        comparator_norm=np.linalg.norm(length * u, ord=4 / 3),
    )
    assert found.bound == pytest.approx(expected)
    assert found.holds
    assert "ours" in str(found)


# --- every label, and kernels


@pytest.mark.parametrize(
    ("update", "theorem"),
    [
        (SecondOrder(a=0.5), "[CBGZ06] inequality 13, every label asked"),
        (PNorm(p=3.0), "ours, after [CBGZ06] inequality 1"),
        (Winnow(eta=0.1), "ours, after [CBGZ06] Theorem 4"),
        (Winnow(eta=0.1, balanced=True), "ours, after [CBGZ06] Theorem 4"),
    ],
    ids=str,
)
def test_every_label_needs_no_coin(update, theorem):
    for seed in range(4):
        rows, y, target = half_space(seed, n=80, noise=0.2)
        trace = run((update, Always()), rows, y)
        found, given = trace.certificate(), trace.certificate(target)
        assert (found.theorem, found.note) == (theorem, "")
        assert trace.n_mistakes <= found.bound <= 1.05 * given.bound
        assert found.gamma <= 1.0  # no comparator that goes to 0


KERNEL_PAIRS = [
    (Perceptron(), Margin(b=0.3)),
    (Perceptron(), Always()),
    (Ballseptron(r=0.05), Always()),
    (Ballseptron(r=0.05, mistakes_too=True), Always()),
    (SecondOrder(a=0.5), Margin(b=0.3)),
    (SecondOrder(a=0.5), Always()),
]


@pytest.mark.plain
@pytest.mark.parametrize("pair", KERNEL_PAIRS, ids=str)
@pytest.mark.parametrize("kernel", ["linear", lambda A, B: A @ B.T], ids=["linear", "function"])
def test_a_linear_kernel_has_the_certificate_of_the_rows_themselves(pair, kernel):
    plain, dual = run(pair).certificate(), run(pair, kernel=kernel).certificate()
    assert dual.theorem == plain.theorem
    assert dual.mistakes == plain.mistakes
    assert dual.bound == pytest.approx(plain.bound, rel=0.02)  # solvers end elsewhere


@pytest.mark.plain
@pytest.mark.parametrize("pair", KERNEL_PAIRS, ids=str)
@pytest.mark.parametrize(
    "kernel", [{"kernel": "rbf", "gamma": 2.0}, {"kernel": "poly", "coef0": 1}]
)
def test_a_certificate_in_the_span_of_the_support_vectors(pair, kernel):
    rows, y, _ = half_space(3, n=80)
    y = np.where(np.abs(rows[:, 0]) > 0.5, 1.0, -1.0)  # no half-space
    certificate = run(pair, csr_array(rows), y, **kernel).certificate()
    assert 0.5 * certificate.mistakes < certificate.bound < 20 * certificate.mistakes
    assert certificate.holds or isinstance(pair[1], Margin)  # there in expectation


@pytest.mark.plain
def test_kernels_without_a_certificate_say_why():
    pair = KERNEL_PAIRS[0]
    certificate = run(pair, kernel="rbf", budget=3).certificate()
    assert str(certificate).endswith(
        "no theorem here covers a learner that gives up support vectors"
    )
    with pytest.raises(ValueError, match="the comparator is searched for: leave it out"):
        run(pair, kernel="rbf").certificate(TARGET)
