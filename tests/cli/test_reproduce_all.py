"""`selectron reproduce --all --report`: small experiments that run, fail, lack data and resume."""

import json
import re
from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from selectron.cli import reproduce as command_module
from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.harness.experiment import Experiment, Parts, verdict
from selectron.reproduce.harness.page import page_of
from selectron.reproduce.harness.session import Outcome, Session


def missing():
    raise ValueError("stories.gz not found")


@pytest.fixture
def ran(monkeypatch):
    """Put small experiments in the place of ours; return the names and seeds of those that ran."""
    ran = []

    def experiment(name, measured=1.0, judged=True, **options):
        def measure(job):
            if measured is None:
                raise RuntimeError("the <disc> is full")
            return measured

        def report(found, seeds):
            ran.append((name, seeds))
            return {"seeds": seeds, "data": "a stand-in for <RCV1>", "found": found[0][1]}

        def verdicts(result):
            found = result["found"]
            return [verdict("x < 2 & more", f"x = {found}", found < 2.0, "a <half>")]

        study = Parts(range, measure, report, lambda _: "x < y", lambda _: Figure((1, 1)),
                      *([verdicts] if judged else []))  # fmt: skip
        return Experiment(name, f"[Paper] {name}", study, **({"seeds": 3} | options))

    known = [
        experiment("good"),
        experiment("bad", measured=5.0, quick=2),
        experiment("broken", measured=None),
        experiment("ours", judged=False, quick=0),
        experiment("absent", needs=missing),
        experiment("reading", reads_data=True),
    ]
    monkeypatch.delenv("SELECTRON_DATA", raising=False)
    monkeypatch.setattr(command_module, "EXPERIMENTS", {each.name: each for each in known})
    return ran


def report(command, folder, *options):
    code, out, err = command("reproduce", "--all", "--report", folder, *options)
    return code, out, err, (folder / "index.html").read_text()


def test_the_page_has_a_row_for_every_verdict(command, ran, tmp_path):
    code, out, err, page = report(command, tmp_path / "new" / "out")
    assert (code, err) == (1, "")  # one of them failed
    assert out.startswith("3 of 6 experiments ran\nabsent: stories.gz not found\nreading: needs")
    assert "broken failed: RuntimeError: the <disc> is full" in out
    assert ran == [("good", 3), ("bad", 3), ("ours", 3)]
    assert page.count("<td>x &lt; 2 &amp; more</td>") == 2
    for ours, colour, said in (("1.0", "holds", "holds"), ("5.0", "not", "does not hold")):
        assert (
            f'<td>x = {ours}</td><td>a &lt;half&gt;</td><td><b class="{colour}">{said}, on a '
            "stand-in</b><br>data: a stand-in for &lt;RCV1&gt;" in page
        )
    assert "Claims of papers: 1 holds, on a stand-in; 1 does not hold, on a stand-in" in page
    assert "<td>failed: RuntimeError: the &lt;disc&gt; is full</td>" in page
    assert "<td>stories.gz not found</td>" in page
    own = page.partition("Experiments of our own")[2].partition("<h2>")[0]
    assert re.findall(r"selectron reproduce (\w+)<", own) == ["ours"]


def test_the_page_asks_nobody_for_anything(command, ran, tmp_path):
    _, _, _, page = report(command, tmp_path)
    assert page.count("data:image/png;base64,iVBOR") == 3
    assert "default-src 'none'" in page
    assert not re.search(r"https?:|<script|<link|@import|url\(", page)


def test_a_second_call_runs_only_what_is_missing(command, ran, tmp_path):
    _, _, _, first = report(command, tmp_path)
    ran.clear()
    _, _, _, second = report(command, tmp_path)
    assert ran == []
    assert second == first
    (tmp_path / "good.json").write_text("{half")
    report(command, tmp_path)
    assert ran == [("good", 3)]


def test_a_stopped_call_goes_on_where_it_stopped(command, ran, tmp_path, monkeypatch):
    first, second, *_ = command_module.EXPERIMENTS.values()
    stopping = second.study._replace(measure=interrupt)
    with monkeypatch.context() as patch:
        patch.setitem(command_module.EXPERIMENTS, "bad", replace(second, study=stopping))
        assert command("reproduce", "--all", "--report", tmp_path)[0] == 130
    assert ran == [("good", 3)]
    assert (tmp_path / "index.html").read_text().count("data:image/png") == 1
    ran.clear()
    report(command, tmp_path)
    assert ran == [("bad", 3), ("ours", 3)]
    assert Session(tmp_path).kept(first).verdicts[0]["verdict"] == "holds, on a stand-in"


def interrupt(job):
    raise KeyboardInterrupt


def test_the_report_of_all_has_seeds_for_an_hour(command, ran, tmp_path, monkeypatch):
    bad = command_module.EXPERIMENTS["bad"]
    monkeypatch.setitem(command_module.EXPERIMENTS, "bad", replace(bad, hour=2))
    _, _, _, page = report(command, tmp_path)
    assert ran == [("good", 3), ("bad", 2), ("ours", 3)]
    assert "selectron reproduce bad --seeds 2<" in page
    assert "selectron reproduce good<" in page


@pytest.mark.parametrize("options", [["--quick"], ["--seeds", "2"]])
def test_another_setting_is_run_again(command, ran, tmp_path, options):
    report(command, tmp_path)
    ran.clear()
    _, out, _, page = report(command, tmp_path, *options)
    if options == ["--quick"]:
        assert ran == [("good", 1), ("bad", 2)]
        assert "ours: left out of --quick" in out
        assert "selectron reproduce bad --seeds 2<" in page
        assert "selectron reproduce ours<" in page
    else:
        assert ran == [("good", 2), ("bad", 2), ("ours", 2)]


def test_another_version_is_run_again(command, ran, tmp_path, monkeypatch):
    report(command, tmp_path)
    ran.clear()
    monkeypatch.setattr("selectron.reproduce.harness.session.__version__", "9.9")
    report(command, tmp_path)
    assert len(ran) == 3


def test_the_facts_in_json(command, ran, tmp_path):
    _, out, _ = command("reproduce", "--all", "--report", tmp_path, "--json", "-")
    facts = json.loads(out)
    assert facts["good"]["verdicts"] == ["holds, on a stand-in"]
    assert facts["broken"]["failed"] == "RuntimeError: the <disc> is full"
    kept = json.loads((tmp_path / "good.json").read_text())
    assert kept["result"]["found"] == 1.0


@pytest.mark.parametrize(
    "options",
    [
        ["--all"],
        ["--report", "x"],
        ["good", "--quick"],
        ["good", "--all", "--report", "x"],
        ["--list", "--all", "--report", "x"],
    ],
)
def test_options_that_do_not_go_together(command, ran, options):
    code, out, err = command("reproduce", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--all" in err
    assert ran == []


def test_a_page_of_nothing():
    outcome = Outcome("n", "s", "c", not_run="why")
    assert "ran 0 of 1 experiments" in page_of([outcome], quick=False, total=1)
    stopped = page_of([outcome], quick=False, total=3)
    assert "ran 0 of 3 experiments" in stopped
    assert "2 are still to come: the same command goes on" in stopped


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_quick_run_has_fewer_seeds(name):
    experiment = EXPERIMENTS[name]
    assert experiment.quick <= (experiment.seeds or experiment.quick)
