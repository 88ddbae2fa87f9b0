"""The learned policy's claims: the experiment small, and whole on seeds that chose nothing."""

import json

import pytest
from numba import config

from selectron.power import FixedPlan
from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.default import power_learned

WHOLE = EXPERIMENTS["power-learned"]


@pytest.fixture
def small(monkeypatch):
    """Two fixed plans, two regimes, few pages."""
    monkeypatch.setattr(power_learned, "FIXED", (FixedPlan(0.0, 0.0, 0.2), FixedPlan()))
    monkeypatch.setattr(power_learned, "REGIMES", 2)
    monkeypatch.setattr(power_learned, "PAGES", 3)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="NUMBA_DISABLE_JIT: would take hours")
def test_the_experiment_on_little_traffic(small, tmp_path):
    ticks = []
    result = WHOLE.run(1, lambda: ticks.append(1))
    assert len(ticks) == WHOLE.steps(1) == 11 + 13
    assert json.loads(json.dumps(result))["changing_seeds"] == [501]
    printed = WHOLE.text(result)
    assert "learned-1-24.3s" in printed
    assert "best of 2 fixed plans in hindsight" in printed
    assert not any(row["policy"].startswith("plan-") for row in result["changing"])
    for duel in result["duels"]:
        (ours,), (best,), (fixed,) = duel["learned"], duel["best_policy"], duel["best_fixed"]
        assert duel["won"] == [ours < min(best, fixed)]
        rows = {row["policy"]: row["cost_per_hour"] for row in result["changing"]}
        key = f"{duel['lambda']:g}"
        assert best == min(
            cost[key] for name, cost in rows.items() if not name.startswith(("none", "learned"))
        )
        assert rows[f"learned-{key}"][key] == pytest.approx(ours)
    WHOLE.plot(json.loads(json.dumps(result)), tmp_path / "x.svg")
    assert "learned-0.5" in (tmp_path / "x.svg").read_text()


def test_a_win_is_against_every_rival():
    wins = power_learned.wins([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 4.0], [2.0, 3.0, 2.0, 5.0])
    assert wins == [True, False, False, False]


@pytest.mark.slow
def test_the_claims():
    result = WHOLE.run(None, lambda: None)
    web = {row["policy"]: row for row in result["web"]}
    one, two = web["learned-1-24.3s"], web["learned-2-24.3s"]
    assert one["energy_vs_static"] <= 0.815
    assert one["slowdown"] <= 1.4
    assert two["energy_vs_static"] <= 0.825
    assert two["slowdown"] <= 1.12
    assert one["energy_vs_static"] < web["lpsm-1/logT"]["energy_vs_static"]
    assert sum(sum(duel["won"]) for duel in result["duels"]) >= 10
