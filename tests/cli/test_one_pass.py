"""Files of mixed columns through `run` and `predict`, a batch at a time, whoever answers."""

import csv
import io
import json
import random
import sys

import pytest
from PIL import Image

import selectron
from selectron.labelling.desk import Desk
from selectron.labelling.items import Columns, load, read_items
from selectron.labelling.service import Service
from selectron.labelling.store import open_store
from tests.labelling.office import WordLearner

pytestmark = pytest.mark.plain  # the rules are compiled elsewhere
N = 300
RULES = "--rules", "perceptron+margin:b=0.5", "--scaling", "centred"


def risk(record):
    return "high" if float(record["age"] or 40) > 50 or record["town"] == "Ulm" else "low"


@pytest.fixture(scope="module")
def records():
    draw = random.Random(0)
    found = []
    for n in range(N):
        record = {
            "nr": str(n + 1),
            "age": "" if draw.random() < 0.05 else str(draw.randint(18, 90)),
            "town": draw.choice(["Ulm", "Bonn", "Trier"]),
            "since": f"2024-{draw.randint(1, 12):02d}-11",
        }
        found.append(record | {"risk": risk(record)})
    return found


@pytest.fixture
def table(tmp_path, records):
    return write_csv(tmp_path / "people.csv", records)


def write_csv(path, records):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    return path


def facts(command, *arguments):
    code, out, err = command(*arguments, "--json", "-")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_from_a_table_of_mixed_columns_to_predictions_and_back(command, table, records, tmp_path):
    model = tmp_path / "risk.selectron"
    code, out, err = command("run", table, "--target", "risk", "--explain", "--save", model)
    assert (code, err) == (0, "")
    assert "age    a number, and a flag where it is missing" in out
    assert "town   one of few values" in out
    assert "since  a date" in out
    assert "nr     left out: it numbers the rows" in out
    code, out, _ = command("predict", model, table, "--id", "nr")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["id"] for line in lines] == [record["nr"] for record in records]
    right = sum(line["label"] == r["risk"] for line, r in zip(lines, records, strict=True))
    assert right > 0.8 * N
    assert sorted(line["doubt"] for line in lines) == list(range(1, N + 1))
    loaded = selectron.load(model)
    assert loaded.predict(records).tolist() == [line["label"] for line in lines]


def test_one_pass_is_the_run_on_all_rows(command, table):
    whole = facts(command, "run", table, "--positive", "high", *RULES)["results"][0]
    passed = facts(command, "run", table, "--positive", "high", *RULES, "--one-pass")["results"][0]
    assert passed["labels"] == whole["labels"]
    assert passed["mistakes"] == whole["mistakes"]
    assert passed["judged"] == N
    for number in ("f1", "precision", "recall"):
        assert passed[number] == pytest.approx(whole[number])


def test_the_second_class_counts_whichever_came_first(command, table, records, tmp_path):
    words = "--target", "risk", *RULES
    whole = facts(command, "run", table, *words)["results"][0]
    for order in ("high,low", "low,high"):
        passed = facts(command, "run", table, *words, "--classes", order)["results"][0]
        for number in ("mistakes", "f1", "precision", "recall"):
            assert passed[number] == whole[number]

    # Classes that join as they come: other names make the other class the second one. So the
    # recalls of both runs share out the right predictions, which no name changes.
    names = {"high": "z", "low": "b"}
    renamed = write_csv(tmp_path / "b.csv", [r | {"risk": names[r["risk"]]} for r in records])
    low, high = (
        facts(command, "run", path, *words, "--one-pass")["results"][0] for path in (table, renamed)
    )
    assert [names[name] for name in low["classes"]] == high["classes"]
    assert low["mistakes"] == high["mistakes"]
    there = sum(r["risk"] == "low" for r in records)
    right = low["recall"][0] * there + high["recall"][0] * (N - there)
    assert right == pytest.approx(N - low["mistakes"][0], abs=1e-9)


def test_compare_in_one_pass(command, table):
    found = facts(
        command, "compare", table, "default", "perceptron+margin", *RULES[2:], "--one-pass"
    )
    names = [result["learner"] for result in found["results"]]
    assert names == [
        "default",
        "default, at random",
        "perceptron+margin",
        "perceptron+margin, at random",
    ]


def test_rows_without_a_label_are_rows(command, records, tmp_path):
    some = [r | {"risk": r["risk"] if n % 3 else ""} for n, r in enumerate(records)]
    table = write_csv(tmp_path / "some.csv", some)
    found = facts(command, "run", table, "--target", "risk", "--explore", "0.2")["results"][0]
    assert (found["rounds"], found["judged"]) == (N, N * 2 // 3)
    assert "given up" in found["readout"]
    code, _, err = command("run", table, "--target", "risk", "--shuffle")
    assert (code, "100 rows have no label in 'risk'" in err) == (2, True)


def test_standard_input_and_large_files_pass_by(command, table, monkeypatch):
    wanted = facts(command, "run", table, *RULES, "--one-pass")["results"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(table.read_bytes())))
    assert facts(command, "run", "-", *RULES)["results"] == wanted
    monkeypatch.setattr("selectron.cli.run.LARGE", 10)
    assert facts(command, "run", table, *RULES)["results"] == wanted


def test_a_folder_of_pictures(command, tmp_path):
    draw = random.Random(1)
    for n in range(60):
        folder = tmp_path / ("dark", "light")[n % 2]
        folder.mkdir(exist_ok=True)
        shade = draw.randint(0, 100) + 120 * (n % 2)
        Image.new("L", (12, 12), shade).save(folder / f"{n}.png")
    found = facts(command, "run", tmp_path, "--shuffle", "--explain", *RULES)
    assert found["recipe"]["columns"] == [{"kind": "image", "name": "image", "side": 28}]
    assert (found["rows"], found["features"]) == (60, 784)


# --- oracles

ORACLE = """
import json, sys
for n, line in enumerate(sys.stdin, 1):
    record = json.loads(line)
    assert "risk" not in record
    {act}
    risk = float(record["age"] or 40) > 50 or record["town"] == "Ulm"
    print("high" if risk else "low", flush=True)
"""


def oracle(tmp_path, act="pass"):
    path = tmp_path / "oracle.py"
    path.write_text(ORACLE.format(act=act))
    return "--target", "risk", "--oracle", f"{sys.executable} {path}"


def test_a_program_answers(command, table, tmp_path):
    wanted = facts(command, "run", table, "--target", "risk", *RULES, "--one-pass")["results"]
    assert facts(command, "run", table, *RULES, *oracle(tmp_path))["results"] == wanted


def test_a_budget_is_never_exceeded(command, table, tmp_path):
    found = facts(command, "run", table, *oracle(tmp_path), "--budget", "15")["results"][0]
    assert found["labels"] == [15] or found["labels"][0] < 15


def test_a_program_may_not_know(command, table, tmp_path):
    act = "if n % 2: print(flush=True); continue"
    found = facts(command, "run", table, *RULES, *oracle(tmp_path, act))["results"][0]
    assert found["labels"][0] > found["updates"][0]


FAILURES = {
    "dies": ("if n == 3: sys.exit(7)", "question 3, people.csv, line", "with exit code 7"),
    "hangs": ("if n == 2: import time; time.sleep(60)", "question 2", "no answer within 0.5 s"),
    "babbles": ('print("low", flush=True)', "question", "more than it was asked"),
    "not text": (
        'sys.stdout.buffer.write(b"\\xff\\n"); sys.stdout.flush(); continue',
        "question 1",
        "its answer is not UTF-8",
    ),
    "endless": ('print("x" * 20_000, flush=True)', "question 1", "longer than 10,000 bytes"),
    "no class": ('print("other", flush=True); continue', "unknown label 'other'", "low"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_program_that_fails(command, table, tmp_path, case):
    act, *said = FAILURES[case]
    model = tmp_path / "m.selectron"
    model.write_bytes(b"before")
    arguments = "--oracle-timeout", "0.5", "--classes", "high,low", "--save", model
    if case in ("dies", "babbles"):
        arguments = "--oracle-timeout", "30", *arguments[2:]
    code, out, err = command("run", table, *RULES, *oracle(tmp_path, act), *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    for part in said:
        assert part in err
    assert model.read_bytes() == b"before"


def test_a_program_that_does_not_start(command, table):
    code, _, err = command("run", table, "--oracle", "/no/such/program")
    assert (code, "cannot start it: No such file" in err) == (2, True)


def test_labels_of_a_store(command, table, records, tmp_path):
    store = tmp_path / "people.db"
    labelled = write_csv(
        tmp_path / "labelled.csv", [r | {"label": r["risk"]} for r in records[:200]]
    )
    plain = [{k: v for k, v in r.items() if k != "risk"} for r in records]
    service = Service(open_store(store), Desk(WordLearner))
    load(service, read_items(str(labelled), Columns(id="nr")))
    service.close()
    found = facts(
        command, "run", write_csv(tmp_path / "plain.csv", plain), "--label-store", store,
        "--id", "nr", *RULES,
    )["results"][0]  # fmt: skip
    assert found["judged"] == 0
    assert found["mistakes"] is None
    assert found["f1"] is found["precision"] is found["recall"] is None
    assert set(found["classes"]) == {"high", "low"}


def test_what_does_not_go_together(command, table):
    for arguments, said in (
        (("--oracle", "cat", "--label-store", "x.db"), "both answer"),
        (("--one-pass", "--shuffle"), "--shuffle needs all rows at once"),
        (("--oracle", ""), "--oracle is empty"),
        (("--budget", "0"), "--budget must be at least 1"),
    ):
        code, _, err = command("run", table, *arguments)
        assert (code, said in err) == (2, True), err
