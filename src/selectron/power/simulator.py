"""The embedded engine: a few thousand events a second of browsing, in plain Python."""

from collections.abc import Callable

from selectron.power.clock import Events, nanoseconds
from selectron.power.network import Network, Radio
from selectron.power.policies.policy import Controller, Policy
from selectron.power.results import Counts, Run, run_policy
from selectron.power.station import Station
from selectron.power.tcp import Connection
from selectron.power.workload import Fetch, Page, Push, Workload


def simulate(
    policy: Policy,
    workload: Workload,
    *,
    network: Network | None = None,
    radio: Radio | None = None,
    diary: bool = False,
) -> Run:
    """Run a policy on a workload in the network of [Mon06] section 2.5.4.

    Parameters
    ----------
    policy : Policy
        Decides when the radio sleeps.
    workload : Workload
        The pages to load, see `web_workload`.
    network : Network, optional
        Links and TCP settings.
    radio : Radio, optional
        Energy prices.
    diary : bool
        Note every sleep, as Figure 2-5 needs.
    """
    return run_policy(policy, browse, workload, network=network, radio=radio, diary=diary)


def browse(workload: Workload, network: Network, controller: Controller) -> Counts:
    """Let a station under this controller load all pages."""
    events = Events()
    station = Station(events, network, controller)
    browser = Browser(events, network, station, workload)
    agenda = events.agenda
    while not browser.finished:
        # Between two events no packet reaches the access point, so these beacons need no event.
        # An ACK planned for the same tick as a beacon is sent before the beacon.
        while not agenda or station.wake_at < agenda[0][0]:
            station.wake()
        events.step()
    station.count_awake()
    return Counts(browser.latencies, events.now, station.awake, station.beacons)


class Browser:
    """Fetches the pages of a workload one after another and notes how long each took.

    Like the browser of [Mon06] section 2.5.4 it fetches the document, then its images, then pauses.
    """

    def __init__(
        self, events: Events, network: Network, station: Station, workload: Workload
    ) -> None:
        self.events = events
        self.network = network
        self.station = station
        self.pages = iter(workload.pages)
        self.latencies: list[int] = []  # from first SYN to last byte, nanoseconds
        self.finished = False
        self.standing: Connection | None = None  # the server pushes over this one
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
        """Let the server send bytes unasked, over a connection that stays open."""
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
