"""A learner's file keeps the recipe: records and texts go in again, and nothing is executed."""

import sys

import pytest

import selectron
import selectron.cli
from selectron import SelectiveClassifier
from selectron.classifier import store
from selectron.features import Recipe
from selectron.queries import Margin
from selectron.updates import Perceptron

pytestmark = pytest.mark.plain  # the rules are compiled elsewhere
RECORDS = [{"n": n * 0.5, "kind": "ab"[n % 2]} for n in range(60)]
LABELS = ["even" if n % 2 else "odd" for n in range(60)]


def learner(records=RECORDS):
    recipe = Recipe.choose(records)
    return SelectiveClassifier(
        Perceptron(), Margin(b=0.5), scaling="centred", recipe=recipe, random_state=0
    )


def test_records_by_every_door(tmp_path):
    clf = learner().fit(RECORDS, LABELS)
    clf.save(tmp_path / "m.selectron")
    again = selectron.load(tmp_path / "m.selectron")
    assert again.recipe == clf.recipe
    assert again.predict(RECORDS).tolist() == clf.predict(clf.recipe.rows(RECORDS)).tolist()
    again.partial_fit(RECORDS, LABELS)
    asked = again.ask(RECORDS[:5])
    assert len(asked.labels) == 5
    assert again.score(RECORDS, LABELS) == again.score(again.recipe.rows(RECORDS), LABELS)


def test_texts():
    texts = ["rain and wind today", "shares fell again"] * 30
    clf = SelectiveClassifier(recipe=Recipe.choose([{"text": t} for t in texts]), random_state=0)
    clf.fit(texts, ["weather", "money"] * 30)
    assert clf.predict(["wind and rain", "shares again"]).tolist() == ["weather", "money"]


def test_a_data_frame():
    pandas = pytest.importorskip("pandas")
    clf = learner().fit(pandas.DataFrame(RECORDS), LABELS)
    assert clf.predict(pandas.DataFrame(RECORDS)).tolist() == clf.predict(RECORDS).tolist()


BROKEN = {
    "width": lambda recipe: recipe["columns"].pop(),
    "kind": lambda recipe: recipe["columns"][0].update(kind="os.system"),
    "knob": lambda recipe: recipe["columns"][1].update(places=10**9),
    "none": lambda recipe: recipe.pop("places"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_recipe_that_somebody_has_changed_is_refused(tmp_path, monkeypatch, case):
    clf = learner().fit(RECORDS, LABELS)
    described = clf.recipe.describe()
    BROKEN[case](described)
    monkeypatch.setattr(Recipe, "describe", lambda self: described)
    clf.save(tmp_path / "m.selectron")
    with pytest.raises(store.DamagedFile, match="is damaged"):
        selectron.load(tmp_path / "m.selectron")


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("a.parquet", "pyarrow", "tables"), ("a.csv.zst", "pyarrow", "tables")],
)
def test_a_missing_extra_is_named(tmp_path, monkeypatch, capsys, name, package, extra):
    (tmp_path / name).write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, package, None)
    assert selectron.cli.main(["run", str(tmp_path / name)]) == 2
    assert (
        f"{package} is not installed: pip install 'selectron[{extra}]'" in capsys.readouterr().err
    )
