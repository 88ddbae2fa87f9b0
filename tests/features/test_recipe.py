"""A recipe is chosen from the first records, and makes the same rows ever after."""

import json
from datetime import datetime
from io import BytesIO

import numpy as np
import pytest
from PIL import Image as Pillow

from selectron.features import Features, Recipe
from selectron.features.columns import (
    Code,
    Codes,
    Date,
    Image,
    Letters,
    Named,
    Number,
    Vector,
    Words,
    moment_of,
)

N = 40
SENTENCES = [f"the quick brown fox number {n} jumps over the lazy dog" for n in range(N)]
COLUMNS = {
    Number: [
        [n * 0.5 for n in range(N)],
        [str(n % 7) for n in range(N)],
        ["1e3", "", "-2.5", "NA", *("3" for _ in range(N))],
        [True, False] * 20,
    ],
    Code: [["red", "blue"] * 20, ["007", "008"] * 20, ["yes", None] * 10],
    Words: [SENTENCES],
    Letters: [[f"name{n // 2} x{n}" for n in range(N)]],
    Date: [
        [f"2024-01-{1 + n % 28:02d}" for n in range(N)],
        [f"2024-01-02T03:{n:02d}:00Z" for n in range(N)],
        [f"{1 + n % 28}.2.1999" for n in range(N)],
        [f"2/{1 + n % 28}/1999 10:30" for n in range(N)],
        [datetime(2020, 1, 1 + n % 28) for n in range(N)],
    ],
    Vector: [[[1.0, float(n)] for n in range(N)]],
    Codes: [[["a", "b"], [], ["c"]] * 9],
    Named: [[{"a": 1.0}, {"b": 2}] * 10],
    Image: [["a.png", "b/c.JPG"] * 3, [b"\x89PNG"] * 3, [{"bytes": b"x", "path": "a"}] * 3],
}


@pytest.mark.parametrize(
    ("kind", "values"), [(kind, values) for kind, many in COLUMNS.items() for values in many]
)
def test_the_first_values_tell_the_kind(kind, values):
    recipe = Recipe.choose([{"c": value} for value in values])
    assert [type(column) for column in recipe.columns] == [kind]


LEFT_OUT = {
    "it is empty": [None, ""] * 10,
    "it is the same in every row": ["a"] * N,
    "it numbers the rows": [str(n) for n in range(100, 100 + N)],
    "it differs in every row": [f"{n:x}f3-{n * 7919:x}" for n in range(N)],
}


@pytest.mark.parametrize("why", LEFT_OUT)
def test_columns_that_say_nothing_are_left_out(why):
    records = [{"c": value, "n": n * 0.5} for n, value in enumerate(LEFT_OUT[why])]
    assert Recipe.choose(records).left_out == (("c", why),)


def test_a_key_is_read_if_there_is_nothing_else():
    recipe = Recipe.choose([{"host": f"host{n}.example"} for n in range(N)])
    assert isinstance(recipe.columns[0], Letters)
    with pytest.raises(
        ValueError, match="no column says anything about a row: 'a': it is the same"
    ):
        Recipe.choose([{"a": 1}] * 30)


def test_numbers_as_they_are_and_a_flag_where_they_are_missing():
    recipe = Recipe.choose([{"a": "2"}, {"a": ""}, {"a": "4"}])
    found = recipe.rows([{"a": "3"}, {"a": "NA"}, {}, {"a": "inf"}])
    assert found.tolist() == [[3.0, 0.0], [3.0, 1.0], [3.0, 1.0], [3.0, 1.0]]


def test_a_code_has_one_place_whether_it_is_new_or_not():
    recipe = Recipe.choose([{"a": name} for name in "abcdefgh" * 5])
    found = recipe.rows([{"a": name} for name in [*"abcdefgh", "new", None]])
    assert (found.sum(axis=1) == 1.0).all()
    assert len(np.unique(found[:8], axis=0)) >= 7  # the salt keeps those of the first rows apart


def test_dates_in_parts():
    recipe = Recipe.choose([{"d": f"2024-01-{1 + n % 28:02d} 06:30"} for n in range(N)])
    row = recipe.rows([{"d": "2000-02-29 06:30"}])[0]
    assert row[:3].tolist() == [59.0, 6.5, 0.0]
    assert np.flatnonzero(row[3:]).tolist() == [1, 12 + 1]  # February, a Tuesday
    assert recipe.rows([{"d": "soon"}])[0, 2] == 1.0


@pytest.mark.parametrize(
    ("text", "order", "found"),
    [
        ("2024-02-30", "iso", None),
        ("31/12/2024", "mdy", None),
        ("31/12/2024", "dmy", datetime(2024, 12, 31)),
        ("2024/12/31 23:59", "ymd", datetime(2024, 12, 31, 23, 59)),
        ("1.2.3", "dmy", None),
        (7, "iso", None),
    ],
)
def test_moments(text, order, found):
    assert moment_of(text, order) == found


def test_beside_a_text_all_is_hashed_and_counted():
    records = [
        {"text": text, "n": n * 1.5, "kind": "ab"[n % 2], "title": text[::-1]}
        for n, text in enumerate(SENTENCES)
    ]
    recipe = Recipe.choose(records)
    rows = recipe.rows(records)
    assert rows.shape == (N, 1 << 16)
    assert (rows.data == np.floor(rows.data)).all()  # so that the scaling knows counts
    alone = Recipe.choose([{"text": text} for text in SENTENCES]).rows(SENTENCES)
    assert (rows.sum(axis=1) > alone.sum(axis=1)).all()


def test_pairs_of_words():
    plain = Recipe.choose([{"t": text} for text in SENTENCES])
    pairs = Recipe.choose([{"t": text} for text in SENTENCES], pairs=True)
    assert (plain.rows(["one two three"]).sum(), pairs.rows(["one two three"]).sum()) == (3, 5)
    assert pairs.width == 1 << 18


def test_texts_stand_for_records_of_one_column_only():
    recipe = Recipe.choose([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
    with pytest.raises(ValueError, match="a row is made of 'a', 'b': pass records"):
        recipe.rows(["x"])


def test_pictures(tmp_path):
    Pillow.new("L", (9, 9), 255).save(tmp_path / "white.png")
    recipe = Recipe.choose([{"image": "white.png"}, {"image": "gone.png"}])
    found = recipe.rows([{"image": "white.png"}, {"image": "gone.png"}], tmp_path)
    assert (found.shape, found[0].min(), found[1].max()) == ((2, 784), 1.0, 0.0)
    data = BytesIO()
    Pillow.new("L", (9, 9), 255).save(data, "png")
    assert recipe.rows([{"image": {"bytes": data.getvalue()}}]).min() == 1.0


def mixed(n):
    return {
        "n": n * 0.25,
        "code": "abc"[n % 3],
        "when": f"2024-01-{1 + n % 28:02d}",
        "tags": ["x", "y"][: n % 3],
        "vector": [n, 1.0],
        "id": n,
    }


@pytest.mark.parametrize("text", [False, True])
def test_a_description_makes_the_same_rows(text):
    records = [mixed(n) | ({"text": SENTENCES[n]} if text else {}) for n in range(N)]
    if not text:
        records = [{k: v for k, v in record.items() if k != "tags"} for record in records]
    recipe = Recipe.choose(records)
    again = Recipe.described(json.loads(json.dumps(recipe.describe())))
    assert again == recipe
    first, second = recipe.rows(records), again.rows(records)
    assert recipe.is_wide is text
    assert (first != second).sum() == 0


BROKEN = {
    "no columns": lambda d: d | {"columns": []},
    "kind": lambda d: d | {"columns": [{"kind": "eval", "name": "a"}]},
    "name": lambda d: d | {"columns": [{"kind": "words", "name": 3}]},
    "knob": lambda d: d | {"columns": [{"kind": "words", "name": "a", "boom": 1}]},
    "places": lambda d: d | {"places": 1 << 40},
    "code": lambda d: d | {"columns": [{"kind": "code", "name": "a", "places": 0}]},
    "number": lambda d: d | {"columns": [{"kind": "number", "name": "a", "middle": "x"}]},
    "vector": lambda d: d | {"columns": [{"kind": "vector", "name": "a", "length": 1 << 60}]},
    "twice": lambda d: d | {"columns": d["columns"] * 2},
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_description_is_refused(case):
    good = Recipe.choose([{"a": 1.5}, {"a": 2.5}]).describe()
    with pytest.raises((ValueError, TypeError, KeyError)):
        Recipe.described(BROKEN[case](good))


def test_items_of_labelling_are_read_as_before():
    features = Features([{"id": "1", "text": "a good day"}])
    assert features.rows([{"id": "2", "text": "good, good night"}]).shape == (1, 1 << 18)
    fields = Features(
        [{"id": str(n), "fields": {"a": n * 0.5, "b": "xy"[n % 2]}} for n in range(9)]
    )
    assert fields.rows([{"id": "9", "fields": {"a": 3, "b": "x"}}]).shape[1] == 1 + 8
