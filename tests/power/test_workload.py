import pytest
from hypothesis import given

from selectron.power import Fetch, Page, Workload, web_workload
from tests.power.traffic import workloads


def test_a_seed_gives_the_same_pages_and_another_seed_others():
    assert web_workload(20, seed=3) == web_workload(20, seed=3)
    assert web_workload(20, seed=3) != web_workload(20, seed=4)


def test_a_longer_workload_begins_with_the_shorter_one():
    assert web_workload(50, seed=2).pages[:10] == web_workload(10, seed=2).pages


def test_pages_look_like_the_web():
    workload = web_workload(500, seed=1, server_delay_s=0.1)
    for page in workload.pages:
        assert 1 <= page.think_s <= 1000
        assert 2 <= len(page.fetches) <= 66
        assert all(fetch.delay_s == 0.1 for fetch in page.fetches)
        assert all(fetch.request >= 10 and fetch.reply >= 62 for fetch in page.fetches)


@given(workloads)
def test_a_file_gives_back_what_was_saved(tmp_path_factory, workload):
    path = tmp_path_factory.mktemp("workload") / "pages"
    workload.save(path)
    assert Workload.load(path) == workload


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1.0 300", r"line 2: 2 numbers are not one and three for every object"),
        ("1.0 300 x 0.0", r"line 2: invalid literal for int\(\) .* expected '# think_s"),
    ],
)
def test_a_file_that_is_none_says_where(tmp_path, line, message):
    path = tmp_path / "pages"
    path.write_text(f"# think_s ...\n{line}\n")
    with pytest.raises(ValueError, match=message):
        Workload.load(path)


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        ((), "at least one page"),
        ((Page(1.0, ()),), "page 0 fetches nothing"),
        ((Page(-1.0, (Fetch(1, 1),)),), r"think_s=-1.0 must be seconds, 0 or more"),
        ((Page(float("nan"), (Fetch(1, 1),)),), "think_s=nan"),
        ((Page(1.0, (Fetch(0, 1),)),), "0 is not a size; give bytes, 1 to"),
        ((Page(1.0, (Fetch(1, 1.5),)),), "1.5 is not a size"),
        ((Page(1.0, (Fetch(1, 1, -0.1),)),), r"delay_s=-0.1"),
    ],
)
def test_a_workload_that_cannot_be_is_refused(pages, message):
    with pytest.raises(ValueError, match=message):
        Workload(pages)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pages": 0}, "pages=0 must be a whole number, at least 1"),
        ({"pages": 2.5}, "pages=2.5"),
        ({"seed": -1}, "seed=-1 must be 0 or more"),
        ({"longest_think_s": 0.5}, "no value is at most 0.5"),
        ({"server_delay_s": -1.0}, "delay_s=-1.0 must be seconds"),
    ],
)
def test_a_draw_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        web_workload(**arguments)
