"""The seven problems and their folds."""

import numpy as np
import pytest

from selectron.reproduce.harness.problems import read_pixels, require_digits
from selectron.reproduce.mon06.digits import PROBLEMS, draw_sample, folds
from tests.reproduce.digits import write_digits


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_digits(tmp_path)
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    read_pixels.cache_clear()
    yield tmp_path
    read_pixels.cache_clear()


@pytest.mark.parametrize("digits", PROBLEMS, ids=lambda digits: digits.name)
def test_a_problem_and_its_hold_out(folder, digits):
    hold_out, sample = draw_sample(digits, 1)
    total = 80 if digits.negative else 400
    assert (len(hold_out.signs), len(sample.signs)) == (total // 4, total - total // 4)
    for part in (hold_out, sample):
        np.testing.assert_allclose(np.linalg.norm(part.rows, axis=1), 1.0, atol=1e-12)
        assert (part.pixels == np.rint(part.pixels)).all()
        assert part.pixels.min() >= 0
        assert (part.pixels @ part.pixels.T).max() < 2**31
    positive = (hold_out.signs == 1).sum() + (sample.signs == 1).sum()
    assert positive == 40 * len(digits.positive)
    rows = {row.tobytes() for part in (hold_out, sample) for row in part.pixels}
    assert len(rows) == total
    again = draw_sample(digits, 1)[1]
    assert (again.pixels == sample.pixels).all()
    assert not (draw_sample(digits, 2)[1].pixels == sample.pixels).all()


def test_usps_is_read_from_minus_one_to_one_in_thousandths(folder):
    _, sample = draw_sample(PROBLEMS[5], 1)
    stored = np.load(folder / "usps.npz")
    shades = np.concatenate([stored["x_train"], stored["x_test"]]).reshape(400, -1)
    expected = {row.tobytes() for row in np.rint((shades.astype(float) + 1.0) * 1000.0)}
    assert {row.tobytes() for row in sample.pixels} <= expected
    assert sample.pixels.max() == 2000


def test_folds_share_out_the_rows_of_every_run():
    found = list(folds(PROBLEMS[0], 105, 3, 1))
    assert len(found) == 30
    for run in range(3):
        ten = found[10 * run : 10 * run + 10]
        assert sorted(np.concatenate([fold.test for fold in ten])) == list(range(105))
        for fold in ten:
            assert sorted([*fold.train, *fold.test]) == list(range(105))
    assert len({fold.seed for fold in found}) == 30
    assert len({tuple(fold.train[:5]) for fold in found}) == 30
    again = list(folds(PROBLEMS[0], 105, 3, 1))
    assert all((a.train == b.train).all() for a, b in zip(found, again, strict=True))
    others = [next(folds(digits, 105, 1, seed)) for digits, seed in
              [(PROBLEMS[1], 1), (PROBLEMS[0], 2)]]  # fmt: skip
    assert all((other.train != found[0].train).any() for other in others)


def test_without_an_order_of_their_own_nine_folds_begin_alike():
    found = list(folds(PROBLEMS[0], 100, 1, 1, own_order=False))
    assert len({tuple(fold.train[:10]) for fold in found}) == 2


def test_a_missing_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"mnist.npz and usps.npz not found in .*--data"):
        require_digits()
    write_digits(tmp_path)
    (tmp_path / "mnist.npz").unlink()
    with pytest.raises(ValueError, match=r"^mnist\.npz not found"):
        require_digits()
