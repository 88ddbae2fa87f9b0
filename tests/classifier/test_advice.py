"""What a learner says to those who trip: warnings, records of the log, a table in notebooks."""

import logging

import numpy as np
import pytest
from scipy.sparse import csr_array

from selectron import SelectiveClassifier
from selectron.queries import Always, Margin
from selectron.updates import Perceptron, Ridge

pytestmark = pytest.mark.plain

RNG = np.random.default_rng(0)
X = RNG.standard_normal((1500, 5))
Y = X @ [1.0, -2.0, 0.5, 0.0, 1.0] > 0.0
LARGE = X * [1.0, 1.0, 1e4, 1.0, 1.0]


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "csr"])
def test_a_column_that_drowns_the_others_is_warned_of(form):
    with pytest.warns(UserWarning, match='holds 100.0% .* scaling="automatic"'):
        SelectiveClassifier(Perceptron(), Always()).fit(form(LARGE), Y)
    SelectiveClassifier(Perceptron(), Always()).fit(form(X), Y)
    SelectiveClassifier(Perceptron(), Always(), scaling="automatic").fit(LARGE, Y)
    SelectiveClassifier().fit(LARGE, Y)


def test_hardly_any_question_on_uneven_columns_is_warned_of():
    uneven = X * [1.0, 1.0, 200.0, 1.0, 200.0]
    clf = SelectiveClassifier(Perceptron(), Margin(b=1e-6), random_state=0)
    with pytest.warns(UserWarning, match="of 1,500 labels were asked: Margin looks at margins"):
        clf.fit(uneven, Y)
    clf.fit(X, Y)  # even columns: the rule may be right to be silent


def test_unknown_labels_name_the_oracle():
    for unknown in (None, np.nan):
        with pytest.raises(ValueError, match="pass an oracle instead"):
            SelectiveClassifier().fit(X[:3], [1.0, 0.0, unknown])


def test_minus_one_beside_other_labels_is_asked_about():
    with pytest.warns(UserWarning, match="-1 is taken for a class .* pass an oracle"):
        SelectiveClassifier(Ridge(), Always()).fit(X[:90], np.arange(90) % 3 - 1)
    SelectiveClassifier(Ridge(), Always()).fit(X[:90], np.where(Y[:90], 1, -1))


def test_services_hear_of_classes_goals_and_refusals(caplog):
    caplog.set_level(logging.INFO, "selectron")
    clf = SelectiveClassifier(Ridge(), Always(), explore=0.5, stop_when="error<=0.3")
    clf.partial_fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        clf.partial_fit(np.full((1, 5), np.nan), [True])
    said = [record.getMessage() for record in caplog.records]
    assert "class True joins in round 0" in said or "class False joins in round 0" in said
    assert any(line.startswith("goal error") and "met at round" in line for line in said)
    assert any(line.startswith("a batch is refused in round 1500: ") for line in said)
    assert {record.name.split(".")[0] for record in caplog.records} == {"selectron"}


def test_a_notebook_shows_parameters_and_what_was_learnt():
    clf = SelectiveClassifier(Perceptron(), Margin(b=0.5))
    assert "<td>Margin(b=0.5)</td>" in clf._repr_html_()
    shown = clf.fit(X, np.where(Y, "<b>", "no"))._repr_html_()
    assert "<th>n_asked_</th>" in shown
    assert "<b>" not in shown
