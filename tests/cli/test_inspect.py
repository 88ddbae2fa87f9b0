"""`selectron inspect` on trackers and on experts: what is in the file, without running it."""

import json
import re

import pytest

from selectron.experts import FixedShare, StaticExpert, load_experts, save_experts
from selectron.tracking import ForgettingRidge, TrackingClassifier
from selectron.updates import Perceptron


@pytest.fixture
def tracker(tmp_path, rows):
    X, y = rows
    tracker = TrackingClassifier([ForgettingRidge(memory=9.0), Perceptron()], random_state=4)
    tracker.partial_fit(X[:100], y[:100], classes=[4, 7])
    assert tracker.ask(X[100:120]).asked.any()
    tracker.save(tmp_path / "t.selectron")
    return tmp_path / "t.selectron", tracker


def shown(out):
    return dict(re.split(r"  +", line, maxsplit=1) for line in out.splitlines())


def test_a_tracker(command, tracker):
    path, tracker = tracker
    code, out, err = command("inspect", path)
    assert (code, err) == (0, "")
    facts = shown(out)
    assert facts["file"] == "t.selectron"
    assert facts["learners"] == "['ForgettingRidge(memory=9.0)', 'Perceptron()']"
    assert facts["experts"] == "LearnAlpha"
    assert facts["query"] == "ByMargin(rate=0.1, step=0.02, floor=0.025, start=0.3, sharp=True)"
    assert (facts["features"], facts["seed"], facts["classes"]) == ("5", "4", "[4, 7]")
    assert facts["rounds seen"] == "120"
    assert facts["labels asked"] == str(tracker.n_asked_)
    assert facts["updates"] == str(tracker.n_updates_)
    assert int(facts["questions waiting"]) == tracker.n_asked_ - tracker.n_updates_ > 0
    assert facts["weights"] == "[" + ", ".join(f"{w:.4g}" for w in tracker.weights_) + "]"
    assert facts["following"] == str(tracker.following_)
    assert facts["sha256"] == "matches"


def test_a_tracker_in_json(command, tracker):
    path, tracker = tracker
    facts = json.loads(command("inspect", path, "--json", "-")[1])
    assert facts["weights"] == tracker.weights_.tolist()
    assert facts["learners"] == tracker.names_
    assert facts["bytes"] == path.stat().st_size
    assert set(facts["query state"]) == {"width", "up", "down", "floor"}


@pytest.mark.parametrize("eta", [0.5, "adahedge"])
def test_experts(command, tmp_path, eta):
    path = tmp_path / "x.experts"
    experts = FixedShare(3, 0.1, eta=eta)
    experts.run([[0.1, 0.9, 0.5]] * 5)
    save_experts(experts, path)
    facts = shown(command("inspect", path)[1])
    assert (facts["experts"], facts["number"], facts["eta"]) == ("FixedShare", "3", str(eta))
    assert facts["following"] == "0"
    wanted = load_experts(path).weights.tolist()
    assert json.loads(command("inspect", path, "--json", "-")[1])["weights"] == wanted


def test_many_weights_are_cut_on_the_screen_and_not_in_json(command, tmp_path):
    path = tmp_path / "x.experts"
    save_experts(StaticExpert(50), path)
    out = command("inspect", path)[1]
    assert shown(out)["weights"] == "[" + "0.02, " * 20 + "and 30 more]"
    weights = json.loads(command("inspect", path, "--json", "-")[1])["weights"]
    assert weights == StaticExpert(50).weights.tolist()


def test_a_damaged_tracker_is_refused(command, tracker):
    path, _ = tracker
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)
    code, out, err = command("inspect", path)
    assert (code, out) == (2, "")
    assert "SHA-256 does not match" in err
