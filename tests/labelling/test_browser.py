"""The page in Chromium: people label, undo, go offline and come back, and nothing is lost."""

import os
import shutil
import time
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from selectron.labelling.server import Accounts
from tests.labelling import office

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("SELECTRON_TEST_CHROMIUM") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on the path; set SELECTRON_TEST_CHROMIUM to one"
)
ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text("utf-8")
SHOTS = os.environ.get("SELECTRON_TEST_SHOTS")  # a folder: keep screenshots of every tab there
expect = playwright.expect if hasattr(playwright, "expect") else None


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=ARGUMENTS.split()
        )
        yield browser
        browser.close()


class Visit:
    """A person at the page: everything that goes wrong is written down."""

    def __init__(self, chromium, address, **options):
        options = {"viewport": {"width": 1240, "height": 800}} | options
        self.context = chromium.new_context(**options)
        self.troubles, self.elsewhere = [], []
        self.offline = False
        self.origin = "/".join(address.split("/")[:3])
        self.open(address)

    def open(self, address):
        self.page = self.context.new_page()
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", self._request)
        self.page.goto(address)

    def _console(self, message):
        if not self.offline:
            self.troubles.append(message.text)

    def _request(self, request):
        if not request.url.startswith(self.origin):
            self.elsewhere.append(request.url)

    def go(self, offline):
        self.offline = self.offline or offline
        self.context.set_offline(offline)

    @property
    def item(self):
        return self.page.locator(".card-body").get_attribute("data-item")

    def press(self, key):
        """Press a key that answers; return the item that was answered."""
        item = self.item
        self.page.keyboard.press(key)
        expect(self.page.locator(f'.card-body[data-item="{item}"]')).to_have_count(0)
        return item

    def label(self, truth, n):
        """Answer n items rightly, by keys."""
        given = {}
        for _ in range(n):
            name = truth[self.item]
            given[self.press(str(office.CLASSES.index(name) + 1))] = name
        return given

    def wait_until_saved(self):
        expect(self.page.locator("#saved")).to_have_text("✓ all saved", timeout=10_000)

    def leave(self):
        self.context.close()
        assert self.troubles == []
        assert self.elsewhere == []


def kept(service):
    """What the log says: the label of each item."""
    return service.read(
        lambda desk: {desk.books.items[row]["id"]: name for row, name in desk.books.labels.items()}
    )


def live_answers(service):
    return service.read(lambda desk: sum(len(rows) for rows in desk.books.answers.values()))


@pytest.fixture
def room(tmp_path):
    items, truth = office.tickets(150)
    settings = {"goal": "error<=0.05", "budget": 120, "question": "What is this ticket about?"}
    with office.service(tmp_path, items, **settings) as service:
        yield service, truth


def test_fifty_items_by_keyboard(chromium, room):
    service, truth = room
    with office.server(service) as house:
        visit = Visit(chromium, house.address)
        given = visit.label(truth, 50)
        visit.wait_until_saved()
        assert kept(service) == given
        expect(visit.page.locator("#side")).to_contain_text(
            "50 of a budget of 120", use_inner_text=True
        )
        # undo, twice, and answer otherwise
        second, first = list(given)[-2:]
        visit.page.keyboard.press("u")
        expect(visit.page.locator(f'[data-item="{first}"]')).to_be_visible()
        visit.page.keyboard.press("Backspace")
        expect(visit.page.locator(f'[data-item="{second}"]')).to_be_visible()
        visit.press("3")
        visit.press(" ")
        visit.wait_until_saved()
        del given[first]
        given[second] = "Technical"
        assert kept(service) == given
        assert live_answers(service) == 50
        visit.leave()


def test_mouse_guess_help_and_correction(chromium, room):
    service, truth = room
    with office.server(service) as house:
        visit = Visit(chromium, house.address)
        page = visit.page
        visit.label(truth, 12)
        item = visit.item
        assert not page.locator(".guess").count()
        assert not page.locator(".why", has_text=office.CLASSES[0]).count()
        page.keyboard.press("g")
        expect(page.locator(".guess")).to_contain_text("The learner")
        page.keyboard.press("?")
        expect(page.locator("#help")).to_be_visible()
        page.keyboard.press("1")  # keys are off
        page.keyboard.press("Escape")
        assert visit.item == item
        page.get_by_role("button", name="Cancellation", exact=True).click()
        expect(page.locator(f'[data-item="{item}"]')).to_have_count(0)
        visit.press(" ")  # after a mouse, space is "don't know"
        page.get_by_role("tab", name="Review").click()
        page.get_by_label("Search items").fill(item)
        expect(page.get_by_role("heading", name="1 item", exact=True)).to_be_visible()
        card = page.locator(f'.rowcard[data-item="{item}"]').last
        expect(card).to_be_visible()
        card.get_by_label(f"Label of {item}").select_option("Technical")
        expect(page.locator("#notices")).to_contain_text("Saved")
        assert kept(service)[item] == "Technical"
        card = page.locator(f'.rowcard[data-item="{item}"]').last
        card.get_by_role("button", name="note").click()
        card.get_by_label(f"Note on {item}").fill("<script>alert(1)</script>")
        page.keyboard.press("Enter")
        expect(page.locator("#review")).to_contain_text("<script>alert(1)</script>")
        page.get_by_role("tab", name="Report").click()
        expect(page.locator(".confusion")).to_be_visible()
        with page.expect_download() as download:
            page.get_by_role("link", name="JSONL").click()
        assert Path(download.value.path()).read_text().count("\n") == 13
        visit.leave()


def test_offline_and_back(chromium, room):
    service, truth = room
    with office.server(service) as house:
        visit = Visit(chromium, house.address)
        given = visit.label(truth, 5)
        visit.wait_until_saved()
        visit.page.wait_for_timeout(200)
        visit.go(offline=True)
        given |= visit.label(truth, 3)
        expect(visit.page.locator("#saved")).to_have_text("offline, 3 kept here")
        expect(visit.page.locator("#card")).to_contain_text("kept in this browser")
        assert len(kept(service)) == 5
        visit.go(offline=False)
        visit.wait_until_saved()
        given |= visit.label(truth, 3)
        visit.wait_until_saved()
        assert kept(service) == given
        assert live_answers(service) == len(given)
        visit.leave()


def test_a_closed_tab_and_a_new_start_lose_nothing(chromium, tmp_path):
    items, truth = office.tickets(60)
    with office.service(tmp_path, items) as service, office.server(service) as house:
        visit = Visit(chromium, house.address)
        given = visit.label(truth, 4)
        visit.wait_until_saved()
        visit.page.wait_for_timeout(200)
        port = house.port
        visit.offline = True
        visit.context.set_offline(True)
        given |= visit.label(truth, 2)
        expect(visit.page.locator("#saved")).to_have_text("offline, 2 kept here")
        visit.page.close()
    with office.service(tmp_path) as service, office.server(service, port=port) as house:
        assert len(kept(service)) == 4
        visit.context.set_offline(False)
        visit.open(house.address)
        visit.wait_until_saved()
        expect(visit.page.locator(".card-body")).to_be_visible()
        given |= visit.label(truth, 4)
        visit.wait_until_saved()
        assert kept(service) == given
        assert live_answers(service) == len(given)
        visit.leave()


def test_nothing_is_asked_before_the_first_status(chromium, tmp_path):
    """Answers that were kept are sent at once; a card without its classes would be half a card."""
    items, truth = office.tickets(60)
    with office.service(tmp_path, items) as service, office.server(service) as house:
        visit = Visit(chromium, house.address)
        given = visit.label(truth, 2)
        visit.wait_until_saved()
        visit.go(offline=True)
        given |= visit.label(truth, 2)
        visit.page.close()
        visit.go(offline=False)
        held = []
        visit.context.route("**/api/v1/status", lambda route: held.append(route))
        visit.open(house.address)
        patience = time.monotonic() + 10.0
        while len(kept(service)) < 4 and time.monotonic() < patience:
            visit.page.wait_for_timeout(50)
        visit.page.wait_for_timeout(300)
        expect(visit.page.locator(".card-body")).to_have_count(0)
        held[0].continue_()
        given |= visit.label(truth, 2)
        visit.wait_until_saved()
        assert kept(service) == given
        visit.leave()


def test_two_annotators_at_once(chromium, tmp_path):
    hasher = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
    accounts = Accounts(tmp_path / "accounts.json", hasher)
    for name in ("anna", "ben"):
        accounts.add(name, f"{name}'s password")
    items, truth = office.tickets(60)
    with (
        office.service(tmp_path, items) as service,
        office.server(service, accounts=accounts) as house,
    ):
        visits = []
        for name in ("anna", "ben"):
            visit = Visit(chromium, house.address)
            visit.page.get_by_label("Name").fill(name)
            visit.page.get_by_label("Password").fill(f"{name}'s password")
            visit.page.get_by_role("button", name="Sign in").click()
            expect(visit.page.locator("#who")).to_have_text(name)
            visits.append(visit)
        given = {}
        for _ in range(15):
            for visit in visits:
                answered = visit.label(truth, 1)
                assert not given.keys() & answered.keys()
                given |= answered
        for visit in visits:
            visit.wait_until_saved()
        assert kept(service) == given
        people = service.read(lambda desk: desk.status()["annotators"])
        assert {name: row["answers"] for name, row in people.items()} == {"anna": 15, "ben": 15}
        visits[0].page.get_by_role("button", name="Sign out").click()
        expect(visits[0].page.get_by_label("Password")).to_be_visible()
        for visit in visits:
            visit.leave()


def test_many_classes_are_typed(chromium, tmp_path):
    classes = [*office.CLASSES, *(f"Topic {letter}" for letter in "ABCDEFGHIJ")]
    items, _ = office.tickets(30)
    with office.service(tmp_path, items, classes) as service, office.server(service) as house:
        visit = Visit(chromium, house.address)
        page = visit.page
        for typed, name in (("tec", "Technical"), ("topic d", "Topic D"), ("bill", "Billing")):
            expect(page.locator("#pick")).to_be_focused()
            item = visit.item
            page.keyboard.type(typed)
            page.keyboard.press("Enter")
            expect(page.locator(f'.card-body[data-item="{item}"]')).to_have_count(0)
            visit.wait_until_saved()
            assert kept(service)[item] == name
        item = visit.item
        page.keyboard.type("topic")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        visit.wait_until_saved()
        assert kept(service)[item] == "Topic B"
        page.keyboard.press("Escape")
        visit.press(" ")
        visit.leave()


def test_several_labels(chromium, tmp_path):
    items, _ = office.tickets(30)
    with (
        office.service(tmp_path, items, multilabel=True) as service,
        office.server(service) as house,
    ):
        visit = Visit(chromium, house.address)
        item = visit.item
        for key in ("1", "3", "2", "3"):
            visit.page.keyboard.press(key)
        expect(visit.page.locator('[aria-pressed="true"]')).to_have_count(2)
        visit.press("Enter")
        visit.wait_until_saved()
        assert kept(service)[item] == ["Billing", "Cancellation"]
        none = visit.press("x")
        visit.wait_until_saved()
        assert kept(service)[none] == []
        visit.leave()


def test_the_end_says_why_and_what_one_may_do(chromium, tmp_path):
    items, truth = office.tickets(30)
    with office.service(tmp_path, items, budget=4) as service, office.server(service) as house:
        visit = Visit(chromium, house.address)
        page = visit.page
        visit.label(truth, 4)
        expect(page.locator("#card h2")).to_have_text("The budget of 4 labels is used up")
        expect(page.locator("#card")).to_contain_text("Raise the budget, review the answers")
        page.get_by_label("Budget").fill("6")
        page.get_by_role("button", name="Raise the budget").click()
        expect(page.locator(".card-body")).to_be_visible()
        visit.label(truth, 2)
        expect(page.locator("#card h2")).to_have_text("The budget of 6 labels is used up")
        page.get_by_role("button", name="Review answers").click()
        expect(page.locator("#review .rowcard[data-item]")).to_have_count(6)
        visit.leave()


def swipe(page, across):
    """Move a finger over the card."""
    touch = page.context.new_cdp_session(page)
    box = page.locator("#card").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for kind, share in (("Start", 0), ("Move", 0.5), ("Move", 1), ("End", None)):
        points = [] if share is None else [{"x": x + share * across, "y": y}]
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})


def test_classes_are_asked_for_and_two_are_swiped(chromium, tmp_path):
    items, _ = office.tickets(10)
    with office.service(tmp_path, items, classes=[]) as service, office.server(service) as house:
        visit = Visit(chromium, house.address, has_touch=True)
        visit.page.locator("#new-classes").fill("spam, ham")
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator(".choice")).to_have_count(2)
        item = visit.item
        visit.press("a")
        visit.wait_until_saved()
        given = {item: "spam"}
        assert kept(service) == given
        for across, name in ((150, "spam"), (-150, "ham")):
            item = visit.item
            swipe(visit.page, across // 3)  # too short
            assert visit.item == item
            swipe(visit.page, across)
            expect(visit.page.locator(f'.card-body[data-item="{item}"]')).to_have_count(0)
            given[item] = name
        visit.wait_until_saved()
        assert kept(service) == given
        visit.leave()


def test_another_origin_reaches_nothing(chromium, room):
    service, _ = room
    with office.server(service) as house, office.server(service) as other:
        visit = Visit(chromium, house.address, bypass_csp=True)  # the other page has no policy
        visit.offline = True  # the refusals below are written to the console
        page = visit.page
        page.goto(f"{other.url}/login")
        seq = service.read(lambda desk: desk.books.seq)
        page.evaluate(
            """async (url) => {
              const options = { method: "POST", mode: "no-cors", credentials: "include" };
              await fetch(url + "/api/v1/answers", { ...options, body: "{}" }).catch(() => {});
              const next = url + "/api/v1/next";
              await fetch(next, { credentials: "include" }).catch(() => {});
              await fetch(next, { mode: "no-cors", credentials: "include" }).catch(() => {});
              await new Promise((resolve) => {
                const socket = new WebSocket(url.replace("http", "ws") + "/api/v1/events");
                socket.onopen = () => { document.title = "open"; resolve(); };
                socket.onerror = resolve;
              });
            }""",
            house.url,
        )
        assert page.title() != "open"
        assert service.read(lambda desk: desk.books.seq) == seq
        with page.expect_response(f"{house.url}/api/v1/next") as followed:  # a link from there
            page.evaluate("(url) => { location.href = url; }", f"{house.url}/api/v1/next")
        assert followed.value.status == 403
        assert service.read(lambda desk: desk.books.seq) == seq
        visit.context.close()


SHAPES = {
    "light": ("light", 1240, 800),
    "dark": ("dark", 1240, 800),
    "phone": ("light", 390, 844),
    "zoom": ("light", 620, 400),  # 1240 x 800 at 200 %
}
# In the dark the same elements have other colours; narrow pages have the same elements again.
RULES = {"light": "axe.run()", "dark": "axe.run({runOnly: ['color-contrast']})"}
SIGNS = {"label": ".choice", "review": ".rowcard", "report": ".reports"}


def test_every_tab_is_accessible(chromium, room):
    service, truth = room
    fill(service, truth, 24)
    with office.server(service) as house:
        visit = Visit(chromium, house.address, bypass_csp=True)
        page = visit.page
        visit.label(truth, 6)
        visit.wait_until_saved()
        page.evaluate(AXE)
        for shape, (scheme, width, height) in SHAPES.items():
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": height})
            for tab, sign in SIGNS.items():
                page.locator(f"#tab-{tab}").click()
                expect(page.locator(f"#{tab} {sign}").first).to_be_visible()
                look_at(page, f"{tab}_{shape}", RULES.get(shape))
            if shape == "phone":
                page.locator("#tab-label").click()
                look_at(page, "label_phone", "axe.run()")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.locator("#tab-label").click()
        page.keyboard.press("?")
        look_at(page, "help", RULES["light"])
        visit.leave()


def fill(service, truth, n):
    """Let a program answer n questions, one of ten wrongly, so that there is something to see."""
    service.submit(lambda desk: desk.set({"audit_rate": 0.3}, 0.0)).result()
    for number in range(n):
        decision = service.submit(lambda desk: desk.next("program", 1, 0.0, 0.0)).result()
        question = decision["questions"][0]
        name = truth[question["item"]["id"]] if number % 10 else office.CLASSES[0]
        service.submit(
            lambda desk, q=question["question"], id=f"f{number}", name=name: desk.answer(
                id, q, name, "program", now=0.0, at=0.0
            )
        ).result()


def look_at(page, name, rules):
    page.wait_for_timeout(150)
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=name.startswith("report"))
    found = page.evaluate(rules)["violations"] if rules else []
    assert [(row["id"], [node["html"] for node in row["nodes"]]) for row in found] == []
