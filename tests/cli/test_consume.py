"""`selectron consume`: the page asks about a live stream of a real Redis server."""

import json
import re
import signal
import sys
from time import monotonic, sleep

import pytest

from selectron.client import Client
from selectron.labelling.demo import TICKET_CLASSES, tickets
from selectron.labelling.desk import Desk
from tests.cli.test_label import running, truth
from tests.labelling.redis_server import new_server

CLASSES = ("--classes", ",".join(TICKET_CLASSES), "--no-browser")


@pytest.fixture(scope="module")
def server():
    server = new_server()
    yield server
    server.close()


def test_the_page_asks_about_what_comes(server, tmp_path):
    letters = [entry.item["text"] for entry in tickets(60)]
    common = ("--stream", "mail", "--text", "body", "--store", "mail.db", "--token-file", "token")
    limits = ("--most-waiting", "20", "--json", "status.json")
    with (
        server.client() as redis,
        running(tmp_path, server.url, *common, *limits, *CLASSES, command="consume") as (run, line),
    ):
        url = re.match(r"selectron: open (http://127\.0\.0\.1:\d+)/", line)[1]
        with Client(url, (tmp_path / "token").read_text()) as client:
            answered, end = 0, monotonic() + 60
            for half in (1, 2):  # what comes while the page is open is asked too
                for text in letters[30 * half - 30 : 30 * half]:
                    redis.xadd("mail", {"body": text})
                redis.xadd("mail", {"json": "no object"})
                while client.status()["items"] < 30 * half or redis.xlen("mail:dead") < half:
                    for question in client.next(5)["questions"]:
                        client.answer(question["question"], truth(question["item"]["text"]))
                        answered += 1
                    assert monotonic() < end
                    sleep(0.02)
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate(timeout=30)
        assert run.returncode == 0, err
        assert redis.xpending("mail", "selectron")["pending"] == 0
    assert answered
    assert out.startswith(f"{answered} of 60 items have labels, kept in mail.db.")
    assert f"go on:   selectron consume {server.url} --stream mail --store mail.db" in out
    assert "60 new items from unix://" in err
    status = json.loads((tmp_path / "status.json").read_text())
    name = f"{server.url}/0/mail"
    assert status["source"] == {"name": name, "added": 60, "known": 0, "dead": 2}


@pytest.fixture
def _no_learner(monkeypatch):
    """Leave out what takes long: nothing is compiled."""
    monkeypatch.setattr(Desk, "warm", lambda desk: None)


@pytest.mark.usefixtures("_no_learner")
def test_a_source_that_cannot_be_read_ends_the_page_with_one_line(server, tmp_path, command):
    with server.client() as redis:
        redis.set("words", "no stream")
    code, out, err = command(
        "consume", server.url, "--stream", "words", "--store", tmp_path / "words.db", *CLASSES
    )
    assert code == 2
    assert "selectron: open http" in out
    last = err.strip().splitlines()[-1]
    assert "WRONGTYPE" in last
    assert "words" in last


def test_what_is_wrong_is_said_before_the_store_is_opened(server, tmp_path, command):
    common = ("--stream", "s", "--store", tmp_path / "new.db", *CLASSES)
    code, _, err = command("consume", "kafka://here", *common)
    assert (code, err) == (2, "selectron: kafka://here is no source: give redis://HOST:PORT/0\n")
    code, _, err = command("consume", server.url, *common, "--batch", "0")
    assert code == 2
    assert "a batch of 0" in err
    assert not (tmp_path / "new.db").exists()


def test_the_package_that_is_missing_is_named(monkeypatch, tmp_path, command):
    monkeypatch.setitem(sys.modules, "redis", None)
    monkeypatch.delitem(sys.modules, "selectron.labelling.sources.redis", raising=False)
    code, _, err = command(
        "consume", "redis://here", "--stream", "s", "--store", tmp_path / "new.db", *CLASSES
    )
    assert (code, err) == (
        2,
        "selectron: redis is not installed: pip install 'selectron[redis]'\n",
    )
