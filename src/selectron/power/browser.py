"""The web browser of [Mon06] section 2.5.4: the document, then its images, then a pause."""

from collections.abc import Callable

from selectron.power.events import Events
from selectron.power.grid import nanoseconds
from selectron.power.network import Network
from selectron.power.station import Station
from selectron.power.tcp import Connection
from selectron.power.workload import Fetch, Workload


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
        events.at(0, self.next_page)

    def next_page(self) -> None:
        page = next(self.pages, None)
        if page is None:
            self.finished = True
            return
        self.started = self.events.now
        self.think = nanoseconds(page.think_s)
        self.missing = len(page.fetches)
        document, *self.images = page.fetches
        self.images.reverse()
        self.fetch(document, self.document_fetched)

    def fetch(self, wanted: Fetch, fetched: Callable[[], None]) -> None:
        connection = Connection(
            self.events, self.network, self.station.send_up, self.station.send_down, fetched
        )
        connection.fetch(wanted.request, wanted.reply, nanoseconds(wanted.delay_s))

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
