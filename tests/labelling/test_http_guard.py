"""Who may come in, from where, with how much: the security rules, one by one."""

import json
import re
import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest
from argon2 import PasswordHasher

from selectron.labelling.desk import Desk
from selectron.labelling.server import Accounts, Limits, Server
from selectron.labelling.server.accounts import Failures, Person, Sessions
from tests.labelling import office

CHEAP = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("log") / "server.log"


@pytest.fixture(scope="module")
def house(tmp_path_factory, log):
    items, _ = office.tickets(60)
    limits = Limits(body_seconds=1.0, header_seconds=1.0, connections=24)
    with (
        office.service(tmp_path_factory.mktemp("house"), items) as service,
        office.server(service, limits=limits, log=log) as server,
    ):
        server.service = service
        yield server


@pytest.fixture
def http(house):
    headers = {"Authorization": f"Bearer {house.token}"}
    with httpx.Client(base_url=house.url, headers=headers) as client:
        yield client


@pytest.fixture
def browser(house):
    """A browser that has come in by an address; each test has an address of its own."""
    secret = house.app.state.gate.sessions.open(Person("you", "owner"))
    with httpx.Client(base_url=house.url) as client:
        client.cookies.set(house.app.state.gate.cookie, secret)
        yield client


def change(client, **headers):
    return client.put("/api/v1/settings", json={"question": "Which?"}, headers=headers)


# host


@pytest.mark.parametrize("path", ["/", "/healthz", "/page/app.js", "/api/v1/status", "/nowhere"])
def test_another_host_is_turned_away_everywhere(house, http, path):
    for host in ("evil.example", f"evil.example:{house.port}", "127.0.0.1", "localhost:1"):
        assert http.get(path, headers={"Host": host}).status_code == 421
    assert http.get("/healthz", headers={"Host": f"localhost:{house.port}"}).status_code == 200


# token, cookie


def test_without_a_token_there_is_nothing(house):
    for path in ("next", "status", "items", "report", "events", "export", "model", "image?item=x"):
        assert httpx.get(f"{house.url}/api/v1/{path}").status_code == 401
    wrong = {"Authorization": "Bearer wrong"}
    reply = httpx.get(f"{house.url}/api/v1/status", headers=wrong)
    assert reply.status_code == 401
    assert "--token-file" in reply.json()["remedy"]
    assert httpx.get(house.url).status_code == 401


def test_the_address_opens_once(tmp_path):
    with office.service(tmp_path) as service, office.server(service) as house:
        token = urlsplit(house.address).query.partition("=")[2]
        with httpx.Client() as first:
            door = first.get(house.address + "&next=https://evil.example")
            assert (door.status_code, door.headers["location"]) == (303, "/")
            cookie = door.headers["set-cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=strict" in cookie
            assert token not in cookie
            assert house.token not in cookie
            assert first.get(house.url).status_code == 200
            assert first.get(house.address).headers["location"] == "/"
        assert httpx.get(house.address).status_code == 401
        another = house.new_address()
        assert httpx.get(another).status_code == 303
        assert httpx.get(another).status_code == 401
        assert httpx.get(f"{house.url}/?token={house.token}").status_code == 401


# origin


def test_a_page_of_another_origin_may_not_act(house, browser, http):
    good = house.url
    assert change(browser, Origin=good).status_code == 200
    assert change(browser, Origin=good, **{"Sec-Fetch-Site": "same-origin"}).status_code == 200
    assert change(browser).status_code == 403  # a cookie without an origin
    another_port = f"http://127.0.0.1:{house.port + 1}"
    for origin in ("null", "https://evil.example", another_port, good + ".evil.example"):
        assert change(browser, Origin=origin).status_code == 403
        assert change(http, Origin=origin).status_code == 403
    for site in ("cross-site", "same-site"):
        assert change(browser, Origin=good, **{"Sec-Fetch-Site": site}).status_code == 403
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}
        assert browser.get("/api/v1/next", headers=headers).status_code == 403
    assert change(http).status_code == 200  # a program: token and no cookie
    token = {"Authorization": f"Bearer {house.token}"}
    assert change(browser, **token).status_code == 403  # both


def test_a_cookie_authorises_json_only(house, browser):
    body = json.dumps({"question": "Which?"})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        headers = {"Origin": house.url, "Content-Type": kind}
        assert browser.put("/api/v1/settings", content=body, headers=headers).status_code == 415


def test_no_websocket_and_no_cors(house, browser):
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        "Origin": "https://evil.example",
    }
    assert browser.get("/api/v1/events2", headers=upgrade).status_code == 404
    reply = browser.get("/api/v1/status", headers={"Origin": "https://evil.example"})
    assert not [name for name in reply.headers if name.startswith("access-control")]
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "PUT"}
    assert browser.options("/api/v1/settings", headers=headers).status_code == 403


@pytest.mark.parametrize("path", ["/", "/login", "/page/style.css", "/nowhere", "/api/v1/status"])
def test_every_response_is_careful(browser, path):
    headers = browser.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


@pytest.mark.parametrize(
    "path", ["/page/..%2f__init__.py", "/page/../app.py", "/page/index.html", "/page/%00"]
)
def test_files_are_served_by_exact_name(browser, path):
    assert browser.get(path).status_code == 404


# hostile bodies

HOSTILE = {
    "not json": (b"{", 400),
    "empty": (b"", 422),
    "bad utf-8": (b'{"id": "\xff"}', 400),
    "nan": (b'{"items": [{"id": "h", "vector": [NaN]}]}', 400),
    "infinite": (b'{"items": [{"id": "h", "vector": [1e999]}]}', 422),
    "long number": (b'{"items": [{"id": "h", "vector": [' + b"9" * 5000 + b"]}]}", 400),
    "nesting": (b"[" * 200_000 + b"]" * 200_000, 400),
    "deep": (b'{"items": [{"id": "h", "fields": ' + b'{"a":' * 40 + b"1" + b"}" * 42, 400),
    "surrogate": (b'{"items": [{"id": "h", "text": "\\ud800"}]}', 422),
    "nul": (b'{"items": [{"id": "h\\u0000", "text": "x"}]}', 422),
    "nul in a key": (b'{"items": [{"id": "h", "fields": {"\\u0000": 1}}]}', 422),
    "twice": (b'{"items": [{"id": "h", "id": "i", "text": "x"}]}', 422),
    "true": (b"true", 422),
    "a bool as number": (b'{"items": [{"id": "h", "vector": [true]}]}', 422),
    "a number as id": (b'{"items": [{"id": 7, "text": "x"}]}', 422),
    "unknown member": (b'{"items": [{"id": "h", "text": "x", "label": "a"}]}', 422),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_json_leaves_no_row(http, name):
    body, status = HOSTILE[name]
    seq = http.get("/api/v1/status").json()["seq"]
    headers = {"Content-Type": "application/json"}
    reply = http.post("/api/v1/items", content=body, headers=headers)
    assert reply.status_code in (400, 422) if name == "deep" else reply.status_code == status
    assert set(reply.json()) == {"error", "remedy"}
    assert http.get("/api/v1/status").json()["seq"] == seq


def test_a_huge_but_finite_number_is_taken_or_refused_without_a_failure(http):
    body = {"items": [{"id": "huge", "vector": [1e308]}]}
    assert http.post("/api/v1/items", json=body).status_code < 500


def test_long_bodies_are_refused(http):
    assert change_with(http, b" " * 10_000_000).status_code == 413

    def parts():
        for _ in range(50):
            yield b" " * 100_000

    assert change_with(http, parts()).status_code == 413


def change_with(http, content):
    headers = {"Content-Type": "application/json"}
    return http.put("/api/v1/settings", content=content, headers=headers)


def raw(house, sent, wait=4.0):
    """Send bytes, then nothing; return what comes back before the server closes."""
    with socket.create_connection(("127.0.0.1", house.port)) as line:
        line.settimeout(wait)
        line.sendall(sent)
        parts = []
        while part := line.recv(65536):
            parts.append(part)
    return b"".join(parts)


def test_a_slow_body_is_cut_off(house):
    began = time.monotonic()
    head = (
        f"PUT /api/v1/settings HTTP/1.1\r\nHost: 127.0.0.1:{house.port}\r\n"
        f"Authorization: Bearer {house.token}\r\nContent-Type: application/json\r\n"
        "Content-Length: 100\r\n\r\n{"
    )
    assert raw(house, head.encode()).startswith(b"HTTP/1.1 408")
    assert time.monotonic() - began < 3


def test_slow_headers_are_cut_off(house):
    assert raw(house, b"GET / HTTP/1.1\r\nHost: x") == b""
    whole = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{house.port}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", house.port)) as line:
        line.settimeout(4)
        line.sendall(whole.encode())
        assert b"200 OK" in line.recv(65536)
        line.sendall(b"GET /")
        while line.recv(65536):
            pass


def test_a_header_that_comes_twice_is_refused(house):
    head = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{house.port}\r\n"
    twice = head + "Authorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n"
    assert raw(house, twice.encode()).startswith(b"HTTP/1.1 400")


def test_too_many_connections_are_told_to_come_again(house):
    lines = [socket.create_connection(("127.0.0.1", house.port)) for _ in range(24)]
    time.sleep(0.1)
    try:
        reply = raw(house, b"")
        assert reply.startswith(b"HTTP/1.1 503")
        assert b"Retry-After: 1" in reply
        json.loads(reply.partition(b"\r\n\r\n")[2])
    finally:
        for line in lines:
            line.close()
    time.sleep(0.2)
    assert httpx.get(f"{house.url}/healthz").status_code == 200


# logs


def test_logs_have_no_content_even_when_the_server_fails(house, http, browser, log, monkeypatch):
    secret = "Bearer-and-query-and-body"

    def fail(desk):
        raise RuntimeError(secret)

    monkeypatch.setattr(Desk, "report", fail)
    reply = http.get("/api/v1/report", headers={"X-Secret": secret})
    assert reply.status_code == 500
    assert set(reply.json()) == {"error", "remedy"}
    http.post("/api/v1/items", json={"items": [{"id": secret, "text": secret}]})
    http.get(f"/nowhere/{secret}?q={secret}")
    text = log.read_text()
    assert '"error":"RuntimeError at test_http_guard.py' in text
    cookie = browser.cookies[house.app.state.gate.cookie]
    for word in (secret, house.token, house.address.partition("=")[2], cookie):
        assert word not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert {"at", "event", "method", "route", "status", "ms"} <= set(lines[-1])


# accounts


@pytest.fixture
def team(tmp_path):
    accounts = Accounts(tmp_path / "accounts.json", CHEAP)
    accounts.add("olga", "olga's password", "owner")
    accounts.add("anna", "anna's password")
    items, _ = office.tickets(20)
    with (
        office.service(tmp_path, items) as service,
        office.server(service, accounts=accounts) as server,
    ):
        server.clients = []
        yield server
        for client in server.clients:
            client.close()


def sign_in(team, name, password):
    client = httpx.Client(base_url=team.url, headers={"Origin": team.url})
    team.clients.append(client)
    return client, client.post("/api/v1/session", json={"name": name, "password": password})


def test_people_sign_in_and_are_who_they_are(team, tmp_path):
    assert httpx.get(team.url).headers["location"] == "/login"
    assert httpx.get(f"{team.url}/login").status_code == 200
    assert "token" not in team.address
    anna, reply = sign_in(team, "anna", "anna's password")
    assert reply.json() == {"name": "anna", "role": "annotator"}
    you = anna.get("/api/v1/status").json()["you"]
    assert you == {"name": "anna", "role": "annotator", "team": True}
    question = anna.get("/api/v1/next").json()["questions"][0]["question"]
    body = {"id": "hers", "question": question, "label": "Billing"}
    assert anna.post("/api/v1/answers", json=body).status_code == 200
    assert anna.get("/api/v1/status").json()["annotators"]["anna"]["answers"] == 1
    assert anna.get("/api/v1/accounts").status_code == 403
    assert anna.put("/api/v1/settings", json={"budget": 1}).status_code == 403
    anna.delete("/api/v1/session")
    assert anna.get("/api/v1/status").status_code == 401
    file = tmp_path / "accounts.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert all("$argon2id$" in row["hash"] for row in json.loads(file.read_text()).values())


def test_an_account_is_removed_and_its_sessions_end(team):
    anna, _ = sign_in(team, "anna", "anna's password")
    olga, _ = sign_in(team, "olga", "olga's password")
    assert [row["name"] for row in olga.get("/api/v1/accounts").json()["people"]] == [
        "anna",
        "olga",
    ]
    assert anna.get("/api/v1/status").status_code == 200
    assert olga.delete("/api/v1/accounts/anna").status_code == 200
    assert anna.get("/api/v1/status").status_code == 401
    assert sign_in(team, "anna", "anna's password")[1].status_code == 401
    assert olga.delete("/api/v1/accounts/olga").status_code == 409
    assert olga.delete("/api/v1/accounts/nobody").status_code == 404
    body = {"name": "ben", "password": "short"}
    assert olga.post("/api/v1/accounts", json=body).status_code == 422
    body["password"] = "long enough"
    assert olga.post("/api/v1/accounts", json=body).json() == {"name": "ben", "role": "annotator"}
    assert sign_in(team, "ben", "long enough")[1].status_code == 200


def test_failed_attempts_are_limited(team):
    codes = [sign_in(team, "anna", f"wrong {n}")[1].status_code for n in range(6)]
    assert codes == [401] * 5 + [429]
    _, late = sign_in(team, "anna", "anna's password")
    assert late.status_code == 429
    assert int(late.headers["retry-after"]) > 0


def test_failures_and_sessions_end_with_time():
    now = [0.0]
    failures = Failures(2, 60.0, lambda: now[0])
    for _ in range(2):
        failures.count("anna")
    assert failures.wait("anna") == 60
    now[0] = 61.0
    assert failures.wait("anna") == 0
    sessions = Sessions(10.0, lambda: now[0])
    secret = sessions.open(Person("anna", "annotator"))
    assert sessions.person(secret).name == "anna"
    now[0] += 11
    assert sessions.person(secret) is None


def test_beyond_the_loopback_accounts_and_an_origin_are_needed(tmp_path):
    accounts = Accounts(tmp_path / "accounts.json", CHEAP)
    with office.service(tmp_path) as service:
        for options in ({}, {"accounts": accounts}, {"public": "https://label.example"}):
            with pytest.raises(ValueError, match="accounts and a public origin"):
                Server(service, "0.0.0.0", **options)
        both = Server(service, "0.0.0.0", accounts=accounts, public="https://label.example")
        assert both.address == "https://label.example/"
        here = {f"{name}:{both.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        assert both.app.state.gate.hosts == {"label.example"} | here
        both.close()


def test_a_public_server_is_https_and_keeps_its_metrics_at_home(tmp_path):
    accounts = Accounts(tmp_path / "accounts.json", CHEAP)
    accounts.add("olga", "olga's password", "owner")
    options = {"accounts": accounts, "public": "https://label.example", "proxy": "127.0.0.1"}
    with office.service(tmp_path) as service, office.server(service, **options) as house:
        http = httpx.Client(base_url=f"http://127.0.0.1:{house.port}")
        with http:
            proxied = {"Host": "label.example", "X-Forwarded-For": "203.0.113.7"}
            assert http.get("/metrics").status_code == 200
            assert http.get("/metrics", headers={"Host": "label.example"}).status_code == 403
            assert http.get("/metrics", headers=proxied).status_code == 403
            body = {"name": "olga", "password": "olga's password"}
            headers = proxied | {"Origin": "https://label.example"}
            reply = http.post("/api/v1/session", json=body, headers=headers)
            assert "Secure" in reply.headers["set-cookie"]
            body["password"] = "wrong"
            for n in range(6):
                last = http.post("/api/v1/session", json=body | {"name": f"n{n}"}, headers=headers)
            assert last.status_code == 429  # one address, many names
            elsewhere = headers | {"X-Forwarded-For": "203.0.113.8"}
            assert http.post("/api/v1/session", json=body, headers=elsewhere).status_code == 401


def test_the_page_has_no_inline_script_or_style_and_no_other_host():
    from selectron.labelling.server.doors import PAGE  # noqa: PLC0415

    for name, (_, data) in PAGE.items():
        text = data.decode()
        assert not re.search(r"https?://(?!www\.w3\.org)", text), name
        assert "innerHTML" not in text
        if name.endswith(".html"):
            assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*src=)", text), name
