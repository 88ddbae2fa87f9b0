"""`selectron label --team`: two people at once, each behind a password, in a process of its own."""

import json
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import pytest
from argon2 import PasswordHasher

from selectron.labelling.server import Accounts
from tests.labelling.office import CLASSES, tickets
from tests.other_process import environment

RUN = [sys.executable, "-c", "import sys; from selectron.cli import main; sys.exit(main())"]
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PEOPLE = {"olga": "owner", "anna": "annotator", "ben": "annotator"}
ITEMS = 12


@pytest.fixture
def team(tmp_path):
    """Start the command; give a signed-in client of each person, the truth and the process."""
    items, truth = tickets(ITEMS)
    (tmp_path / "letters.jsonl").write_text("\n".join(map(json.dumps, items)))
    accounts = Accounts(tmp_path / "letters.selectron.db.accounts", CHEAP)
    for name, role in PEOPLE.items():
        accounts.add(name, f"password of {name}", role)
    options = ["--team", "--overlap", "1", "--no-browser", "--port", "0"]
    with ExitStack() as opened:
        process = opened.enter_context(
            subprocess.Popen(
                [*RUN, "label", "letters.jsonl", "--classes", ",".join(CLASSES), *options],
                cwd=tmp_path, env=environment(NUMBA_DISABLE_JIT="1"), text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
        )  # fmt: skip
        opened.callback(process.kill)
        url = re.match(r"selectron: open (http://127\.0\.0\.1:\d+)", process.stdout.readline())[1]
        clients = {}
        for name, role in PEOPLE.items():
            client = httpx.Client(base_url=url, headers={"Origin": url}, timeout=30)
            clients[name] = opened.enter_context(client)
            given = {"name": name, "password": f"password of {name}"}
            assert client.post("/api/v1/session", json=given).json() == {"name": name, "role": role}
        yield clients, truth, process


def answer(client, name, truth):
    """Answer rightly until nothing is asked; return the ids of the answers by item."""
    given = {}
    while questions := client.get("/api/v1/next", params={"n": 1}).json()["questions"]:
        item = questions[0]["item"]["id"]
        given[item] = f"{name}-{len(given)}"
        body = {"id": given[item], "question": questions[0]["question"], "label": truth[item]}
        reply = client.post("/api/v1/answers", json=body)
        assert reply.json()["durable"], reply.text
    return given


@pytest.mark.plain
def test_two_people_at_once(team, tmp_path):
    clients, truth, process = team
    anna, ben, olga = clients["anna"], clients["ben"], clients["olga"]
    in_hand = [
        {question["item"]["id"] for question in client.get("/api/v1/next?n=2").json()["questions"]}
        for client in (anna, ben)
    ]
    assert not in_hand[0] & in_hand[1]
    assert all(in_hand)
    with ThreadPoolExecutor(2) as threads:
        hers, his = threads.map(answer, (anna, ben), ("anna", "ben"), (truth, truth))

    report = olga.get("/api/v1/report").json()
    both = hers.keys() & his.keys()
    assert both
    assert report["agreement"]["items"] == len(both)
    assert report["agreement"]["alpha"] == 1.0
    assert olga.get("/api/v1/status").json()["labels"] == ITEMS

    item = min(both)
    refused = ben.delete(f"/api/v1/answers/{hers[item]}")
    assert (refused.status_code, refused.json()["error"]) == (
        403,
        "That answer is somebody else's.",
    )
    assert anna.delete(f"/api/v1/answers/{hers[item]}").status_code == 200
    counts = olga.get("/api/v1/status").json()["annotators"]
    assert (counts["anna"]["answers"], counts["ben"]["answers"]) == (len(hers) - 1, len(his))
    assert olga.get("/api/v1/status").json()["labels"] == ITEMS  # his answer is still there

    for call in (("GET", "accounts"), ("GET", "export"), ("GET", "model")):
        assert anna.request(call[0], f"/api/v1/{call[1]}").status_code == 403
    assert anna.put("/api/v1/settings", json={"budget": 1}).status_code == 403
    assert anna.post("/api/v1/classes", json={"names": ["More"]}).status_code == 403
    nobody = httpx.get(f"{anna.headers['Origin']}/api/v1/status")
    assert nobody.status_code == 401

    exported = olga.get("/api/v1/export").text.splitlines()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert f"{ITEMS} of {ITEMS} items have labels" in out
    beside = subprocess.run(
        [*RUN, "export", "letters.selectron.db"],
        cwd=tmp_path, env=environment(NUMBA_DISABLE_JIT="1"), text=True,
        capture_output=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert list(map(json.loads, beside)) == list(map(json.loads, exported))
