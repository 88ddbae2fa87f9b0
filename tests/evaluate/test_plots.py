"""Pictures are written whole, or not at all."""

import numpy as np
import pytest

from selectron import SelectiveClassifier
from selectron.evaluate import (
    RunCurve,
    average_ranks,
    plot_bands,
    plot_curves,
    plot_data_sets,
    plot_ranks,
    progressive,
)
from selectron.evaluate.plots import Band, error_band, line_of
from selectron.queries import Always, Margin
from selectron.updates import Perceptron
from tests.rules.streams import stream

X, Y = stream(n=120)
LEARNER = SelectiveClassifier(Perceptron(), Margin(b=0.3))
STARTS = {"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.fixture(scope="module")
def traces():
    plain = progressive(LEARNER, X, Y)
    tested = progressive(LEARNER, X, Y, test=(X, Y))
    return {"plain": plain, "tested": tested}


@pytest.mark.parametrize("kind", STARTS)
def test_a_picture_is_written(tmp_path, traces, kind):
    path = tmp_path / f"run.{kind}"
    traces["tested"].plot(path, title="a run")
    content = path.read_bytes()
    assert content.startswith(STARTS[kind])
    assert len(content) > 5000
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_name_without_an_ending_is_a_png(tmp_path, traces):
    traces["plain"].plot(tmp_path / "run")
    assert (tmp_path / "run").read_bytes().startswith(STARTS["png"])


def test_without_a_path_nothing_is_written(tmp_path, traces, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert traces["plain"].plot() is not None
    assert not list(tmp_path.iterdir())


def test_the_curves_are_those_of_the_traces(traces):
    figure = plot_curves({"one": traces["tested"], "two": traces["tested"]})
    left, right = figure.axes
    curve = left.lines[0]
    assert curve.get_xdata().tolist() == traces["tested"].test_labels.tolist()
    shown = np.maximum(traces["tested"].test_errors, 0.5 / 120)
    assert curve.get_ydata().tolist() == shown.tolist()
    assert left.get_ylabel() == "test error"
    assert right.lines[1].get_ydata().tolist() == np.cumsum(traces["tested"].asked).tolist()
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [f"one: {traces['tested'].n_asked}", f"two: {traces['tested'].n_asked}"]


def test_errors_of_the_stream_are_not_mixed_with_test_errors(traces):
    left, right = plot_curves(traces).axes
    assert [line.get_label() for line in left.lines] == ["tested"]
    assert len(right.lines) == 2
    left, _ = plot_curves({"plain": traces["plain"]}).axes
    assert left.get_ylabel() == "error of the stream so far"
    assert left.lines[0].get_ydata()[-1] == traces["plain"].error


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_a_picture_that_fails_leaves_nothing_behind(tmp_path, traces, monkeypatch, stop):
    path = tmp_path / "run.png"
    path.write_bytes(b"the old one")

    def half_written(self, target, **options):
        target.write(b"half")
        raise stop

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", half_written)
    with pytest.raises(stop):
        traces["plain"].plot(path)
    assert path.read_bytes() == b"the old one"
    assert list(tmp_path.iterdir()) == [path]


def test_asking_always_draws_a_straight_line():
    trace = progressive(SelectiveClassifier(Perceptron(), Always()), X, Y)
    _, right = trace.plot().axes
    assert right.lines[0].get_ydata().tolist() == list(range(1, 121))


# --- bands


def curve(labels, errors, n=4):
    return RunCurve(np.array(labels, float), np.array(errors), np.arange(1.0, n + 1), tested=True)


def test_a_band_by_hand():
    band = Band.of(np.array([1.0]), [np.array([v]) for v in (11.0, 12.0, 13.0)])
    assert band.mean.tolist() == [12.0]
    half = 4.302653 / np.sqrt(3.0)  # Student's 97.5 % point of two degrees of freedom
    assert band.high - band.mean == pytest.approx(half, rel=1e-6)
    assert band.mean - band.low == pytest.approx(half, rel=1e-6)
    wide = Band.of(np.array([1.0]), [np.array([v]) for v in (0.0, 1.0)], most=1.0)
    assert (wide.low, wide.high) == (0.0, 1.0)
    alone = Band.of(np.array([1.0]), [np.array([1.5])])
    assert alone.low == alone.high == alone.mean == 1.5


def test_a_run_keeps_its_last_error():
    band = error_band([curve([1, 3], [0.5, 0.3]), curve([2, 4], [0.4, 0.2])])
    assert band.places.tolist() == [2.0, 3.0, 4.0]  # from where both have an error
    assert band.mean.tolist() == pytest.approx([0.45, 0.35, 0.25])


def test_a_learner_has_one_colour_and_the_legend_is_outside():
    never = RunCurve(np.zeros(0), np.zeros(0), np.arange(1.0, 5.0), tested=False)
    learners = {"never": [never] * 2, "one": [curve([1, 3], [0.5, 0.3])] * 2}
    figure = plot_bands(learners, title="t")
    left, right = figure.axes
    assert [line.get_label() for line in left.lines] == ["one"]
    assert [line.get_label() for line in right.lines] == ["never", "one"]
    assert left.lines[0].get_color() == right.lines[1].get_color() != right.lines[0].get_color()
    assert left.get_legend() is right.get_legend() is None
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["never", "one"]


def test_every_curve_looks_different():
    lines = [tuple(line_of(k).values()) for k in range(80)]
    assert len(set(lines)) == 80
    assert len({colour for colour, _ in lines[:20]}) == 20


# --- several data sets


def test_a_panel_a_data_set_and_one_colour_a_learner():
    never = [RunCurve(np.zeros(0), np.zeros(0), np.arange(1.0, 5.0), tested=True)] * 2
    one, two = [curve([1, 3], [0.5, 0.3])] * 2, [curve([2, 4], [0.4, 0.2])] * 2
    found = {"first": {"one": one, "two": two}, "second": {"one": never, "two": two}}
    figure = plot_data_sets(found)
    left, right = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["first", "second"]
    assert [line.get_label() for line in right.lines] == ["two"]
    assert right.lines[0].get_color() == left.lines[1].get_color() != left.lines[0].get_color()
    [legend] = figure.legends
    assert left.get_legend() is right.get_legend() is None
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two"]
    assert [line.get_color() for line in legend.get_lines()] == [
        line.get_color() for line in left.lines
    ]


def test_four_data_sets_take_two_lines():
    found = {name: {"one": [curve([2], [0.4])]} for name in "abcd"}
    axes = plot_data_sets(found).axes
    assert [each.get_title() for each in axes] == list("abcd")
    assert axes[0].lines[0].get_marker() == "o"  # a single place is seen


def test_the_picture_of_ranks(tmp_path):
    ranks = average_ranks({"a": [1, 1, 1], "b": [2, 2, 2], "c": [3, 3, 3]})
    path = tmp_path / "ranks.svg"
    figure = plot_ranks({"error": ranks, "labels": ranks}, path)
    assert path.read_bytes().startswith(STARTS["svg"])
    assert len(figure.axes) == 2
    axes = figure.axes[0]
    words = [text.get_text() for text in axes.texts]
    assert words[:4] == ["1", "2", "3", "critical difference 1.91"]
    assert words[4:] == ["a (1.00)", "b (2.00)", "(3.00) c"]
    assert [line.get_xdata()[0] for line in axes.lines] == ranks.average
    spans = [span.get_segments()[0] for span in axes.collections]
    widths = [float(span[1][0] - span[0][0]) for span in spans]
    assert widths[4] == pytest.approx(ranks.critical)
    assert widths[5:] == pytest.approx([1.06, 1.06])  # a with b, b with c
