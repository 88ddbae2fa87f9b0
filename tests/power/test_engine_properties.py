"""What holds whatever is fetched: time and bytes are conserved, and sleeping only delays."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from selectron.power import AlwaysOn, BoundedSlowdown, Network, Radio, simulate
from selectron.power.clock import Events
from selectron.power.simulator import Browser
from selectron.power.station import Station
from tests.power.traffic import quick_policies, workloads

policies = st.sampled_from(quick_policies())
networks = st.builds(
    Network,
    mss=st.sampled_from([536, 1460]),
    initial_window=st.integers(1, 10),
    window=st.integers(2, 44),
    segments_per_ack=st.integers(1, 3),
    nagle=st.booleans(),
    connections=st.integers(1, 5),
)
few = settings(deadline=None, max_examples=60)


@few
@given(policies, workloads, networks)
def test_every_page_is_loaded_and_time_adds_up(policy, workload, network):
    run = simulate(policy, workload, network=network)
    assert len(run.latencies_s) == len(workload.pages)
    thinking = sum(page.think_s for page in workload.pages)
    assert np.isclose(run.duration_s, run.latencies_s.sum() + thinking, rtol=1e-12, atol=1e-9)
    assert 0 < run.awake_s <= run.duration_s
    assert 0 <= run.beacons <= run.duration_s / 0.1
    parts = Radio(1, 0, 0), Radio(0, 1, 0), Radio(0, 0, 1)
    awake, asleep, beacons = (p.joules(run.duration_s, run.awake_s, run.beacons) for p in parts)
    assert np.isclose(awake + asleep, run.duration_s)
    assert beacons == run.beacons


@few
@given(policies, workloads, networks)
def test_two_runs_are_the_same_to_the_last_bit(policy, workload, network):
    first = simulate(policy, workload, network=network, diary=True)
    again = simulate(policy, workload, network=network)
    assert first.latencies_s.tolist() == again.latencies_s.tolist()
    assert (first.awake_s, first.beacons) == (again.awake_s, again.beacons)


@few
@given(policies, workloads, networks)
def test_no_byte_is_lost_or_made_and_nothing_reaches_a_sleeping_radio(policy, workload, network):
    events = Events()
    station = Station(events, network, policy.start())
    browser = Browser(events, network, station, workload)
    sent: list[int] = []
    received: list[int] = []
    send_down, deliver = station.send_down, station.deliver

    def count_sent(size, *arrival):
        sent.append(size)
        send_down(size, *arrival)

    def count_received(packet):
        assert station.is_open
        received.append(packet[0])
        deliver(packet)

    station.send_down, station.deliver = count_sent, count_received
    while not browser.finished:
        while not events.agenda or station.wake_at < events.agenda[0][0]:
            station.wake()
            assert station.is_open or station.wake_at > events.now
        events.step()
    # Pages are complete, so nothing is under way but what the server sent after the last byte:
    # an ACK without data at most, never a byte of a reply.
    replies = sum(fetch.reply for page in workload.pages for fetch in page.fetches)
    assert sum(size - network.header for size in received) == replies
    assert sum(sent) - sum(received) == network.header * (len(sent) - len(received))


@few
@given(policies, workloads)
def test_sleeping_never_makes_a_page_faster(policy, workload):
    # One connection: with more, a delay may change which image is fetched beside which.
    network = Network(connections=1)
    none = simulate(AlwaysOn(), workload, network=network)
    slept = simulate(policy, workload, network=network)
    assert (slept.latencies_s >= none.latencies_s - 1e-9).all()


@few
@given(st.sampled_from([1.0, 0.5, 0.2, 0.1]), workloads)
def test_bounded_slowdown_keeps_its_promise(p, workload):
    # Every answer takes at most 1 + p times its time, so a page whose packets all are answers to
    # one another does.
    network = Network(connections=1, radio_mbps=1e4, wire_mbps=1e4)
    none = simulate(AlwaysOn(), workload, network=network)
    bounded = simulate(BoundedSlowdown(p, cap_s=60.0), workload, network=network)
    assert (bounded.latencies_s <= (1 + p) * none.latencies_s * (1 + 1e-3)).all()
