import pytest

from selectron.power import Lpsm, compare, simulate, web_workload

pytest.importorskip("matplotlib", reason="matplotlib is missing: pip install selectron[plot]")

from selectron.power import plots
from tests.power.traffic import quick_policies


@pytest.fixture(scope="module")
def comparison():
    return compare(quick_policies(), pages=2, seed=1)


def test_pages_are_drawn(tmp_path, comparison):
    drawn = [name for name in comparison.runs if name != "none" and not name.startswith("bsd")]
    plots.page_slowdowns(comparison, drawn).savefig(tmp_path / "pages.svg")
    assert "</svg>" in (tmp_path / "pages.svg").read_text()


def test_sleep_times_need_a_diary():
    workload = web_workload(1, seed=1)
    policy = Lpsm(horizon=10)
    figure = plots.sleep_times([simulate(policy, workload, diary=True)], span_s=(0, 20))
    assert figure.axes[0].get_title() == "lpsm-1/T"
    with pytest.raises(ValueError, match="simulate it with diary=True"):
        plots.sleep_times([simulate(policy, workload)])


def test_a_policy_that_was_not_run_cannot_be_drawn(comparison):
    with pytest.raises(ValueError, match="'bsd-7' was not run; this comparison has none, static"):
        plots.page_slowdowns(comparison, ["bsd-7"])
