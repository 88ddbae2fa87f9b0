"""The embedded engine: a few thousand events a second of browsing, nothing but Python."""

from selectron.power.browser import Browser
from selectron.power.energy import Radio
from selectron.power.events import Events
from selectron.power.network import Network
from selectron.power.policies.policy import Policy
from selectron.power.results import DiaryKeeper, Run, make_run
from selectron.power.station import Station
from selectron.power.workload import Workload


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
        Keep every sleep, as Figure 2-5 needs.
    """
    network = network or Network()
    controller = policy.start()
    if diary:
        controller = DiaryKeeper(controller)
    events = Events()
    station = Station(events, network, controller)
    browser = Browser(events, network, station, workload)
    agenda = events.agenda
    while not browser.finished:
        # Between two events nothing reaches the access point: these beacons cost a call each.
        # An ACK that waits for the same tick as a beacon is sent before it.
        while not agenda or station.wake_at < agenda[0][0]:
            station.wake()
        events.step()
    station.count_awake()
    return make_run(
        policy.name,
        browser.latencies,
        duration=events.now,
        awake=station.awake,
        beacons=station.beacons,
        radio=radio or Radio(),
        controller=controller,
    )
