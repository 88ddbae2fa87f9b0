"""The commands of labelling, from a file to the page, to labels, predictions and a replay."""

import csv
import json
import os
import pty
import re
import select
import shlex
import signal
import stat
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from io import StringIO
from pathlib import Path

import pytest

from selectron.cli import label as label_command
from selectron.cli import terminal
from selectron.cli.desks import without_password
from selectron.cli.main import _parser
from selectron.cli.replay import plot_beside
from selectron.client import Client
from selectron.labelling.demo import SENTENCES, TICKET_CLASSES, tickets
from selectron.labelling.store import DiskFull
from selectron.labelling.store.sqlite import SqliteStore
from tests.labelling import office
from tests.other_process import environment

RUN = [sys.executable, "-c", "import sys; from selectron.cli import main; sys.exit(main())"]


def truth(text):
    """Return the class of a letter of the demo, by the sentence that it is about."""
    for name, sentences in SENTENCES.items():
        for sentence in sentences:
            if re.search(re.sub(r"\\\{\w+\\\}", ".*", re.escape(sentence)), text):
                return name
    raise AssertionError(text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("label")
    lines = [json.dumps(entry.item) for entry in tickets(150)]
    (folder / "letters.jsonl").write_text("\n".join(lines))
    return folder


@contextmanager
def running(folder, *arguments, command="label"):
    """A `selectron label` process, and the line it prints when the page is there."""
    process = subprocess.Popen(
        [*RUN, command, *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process, process.stdout.readline()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def answer(folder, line, n):
    """Answer n questions of a running server rightly."""
    url = re.match(r"selectron: open (http://127\.0\.0\.1:\d+)/\?token=\S+$", line)[1]
    with Client(url, (folder / "token").read_text()) as client:
        for _ in range(n):
            (question,) = client.next(1)["questions"]
            client.answer(question["question"], truth(question["item"]["text"]))
        return client.export("jsonl"), client.model()


@pytest.fixture(scope="module")
def labelled(folder, request):
    """Twenty answers in two runs; what each run said, and what the server exported."""
    common = ("letters.jsonl", "--no-browser", "--token-file", "token")
    said = []
    with running(folder, *common, "--classes", ",".join(TICKET_CLASSES)) as (process, line):
        answer(folder, line, 10)
        assert stat.S_IMODE((folder / "token").stat().st_mode) == 0o600
        process.send_signal(signal.SIGINT)
        said.append((*process.communicate(timeout=30), process.returncode))
    with running(folder, *common) as (process, line):
        exported, model = answer(folder, line, 10)
        beside = subprocess.run(
            [*RUN, "export", "letters.selectron.db"],
            cwd=folder,
            env=environment(),
            capture_output=True,
            check=True,
        ).stdout
        assert beside == exported
        second = subprocess.run(
            [*RUN, "label", "letters.jsonl", "--no-browser"],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        process.send_signal(signal.SIGTERM)
        said.append((*process.communicate(timeout=30), process.returncode))
    (folder / "model.selectron").write_bytes(model)
    return said, exported, second


def test_a_run_says_what_was_reached_and_how_to_go_on(labelled):
    (first, second), _, _ = labelled
    out, err, code = first
    assert code == 0, err
    assert re.search(r"letters.selectron.db has 0 events; this disk keeps an answer in \S+ ms", err)
    assert out.startswith("10 of 150 items have labels, kept in letters.selectron.db.")
    assert "go on:   selectron label letters.jsonl --token-file token --no-browser\n" in out
    assert err.index("the learner is made ready") > err.index("has 0 events")
    assert "export:  selectron export letters.selectron.db" in out
    out, err, code = second
    assert code == 0, err
    assert "0 new items, 150 known" in err
    assert out.startswith("20 of 150 items have labels")


def test_one_process_writes(labelled):
    second = labelled[2]
    assert second.returncode == 2
    assert "is in use by process" in second.stderr
    assert "Traceback" not in second.stderr


def test_serve_asks_about_what_is_pushed_and_estimates_the_error(folder):
    entries = [entry.item for entry in tickets(240)]
    options = ("--classes", ",".join(TICKET_CLASSES), "--store", "served.db", "--no-browser")
    rate = ("--token-file", "served.token", "--audit-rate", "0.3")
    with running(folder, *options, *rate, command="serve") as (process, line):
        url = re.match(r"selectron: open (http://127\.0\.0\.1:\d+)/", line)[1]
        with Client(url, (folder / "served.token").read_text()) as client:
            kinds = []
            for start in range(0, len(entries), 40):
                replies = client.push(entries[start : start + 40])
                assert [reply["id"] for reply in replies] == [
                    item["id"] for item in entries[start : start + 40]
                ]
                while questions := client.next(1)["questions"]:
                    (question,) = questions
                    kinds.append(question["reason"]["kind"])
                    client.answer(question["question"], truth(question["item"]["text"]))
            status = client.status()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert set(kinds) == {"stream", "audit"}
    assert set(kinds[:40]) == {"stream"}  # nothing was predicted, so nothing could be audited
    estimate = status["estimate"]
    assert estimate["audits"] == kinds.count("audit")
    assert 0.0 <= estimate["low"] <= estimate["error"] <= estimate["high"] <= 1.0
    assert f"by {estimate['audits']} audits" in out
    assert (
        "go on:   selectron serve --store served.db --token-file served.token --no-browser" in out
    )


def test_export(labelled, folder, command):
    store = folder / "letters.selectron.db"
    code, out, err = command("export", store, "--format", "csv", "-o", folder / "labels.csv")
    assert (code, err) == (0, "")
    assert out == f"{folder / 'labels.csv'}: 20 of 150 items have labels\n"
    with (folder / "labels.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 21
    lines = [json.loads(line) for line in labelled[1].splitlines()]
    assert len(lines) == 20
    assert all(line["label"] == truth(line["text"]) for line in lines)
    code, out, err = command("export", store, "--format", "jsonl", "--all", "-o", folder / "all")
    everything = [json.loads(line) for line in (folder / "all").read_text().splitlines()]
    assert len(everything) == 150
    assert sum(line["label"] is None and line["guess"] in TICKET_CLASSES for line in everything)


@pytest.mark.parametrize("source", ["letters.selectron.db", "model.selectron"])
def test_predict(labelled, folder, command, source):
    code, out, _ = command("predict", folder / source, folder / "letters.jsonl")
    assert code == 0
    lines = [json.loads(line) for line in out.splitlines()]
    assert len(lines) == 150
    assert sorted(line["doubt"] for line in lines) == list(range(1, 151))
    doubtful = min(lines, key=lambda line: line["doubt"])
    assert doubtful["probability"] == min(line["probability"] for line in lines)
    texts = [entry.item["text"] for entry in tickets(150)]
    right = sum(line["label"] == truth(text) for line, text in zip(lines, texts, strict=True))
    assert right > 75  # one in four by chance


def test_store(labelled, folder, command):
    store = folder / "letters.selectron.db"
    code, out, _ = command("store", "verify", store, "--json", "-")
    assert code == 0
    assert json.loads(out)["ok"]
    code, out, _ = command("store", "backup", store, "-o", folder / "copy.db")
    assert (code, out) == (0, f"{folder / 'copy.db'} is a whole copy of {store}\n")
    assert command("store", "verify", folder / "copy.db")[0] == 0
    assert "20 answered" in command("store", "info", folder / "copy.db")[1]
    damaged = bytearray((folder / "copy.db").read_bytes())
    place = damaged.index(b'"label":"')
    damaged[place + 9] ^= 1
    (folder / "copy.db").write_bytes(damaged)
    code, out, err = command("store", "verify", folder / "copy.db")
    assert code in (1, 2)
    assert "Traceback" not in err


def test_replay(labelled, folder, command):
    plot = folder / "orders.png"
    store = folder / "letters.selectron.db"
    code, out, _ = command(
        "replay", store, "--query", "random", "default", "--plot", plot, "--json", folder / "r.json"
    )
    assert code == 0
    assert "4 of 20 labelled items are kept apart" in out
    facts = json.loads((folder / "r.json").read_text())
    assert [curve["order"] for curve in facts["curves"]] == ["as asked", "random", "default"]
    assert all(curve["labels"][-1] == 16 for curve in facts["curves"])
    assert plot.stat().st_size > 1000


def test_a_plot_without_a_name_lies_beside_the_store(labelled, folder, command):
    store, plot = folder / "letters.selectron.db", folder / "letters.orders.png"
    code, out, _ = command("replay", store, "--query", "random", "--plot")
    assert code == 0
    assert f"plot: {plot}" in out
    assert plot.stat().st_size > 1000


def test_a_plot_of_a_store_elsewhere_lies_here():
    assert plot_beside("postgresql://ann@host/mail?schema=a") == Path("selectron.orders.png")


def test_the_commands_of_the_guide_can_be_parsed():
    guide = Path("docs/guides/labelling.md").read_text()
    commands = re.findall(r"^selectron .*", guide, re.MULTILINE)
    assert len(commands) >= 10
    for line in commands:
        assert _parser().parse_args(shlex.split(line)[1:]).action


# the terminal


class Keyboard:
    """A process on a terminal of its own."""

    def __init__(self, folder, *arguments):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(RUN[0], [*RUN, *arguments], environment() | {"TERM": "dumb"})
        self.seen = ""

    def wait_for(self, words, seconds=60):
        """Read until the words were printed."""
        end = time.monotonic() + seconds
        while words not in self.seen:
            assert time.monotonic() < end, self.seen
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.file, 4096).decode(errors="replace")
                except OSError:  # the process is gone
                    assert words in self.seen, self.seen
        before, _, self.seen = self.seen.partition(words)
        return before

    def press(self, keys):
        os.write(self.file, keys.encode())

    def end(self):
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.file)
        return code


def test_the_terminal_has_the_keys_of_the_page(folder):
    (folder / "few.csv").write_text(
        "text,label\nred \x1b[2J stone,\nblue stone,\ngreen stone,\nred sea,a\nblue sea,b\n"
    )
    keyboard = Keyboard(folder, "label", "few.csv", "--terminal")
    before = keyboard.wait_for("1 a   2 b")
    assert "2 labels." in before
    assert "\x1b[2J" not in before
    keyboard.press("?")
    keyboard.wait_for("q      quit")
    keyboard.press("g")
    keyboard.wait_for("the learner guesses")
    keyboard.press("u")
    keyboard.wait_for("there is nothing to undo")
    keyboard.press("1")
    keyboard.wait_for("-> a")
    keyboard.wait_for("1 a   2 b")
    keyboard.press("u")
    keyboard.wait_for("undone")
    before = keyboard.wait_for("1 a   2 b")
    assert "2 labels." in before
    keyboard.press("2")
    keyboard.wait_for("-> b")
    keyboard.wait_for("1 a   2 b")
    keyboard.press(" ")
    keyboard.wait_for("skipped")
    keyboard.wait_for("1 a   2 b")
    keyboard.press("q")
    keyboard.wait_for("3 of 5 items have labels, kept in few.selectron.db.")
    keyboard.wait_for("export:")
    assert keyboard.end() == 0


@pytest.mark.parametrize("where", ["--terminal", "--no-browser"])
def test_a_full_disk_is_one_line_and_an_end(small, command, monkeypatch, where):
    append = SqliteStore.append

    def full_when_asking(store, events):
        if any(event.kind == "chosen" for event in events):
            raise DiskFull("few.selectron.db: database or disk is full")
        return append(store, events)

    monkeypatch.setattr(SqliteStore, "append", full_when_asking)
    monkeypatch.setattr(label_command, "READING_SECONDS", 0.2)
    small.write_text(small.read_text() + '{"text": "blue"}\n')
    code, out, err = command("label", small, "--classes", "a,b", where)
    assert code == 2
    assert "Traceback" not in out + err
    last = err.splitlines()[-1]
    assert last.startswith("selectron: ")
    assert last.endswith(
        "the service stopped: few.selectron.db: database or disk is full; "
        "make room on its disk, and start it again"
    )
    if where == "--no-browser":
        assert "selectron: the page can be read for 0 s more" in err


@pytest.mark.parametrize(
    ("multilabel", "positive", "classes", "keys", "labels"),
    [
        (False, None, ["ham", "spam"], "a", ["ham"]),
        (False, None, ["ham", "spam"], "x", ["spam"]),
        (False, "spam", ["ham", "spam"], "a", ["spam"]),
        (False, "spam", ["ham", "spam"], "x", ["ham"]),
        (False, None, ["ham", "spam"], "a\x7fx\x08", []),
        (False, None, ["ham", "spam", "scam"], "ax", []),
        (True, None, ["ham", "spam"], "12a", [["ham", "spam"]]),
        (True, None, ["ham", "spam"], "1x", [[]]),
    ],
)
def test_the_terminal_has_the_keys_of_prodigy(
    tmp_path, monkeypatch, capsys, multilabel, positive, classes, keys, labels
):
    settings = {"multilabel": multilabel, "positive": positive}
    items = [{"id": n, "text": f"letter {n}"} for n in "12"]
    with office.service(tmp_path, items, classes, **settings) as service:
        monkeypatch.setattr("sys.stdin", StringIO(keys))
        terminal.Terminal(service, "you").run()
        assert list(service.read(lambda desk: desk.books.labels.values())) == labels
    assert re.search("a, x +accept, reject.*", capsys.readouterr().out)


def test_a_terminal_without_classes_at_its_end_says_so(small, command, monkeypatch):
    monkeypatch.setattr("sys.stdin", StringIO(""))
    code, _, err = command("label", small, "--terminal")
    assert code == 2
    assert "there are no two classes: give --classes A,B" in err


def test_a_class_that_begins_another_can_be_typed(monkeypatch):
    monkeypatch.setattr("sys.stdin", StringIO("cat\n"))
    named = terminal.Terminal(None, "you")._named("/", {"options": ["cattle", "cat"]})
    assert named == "cat"


def test_a_long_item_leaves_the_keys_in_sight():
    shown = terminal._shortened("word " * 1000)
    assert shown.endswith("\n[1,000 more characters: see the page]")
    assert terminal._shortened("word") == "word"


def test_a_store_with_other_items_says_so(small, command, monkeypatch):
    monkeypatch.setattr(
        label_command, "_in_terminal", lambda service: nullcontext(lambda began: None)
    )
    assert command("label", small, "--terminal")[0] == 0
    small.with_suffix(".txt").write_text("blue\nwhite\nblack\n")
    _, _, err = command("label", small.with_suffix(".txt"), "--terminal")
    assert "3 new items, 0 known, 2 others in the store; 0 labels of the file" in err


def test_items_of_another_kind_need_the_name_of_a_column(small, command, monkeypatch):
    monkeypatch.setattr(
        label_command, "_in_terminal", lambda service: nullcontext(lambda began: None)
    )
    small.write_text('{"text": "red", "label": "a"}\n{"text": "green", "label": "b"}\n')
    assert command("label", small, "--terminal")[0] == 0
    small.with_name("new.csv").write_text("a,b\nred,1\n")
    code, _, err = command("predict", "few.selectron.db", "new.csv")
    assert code == 2
    assert "new.csv is read as fields" in err
    assert "name the column with --text or --image" in err


# what is refused, in one line

ERRORS = {
    "no file": (["label", "gone.csv"], "gone.csv: there is no such file"),
    "standard input": (["label", "-"], "items from standard input need --store FILE.db"),
    "a goal": (["label", "FILE", "--goal", "error<=2"], "is not one the desk knows"),
    "recall of what": (["label", "FILE", "--goal", "recall>=0.9"], "Recall of which class?"),
    "a column": (["label", "FILE", "--text", "body"], "line 1: there is no column 'body'"),
    "another class": (["label", "FILE", "--classes", "x,y"], "label 'a' is none of the classes"),
    "a host": (["label", "FILE", "--host", "0.0.0.0"], "give --team and --public"),
    "a team": (["label", "FILE", "--team"], "--team has no accounts yet"),
    "a port": (["label", "FILE", "--port", "99999"], "port 99999 is not a number from 0 to 65535"),
    "no items": (["label", "EMPTY"], "empty.csv has no items"),
    "another kind": (["label", "TABLE", "--store", "STORE"], "name the column as before (--text"),
    "no store": (["export", "gone.db"], "there is no store at"),
    "no model": (["predict", "gone.selectron", "FILE"], "gone.selectron: there is no such file"),
    "not a store": (["store", "verify", "FILE"], "few.jsonl is no store, or its beginning is"),
    "items as store": (["label", "FILE", "--store", "FILE"], "few.jsonl is no store, or its"),
    "a folder as store": (["label", "FILE", "--store", "."], "is a folder, not a store: name a"),
    "a folder exported": (["export", "."], "is a folder, not a store: name a file"),
    "no folder": (["label", "FILE", "--store", "gone/x.db"], "gone: make it, or name another"),
    "few labels": (["replay", "STORE"], "a replay needs 20 labels"),
    "one class": (["predict", "STORE", "FILE"], "has labels of fewer than two classes"),
}


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.jsonl").write_text(
        '{"text": "red", "label": "a"}\n{"text": "green", "label": "a"}\n'
    )
    return tmp_path / "few.jsonl"


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_one_line(small, command, monkeypatch, case):
    monkeypatch.setattr(
        label_command, "_in_terminal", lambda service: nullcontext(lambda began: None)
    )
    store = small.with_name("few.selectron.db")
    if "STORE" in ERRORS[case][0]:
        assert command("label", small, "--terminal")[0] == 0
    names = {"FILE": small, "STORE": store, "EMPTY": "empty.csv", "TABLE": "table.csv"}
    small.with_name("empty.csv").write_text("text\n")
    small.with_name("table.csv").write_text("a,b\nred,1\n")
    arguments, said = ERRORS[case]
    code, out, err = command(*(names.get(word, word) for word in arguments))
    assert code == 2
    assert said in err
    lines = [line for line in err.splitlines() if "this disk keeps" not in line]
    assert len(lines) == 1
    assert out == ""


UNFIT = {
    "half of a pair in a text": (
        r'{"text": "x\ud800"}',
        r"holds 'x\ud800', which cannot be stored",
    ),
    "half of a pair in a name": (r'{"fields": {"a\udc00": 1}}', r"holds 'a\udc00', which cannot"),
    "half of a pair in an id": (r'{"id": "\ud800", "text": "x"}', r"id of an item holds '\ud800'"),
    "half of a pair in a label": (r'{"text": "x", "label": "\ud800"}', r"class holds '\ud800'"),
    "half of a pair in a note": (
        r'{"text": "x", "notes": [{"text": "\ud800", "annotator": "a"}]}',
        r"note holds '\ud800'",
    ),
    "half of a pair in a person": (
        r'{"text": "x", "label": "a", "annotator": "\ud800"}',
        r"annotator holds '\ud800'",
    ),
    "NaN in fields": ('{"fields": {"a": NaN}}', "item holds nan, which cannot be stored"),
    "infinity in a vector": ('{"vector": [1, -Infinity]}', "item holds -inf, which cannot be"),
    "a number too large": ('{"vector": [1e999]}', "item holds inf, which cannot be stored"),
    "NaN in meta": ('{"text": "x", "meta": {"a": [NaN]}}', "item holds nan, which cannot be"),
    "a note without its text": ('{"text": "x", "notes": [{"a": 1}]}', "correct or remove them"),
    "an answer of nobody": ('{"text": "x", "answers": [{"label": "a"}]}', "correct or remove"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_a_record_that_cannot_be_kept_is_named_and_leaves_no_store(tmp_path, command, case):
    record, said = UNFIT[case]
    path = tmp_path / "items.jsonl"
    path.write_text(f"\n{record}\n")
    code, out, err = command("label", path, "--terminal")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("selectron: items.jsonl, line 2: ")
    assert said in err
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_extra_is_named(small, command, monkeypatch):
    monkeypatch.setitem(sys.modules, "selectron.labelling.server", None)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    code, _, err = command("label", small)
    assert code == 2
    assert "is not installed: pip install 'selectron[" in err


def test_a_password_of_a_store_is_not_printed():
    shown = without_password("postgresql://ann:secret@host/labels")
    assert shown == "postgresql://ann@host/labels"
    shown = without_password("postgresql:///labels?host=/run&password=secret")
    assert shown == "postgresql:///labels?host=/run"
    assert without_password("a@b.db") == "a@b.db"
