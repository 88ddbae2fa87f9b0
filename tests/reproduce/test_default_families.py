"""The development families: the sets are what they say, runs agree with a slow twin."""

import gzip
import json
import struct

import numpy as np
import pytest

from selectron.evaluate import progressive
from selectron.queries import Auto, Balanced
from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.default import families
from selectron.reproduce.default.families import (
    HARD,
    HOLD,
    LEARNERS,
    MOST_LABELS,
    NOT_REACHED,
    OLD,
    PROTOTYPE,
    labels_to,
    learner_of,
    summary,
    whole_stream,
)
from selectron.reproduce.default.family_problems import (
    KINDS,
    NOISE,
    ROWS,
    Problem,
    by_rows,
    clusters,
    images,
    noisy,
    nonlinear,
    of_river,
    of_scikit_learn,
    rare,
    rare_fashion,
)
from selectron.reproduce.harness.problems import FASHION, fashion
from selectron.updates import Probit, Ridge

needs_fashion = pytest.mark.skipif(not FASHION.is_dir(), reason="fashion-MNIST is not installed")


@pytest.fixture(scope="module")
def plane():
    """A plane in eight dimensions, two units apart from the classes' middles."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((900, 8))
    return Problem.of("plane", X, X @ rng.standard_normal(8) > 0.5)


# --- the sets


def test_fashion_is_read_as_it_is_stored(tmp_path):
    pixels = np.arange(2 * 784, dtype=np.uint32).astype(np.uint8).reshape(2, 784)
    for name, head, body in (
        ("images-idx3", struct.pack(">4i", 2051, 2, 28, 28), pixels.tobytes()),
        ("labels-idx1", struct.pack(">2i", 2049, 2), bytes([7, 3])),
    ):
        (tmp_path / f"train-{name}-ubyte.gz").write_bytes(gzip.compress(head + body))
    X, classes = fashion(tmp_path)
    np.testing.assert_allclose(X, pixels / 255.0, rtol=1e-6)
    assert classes.tolist() == [7, 3]


def test_fashion_that_is_missing_says_how_to_get_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="apt-get install dataset-fashion-mnist"):
        fashion(tmp_path)


@needs_fashion
def test_images():
    found = {given.name: given for given in images()}
    assert len(found) == 10
    assert found["fashion 5 v 7"].base_rate() == 0.5
    for name, share in (("fashion 0 v all", 0.1), ("fashion 147 v all", 0.3),
                        ("digits 268 v all", 0.3)):  # fmt: skip
        assert found[name].base_rate() == pytest.approx(share, abs=0.01)
    assert all(0.0 < given.error < given.base_rate() for given in found.values())
    assert rare_fashion().base_rate() == pytest.approx(0.02, abs=0.0002)


def test_tables():
    assert [(given.name, *given.X.shape) for given in of_scikit_learn()] == [
        ("breast cancer", 569, 30), ("wine 0", 178, 13), ("wine 1", 178, 13)
    ]  # fmt: skip
    pytest.importorskip("river")
    river = {given.name: given for given in of_river()}
    assert river["phishing"].X.shape == (1250, 9)
    assert (river["phishing"].signs > 0).sum() == 548
    for name, kinds in (("segment 0", 1), ("segment 2", 1), ("segments 024", 3)):
        assert river[name].X.shape == (2310, 18)
        assert (river[name].signs > 0).sum() == 330 * kinds


def test_synthetic_sets_are_what_their_names_say():
    found = {given.name: given for given in [*by_rows(), clusters(), nonlinear()]}
    assert all(found[name].base_rate() == 0.5 for name in KINDS)
    sizes = found["wild scales"].X.std(axis=0)
    assert sizes.max() / sizes.min() > 1e4
    heavy = found["heavy tails"].X
    assert (np.abs(heavy).max(axis=0) > 20 * np.median(np.abs(heavy), axis=0)).all()
    assert (found["lognormal"].X > 0).all()
    values = np.linalg.eigvalsh(np.corrcoef(found["correlated"].X.T))
    assert values[-5:].sum() > 0.8 * values.sum()
    assert set(np.unique(found["binary"].X)) == {0.0, 1.0}
    for share in (0.01, 0.03, 0.05):
        assert rare(share).base_rate() == pytest.approx(share, abs=3 * (share / ROWS) ** 0.5)
    again = {given.name: given for given in [*by_rows(), clusters(), nonlinear()]}
    assert all((again[name].X == found[name].X).all() for name in found)


def test_noise_flips_what_is_taught_and_nothing_else(plane):
    flipped = plane.noisy(0.2, 5)
    assert flipped.X is plane.X
    assert (flipped.signs == plane.signs).all()
    assert np.mean(flipped.taught != plane.signs) == pytest.approx(0.2, abs=0.04)
    assert (np.abs(flipped.taught) == 1).all()
    assert flipped.name == "plane 20% noise"


def test_the_noisy_problems_are_taken_from_the_clean_ones(plane):
    found = noisy([plane._replace(name=name) for name in NOISE] + [plane])
    assert [given.name.rsplit(" ", 2)[0] for given in found] == list(NOISE)
    assert [given.error for given in found] == [error for _, error in NOISE.values()]


# --- protocol


def test_a_shuffle_parts_stream_and_test(plane):
    numbered = plane._replace(X=np.arange(900.0)[:, np.newaxis])
    split = numbered.shuffled(1)
    assert (len(split.X), len(split.X_test)) == (630, 270)
    assert set(split.X[:, 0]) | set(split.X_test[:, 0]) == set(range(900))
    assert (split.taught == plane.signs[split.X[:, 0].astype(int)]).all()
    assert (split.signs_test == plane.signs[split.X_test[:, 0].astype(int)]).all()
    assert (numbered.shuffled(2).X != split.X).any()
    ones = np.ones(9000, np.int8)
    long = plane._replace(X=np.zeros((9000, 1)), signs=ones, taught=ones).shuffled(0)
    assert (len(long.X), len(long.X_test)) == (3500, 1000)


def test_the_error_is_a_fifth_of_the_way_from_the_best_rule(plane):
    best, base = plane.linear_error(), plane.base_rate()
    assert best < 0.02 < base
    assert plane.tolerance() == pytest.approx(best + 0.2 * (base - best))
    assert plane._replace(error=0.07).tolerance() == 0.07


def test_the_best_rule_is_taught_with_noise_and_judged_without(plane):
    assert plane.noisy(0.2, 1).linear_error() < 0.1


# --- runs


@pytest.mark.parametrize("name", LEARNERS)
def test_labels_to_an_error_agree_with_the_slow_way(name, plane):
    split, seed, error = plane.shuffled(4), 4, 0.1
    test = split.X_test, split.signs_test
    learner = learner_of(name, len(split.X))
    trace = progressive(learner, split.X, split.taught, seed=seed, test=test)
    labels = np.cumsum(trace.asked)[trace.test_rounds - 1]
    good = trace.test_errors <= error
    held = [
        k
        for k in range(len(good))
        if good[(labels >= labels[k]) & (labels <= labels[k] + HOLD)].all()
    ]
    found = labels_to(error, name, split, seed)
    assert 3 < found[0] == labels[np.argmax(good)]
    assert found[1] == labels[held[0]]
    at_the_end = 1.0 - trace.learner.score(*test)  # rows move the scale after the last label too
    assert whole_stream(name, split, seed) == (
        trace.n_asked, pytest.approx(at_the_end), len(split.X)
    )  # fmt: skip


def test_an_error_out_of_reach_counts_as_not_reached(plane):
    coins = plane._replace(signs=np.where(np.arange(900) % 2, 1, -1).astype(np.int8))
    split = coins._replace(taught=coins.signs).shuffled(0)
    assert labels_to(0.01, HARD, split, 0) == (NOT_REACHED, NOT_REACHED)
    assert NOT_REACHED > MOST_LABELS


def test_the_learners_are_those_of_the_table():
    old, hard = (learner_of(name, 3500).get_params() for name in (OLD, HARD))
    assert (old["update"], old["query"]) == (Ridge(), Balanced())
    assert (hard["update"], hard["query"]) == (Probit(), Auto(hard=True))
    assert [learner_of(HARD, n).scaling.warmup for n in (3500, 300, 30)] == [50, 30, 10]


# --- the table


def test_ratios_are_geometric_means_over_problems():
    rows = [
        {name: [10 * k, 30 * k] for k, name in enumerate(LEARNERS, 1)},
        {name: [k, k] for k, name in enumerate(LEARNERS, 1)} | {OLD: [4, NOT_REACHED]},
    ]
    rows = [{"labels": row, "held": {n: [2 * k for k in row[n]] for n in row}} for row in rows]
    found = summary(rows)
    assert found["labels"] == pytest.approx((20 * 252) ** 0.5)
    assert found["ratios"][HARD] == pytest.approx((2 * 2 / 252) ** 0.5)
    assert found["deviations"][HARD] > 0.0
    assert found["held_ratios"][HARD] == pytest.approx(found["ratios"][HARD])
    assert found["not_reached"] == {name: int(name == OLD) for name in LEARNERS}
    assert summary([]) == {}


@pytest.fixture
def small(monkeypatch, plane):
    problems = {"images": [plane], "tabular": [], "synthetic": [plane] * 4, "noise": [plane]}
    monkeypatch.setattr(families, "families", lambda: problems)
    return EXPERIMENTS["default-families"]


def test_the_experiment_prints_and_draws(small, tmp_path):
    ticks = []
    result = json.loads(json.dumps(small.run(2, lambda: ticks.append(1))))
    assert len(ticks) == small.steps(2) == 10
    shown = small.text(result)
    for word in ("images (1)", "synthetic (4)", "plane", "| 0.84", "@", *LEARNERS):
        assert word in shown
    assert "tabular" not in shown
    small.plot(result, tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 10_000
    assert set(result["families"]) == set(PROTOTYPE)
