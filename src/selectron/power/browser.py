"""The web browser of [Mon06] section 2.5.4: the document, then its images, then a pause."""

from collections.abc import Callable

from selectron.power.events import Events
from selectron.power.grid import nanoseconds
from selectron.power.network import Network
from selectron.power.station import Station
from selectron.power.tcp import Connection
from selectron.power.workload import Fetch, Page, Push, Workload


class Browser:
    """Fetches the pages of a workload one after another and notes how long each took."""

    def __init__(
        self, events: Events, network: Network, station: Station, workload: Workload
    ) -> None:
        self.events = events
        self.network = network
        self.station = station
        self.pages = iter(workload.pages)
        self.latencies: list[int] = []  # first SYN to last byte, nanoseconds
        self.finished = False
        self.standing: Connection | None = None  # over which the server pushes
        events.at(0, self.next_page)

    def next_page(self) -> None:
        page = next(self.pages, None)
        if page is None:
            self.finished = True
            return
        self.started = self.events.now
        self.think = nanoseconds(page.think_s)
        if isinstance(page, Push):
            self.push(page)
        else:
            self.load(page)

    def push(self, pushed: Push) -> None:
        """Let the server send unasked over the standing connection."""
        if self.standing is None:
            self.standing = self.connect(self.object_fetched)
        self.missing = 1
        self.standing.push(pushed.size)

    def load(self, page: Page) -> None:
        self.missing = len(page.fetches)
        document, *self.images = page.fetches
        self.images.reverse()
        self.fetch(document, self.document_fetched)

    def fetch(self, wanted: Fetch, fetched: Callable[[], None]) -> None:
        connection = self.connect(fetched)
        connection.fetch(wanted.request, wanted.reply, nanoseconds(wanted.delay_s))

    def connect(self, fetched: Callable[[], None]) -> Connection:
        station = self.station
        return Connection(self.events, self.network, station.send_up, station.send_down, fetched)

    def document_fetched(self) -> None:
        for _ in range(min(self.network.connections, len(self.images))):
            self.fetch(self.images.pop(), self.image_fetched)
        self.object_fetched()

    def image_fetched(self) -> None:
        if self.images:
            self.fetch(self.images.pop(), self.image_fetched)
        self.object_fetched()

    def object_fetched(self) -> None:
        self.missing -= 1
        if self.missing == 0:
            self.latencies.append(self.events.now - self.started)
            self.events.at(self.events.now + self.think, self.next_page)
