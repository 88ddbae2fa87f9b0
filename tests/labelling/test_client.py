"""The client: typed calls, and retries that count once."""

import asyncio

import httpx
import pytest

from selectron.client import AsyncClient, CallRefused, Client
from tests.labelling import office


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    items, _ = office.tickets(60)
    folder = tmp_path_factory.mktemp("house")
    with office.service(folder, items) as service, office.server(service) as server:
        yield server


class Forgetful(httpx.HTTPTransport):
    """Sends every call and loses its first reply; the second time the service is full."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def handle_request(self, request):
        self.sent.append(request.read())
        tries = self.sent.count(self.sent[-1])
        if tries == 2:
            return httpx.Response(503, headers={"Retry-After": "0"})
        reply = super().handle_request(request)
        if tries == 1:
            reply.read()
            raise httpx.ReadTimeout("the reply got lost")
        return reply


def test_every_call(house):
    with Client(house.url, house.token) as client:
        first, second = client.next(n=2)["questions"]
        assert client.answer(first["question"], "Billing", id="one")["durable"]
        assert client.skip(second["question"])["durable"]
        assert client.correct("one", "Technical")["durable"]
        assert client.note(first["item"]["id"], "unclear")["durable"]
        assert client.items(state="noted")["total"] == 1
        assert client.undo("one")["durable"]
        assert client.add_classes(["Other"])[-1] == "Other"
        assert client.set(budget=30)["budget"] == 30
        rows = client.push([{"id": "p1", "text": "an invoice"}])
        assert rows[0]["id"] == "p1"
        assert client.label("ticket 20850", "Other")["durable"]
        assert client.status()["labels"] == 1
        assert "slips" in client.report()
        assert b"ticket 20850" in client.export("jsonl")
        assert client.model() == b"the learner"
        with pytest.raises(CallRefused, match="no answer") as refused:
            client.undo("nothing")
        assert refused.value.status == 404


def test_a_lost_reply_is_asked_for_again_with_the_same_id(house):
    line = Forgetful()
    with Client(house.url, house.token, transport=line) as client:
        labels = client.status()["labels"]
        question = client.next(n=1)["questions"][0]["question"]
        line.sent.clear()
        client.answer(question, "Billing")
        assert len(line.sent) == 3
        assert len(set(line.sent)) == 1
        assert client.status()["labels"] == labels + 1


def test_a_service_that_is_away_is_given_up(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with (
        Client("http://127.0.0.1:9", "token", retries=2) as client,
        pytest.raises(httpx.ConnectError),
    ):
        client.status()


def test_async(house):
    async def work():
        async with AsyncClient(house.url, house.token) as client:
            labels = (await client.status())["labels"]
            questions = (await client.next(n=3))["questions"]
            await asyncio.gather(*(client.answer(one["question"], "Billing") for one in questions))
            assert (await client.status())["labels"] == labels + len(questions)
            assert (await client.export()).count(b"\n") == labels + len(questions)
            with pytest.raises(CallRefused):
                await client.correct("nothing", "Billing")

    asyncio.run(work())
