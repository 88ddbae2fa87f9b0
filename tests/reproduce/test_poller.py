"""The poller's table: its bars, its text, its picture, and where its data come from."""

import gzip
from functools import partial

import numpy as np
import pytest

from selectron.power.polling import Arrivals, BackOff, FixedInterval, back_off_bill, replay
from selectron.reproduce import EXPERIMENTS
from selectron.reproduce.default import poller, poller_http
from selectron.reproduce.harness import problems

POLLER, POLLER_HTTP = EXPERIMENTS["poller"], EXPERIMENTS["poller-http"]

SMALL = [
    poller.Stream("even", [Arrivals(np.arange(0.5, 600.0, 3.0), 600.0)], 1.0, 5, (0.03, 0.3)),
    poller.Stream("one", [Arrivals(np.array([5.0]), 40.0)] * 2, 1.0, 5, (0.3,)),
]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(poller, "streams", lambda seeds: SMALL)
    monkeypatch.delenv("SELECTRON_DATA", raising=False)


def test_ratios_are_to_the_best_fixed_interval(small):
    ticks = []
    result = POLLER.run(None, lambda: ticks.append(1))
    assert len(ticks) == POLLER.steps(None) == len(result["rows"]) == 3
    row = result["rows"][0]
    arrivals, prices = SMALL[0].runs[0], (1.0, 0.03)
    fixed = [replay(FixedInterval(2.0**k), *arrivals).cost(*prices) for k in range(6)]
    doubling = replay(BackOff(1.0, 32.0), *arrivals).cost(*prices)
    assert row["back-off"] == pytest.approx(doubling / min(fixed))
    assert row["median fixed"] == pytest.approx(np.median(fixed) / min(fixed))
    assert row["best back-off"] <= 1.0
    finest = min(back_off_bill(*arrivals, x, x).cost(*prices) for x in SMALL[0].intervals(8))
    assert row["8 an octave"] / row["learned"] == pytest.approx(min(fixed) / finest)
    assert result["all"]["worst"] == max(r["worst"] for r in result["rows"])


def test_text_and_picture(small, tmp_path):
    result = POLLER.run(2, lambda: None)
    shown = POLLER.text(result)
    assert "no recorded streams" in shown
    assert len([line for line in shown.splitlines() if line.startswith(("even", "one"))]) == 3
    POLLER.plot(result, tmp_path / "poller.png")
    assert (tmp_path / "poller.png").stat().st_size > 10_000


def test_without_data_only_what_is_drawn(monkeypatch):
    monkeypatch.delenv("SELECTRON_DATA", raising=False)
    names = [stream.name for stream in poller.streams(1)]
    assert names == ["Poisson bursts", "on/off Pareto", "Poisson"]
    with pytest.raises(ValueError, match="needs recorded traffic; give the folder"):
        problems.needed_data_folder("this")
    monkeypatch.setenv("SELECTRON_DATA", "nowhere")
    with pytest.raises(ValueError, match="SELECTRON_DATA is nowhere, which is no folder"):
        problems.data_folder()


@pytest.mark.parametrize(
    ("read", "file"),
    [
        (problems.epa_requests, "epa_http.csv.gz"),
        (partial(problems.client_packets, name="web"), "client_packets.npz"),
        (lambda folder: problems.read_documents(folder / "texts.jsonl.gz"), "texts.jsonl.gz"),
    ],
)
def test_a_missing_file_is_named_with_the_remedy(tmp_path, read, file):
    with pytest.raises(FileNotFoundError, match=f"^{file} not found in .*: set SELECTRON_DATA"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["certified-stopping", "files-beside-pipelines"])
def test_experiments_that_need_several_files_refuse_to_begin(tmp_path, monkeypatch, name):
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"not found in .*: set SELECTRON_DATA"):
        EXPERIMENTS[name].needs()


def test_recorded_traffic_is_read(tmp_path, monkeypatch):
    rows = ["t,client,method,object,status,bytes", "100,7,GET,1,200,512", "102,8,GET,1,200,"]
    with gzip.open(tmp_path / "epa_http.csv.gz", "wt") as file:
        file.write("\n".join(rows + [f"{103 + k},7,GET,2,200,10" for k in range(4)]))
    packets = {"web_t": np.array([3.0, 3.5]), "web_bytes": np.array([40, 1392])}
    np.savez(tmp_path / "client_packets.npz", **packets)
    requests = problems.epa_requests(tmp_path)
    assert requests.time_s.tolist() == [0, 2, 3, 4, 5, 6]
    assert requests.bytes.tolist() == [512, 0, 10, 10, 10, 10]
    assert problems.busy_clients(requests, least=2) == [7]
    assert requests.of(8).time_s.tolist() == [2]
    spread = problems.within_the_second(requests)
    assert (np.floor(spread.time_s) == requests.time_s).all()
    assert (np.diff(spread.time_s) > 0).all()
    assert problems.client_packets(tmp_path, "web").tolist() == [0.0, 0.5]


def test_three_clients_of_five_judge_and_the_others_chose(tmp_path, monkeypatch):
    rows = [f"{1000 + k},{c},GET,1,200,5" for k in range(100) for c in range(10)]
    with gzip.open(tmp_path / "epa_http.csv.gz", "wt") as file:
        file.write("\n".join(["t,client,method,object,status,bytes", *rows]))
    packets = np.arange(3.0)
    kinds = {f"{n}_{of}": packets for n in ("web", "youtube") for of in ("t", "bytes")}
    np.savez(tmp_path / "client_packets.npz", **kinds)
    monkeypatch.setenv("SELECTRON_DATA", str(tmp_path))
    found = {stream.name: stream for stream in poller.streams(1)}
    requests = problems.within_the_second(problems.epa_requests(tmp_path))
    judged = [requests.of(client).time_s.tolist() for client in (2, 3, 4, 7, 8, 9)]
    assert [run.times.tolist() for run in found["EPA clients"].runs] == judged
    assert len(found["EPA site"].runs[0].times) == 1000
    assert found["packets web"].intervals(1)[[0, -1]].tolist() == [0.005, 2.56]


def test_the_run_over_http_reports_every_schedule(monkeypatch, tmp_path):
    monkeypatch.setattr(poller_http, "DURATION", 0.2)
    monkeypatch.setattr(poller_http, "arrivals", lambda seed, duration: [0.05, 0.06, 0.15])
    result = POLLER_HTTP.run(1, lambda: None)
    assert len(result["rows"]) == POLLER_HTTP.steps(1) == 11
    for row in result["rows"]:
        assert row["items"] == 3
        assert row["cost"] == pytest.approx(row["polls"] + 30 * row["waited_s"])
        assert row["schedule"] in POLLER_HTTP.text(result)
    POLLER_HTTP.plot(result, tmp_path / "http.png")
    assert (tmp_path / "http.png").stat().st_size > 5_000


@pytest.mark.slow
def test_the_bars_hold():
    result = POLLER.run(None, lambda: None)
    for row in result["rows"]:
        if row["stream"] == "Poisson":
            assert row["learned"] <= 1.1
        if row["stream"] == "on/off Pareto":
            assert row["learned"] <= 1.0
    assert result["all"]["learned"] <= 1.0
    assert result["all"]["learned"] < result["all"]["back-off"]
