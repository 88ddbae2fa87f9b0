import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

from selectron.power.web import DATA_FILE, NAMES, Empirical, web_distributions


@pytest.fixture(autouse=True)
def no_data_directory(monkeypatch):
    monkeypatch.delenv("SELECTRON_DATA", raising=False)


def test_the_package_has_its_own_copy():
    tables = web_distributions()
    assert set(tables) == {"think_s", "images", "request", "reply"}
    assert tables["images"].mean == pytest.approx(2.838, abs=1e-3)
    assert tables["reply"].mean == pytest.approx(7231, abs=1)
    assert tables["request"].mean == pytest.approx(337.3, abs=0.1)


def test_thinking_at_most_1000_s_gives_the_mean_that_the_thesis_implies():
    # 1.5 hours for 100 pages are 54 s a page; cutting at 1000 s instead of drawing again: 142 s.
    think = web_distributions()["think_s"]
    assert think.at_most(1000).mean == pytest.approx(52.94, abs=0.01)
    assert np.max(think.values) > 80_000


SHARED = Path(__file__).parents[3] / "shared" / "data"
DATA = Path(os.environ.get("SELECTRON_DATA", SHARED))


@pytest.mark.skipif(not (DATA / DATA_FILE).is_file(), reason=f"{DATA / DATA_FILE} is not there")
def test_the_copy_equals_the_data_directory():
    ours, theirs = web_distributions(), web_distributions(DATA)
    for name in NAMES:
        assert np.array_equal(ours[name].values, theirs[name].values)
        assert np.array_equal(ours[name].counts, theirs[name].counts)


def other_data(directory: Path) -> None:
    points = {key: [[7.0, 1, 0.5], [8.0, 1, 1.0]] for key in NAMES.values()}
    with gzip.open(directory / DATA_FILE, "wt", encoding="utf-8") as file:
        json.dump(points, file)


def test_a_data_directory_is_read_by_argument_and_by_environment(tmp_path, monkeypatch):
    other_data(tmp_path)
    assert web_distributions(tmp_path)["reply"].mean == 7.5
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    assert web_distributions()["reply"].mean == 7.5


def test_an_environment_without_the_file_falls_back_to_the_copy(tmp_path, monkeypatch):
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    assert web_distributions()["reply"].mean > 7000


def test_a_directory_given_without_the_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="leave the data directory out"):
        web_distributions(tmp_path)


def test_quantiles_are_values_seen_with_their_frequencies():
    table = Empirical(np.array([1.0, 5.0, 9.0]), np.array([1.0, 2.0, 1.0]))
    drawn = table.quantile(np.array([0.0, 0.2499, 0.25, 0.7499, 0.75, np.nextafter(1, 0)]))
    assert drawn.tolist() == [1, 1, 5, 5, 9, 9]
    with pytest.raises(ValueError, match=r"no value is at most 0.5; the least is 1"):
        table.at_most(0.5)
