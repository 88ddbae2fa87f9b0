"""Latencies worked out by hand: what each rule of TCP costs on an idle network."""

import pytest

from selectron.power import AlwaysOn, Network, Page, Workload, simulate
from tests.power.traffic import one_fetch

US = 1e-6
HOPS = 100 * US + 20_000 * US  # the two links' delays, one way


def one_way(size: int) -> float:
    """Both links, 1.6 and 0.8 µs a byte, one packet at a time."""
    return size * 2.4 * US + HOPS


def latency(workload: Workload, network: Network | None = None) -> float:
    return simulate(AlwaysOn(), workload, network=network).latency_s


def test_one_small_object_takes_two_round_trips():
    # SYN, SYN-ACK; the ACK leaves before the request and holds it up on the slower link; reply.
    by_hand = 2 * one_way(40) + 40 * 1.6 * US + one_way(340) + one_way(1040)
    assert latency(one_fetch(300, 1000)) == pytest.approx(by_hand, abs=1e-9)


def test_the_server_takes_its_time():
    slow = latency(one_fetch(300, 1000, delay_s=0.25))
    assert slow - latency(one_fetch(300, 1000)) == pytest.approx(0.25, abs=1e-9)


@pytest.mark.parametrize(
    ("segments", "rounds"), [(1, 2), (2, 2), (3, 3), (6, 3), (7, 4), (14, 4), (15, 5), (30, 5)]
)
def test_slow_start_doubles_the_window_every_round_trip(segments, rounds):
    network = Network(radio_mbps=1e5, wire_mbps=1e5)  # nothing but the delays counts
    measured = latency(one_fetch(300, 1460 * segments), network)
    assert measured == pytest.approx(rounds * 2 * HOPS, rel=1e-3)


def test_the_window_bounds_what_is_in_flight():
    network = Network(radio_mbps=1e5, wire_mbps=1e5, window=4)
    # 2, 4, 4, 4 segments: the handshake and four rounds
    assert latency(one_fetch(300, 1460 * 14), network) == pytest.approx(5 * 2 * HOPS, rel=1e-3)


def test_nagle_holds_back_a_partial_last_segment_for_a_round_trip():
    held = latency(one_fetch(300, 2000), Network(nagle=True))
    free = latency(one_fetch(300, 2000))
    assert held - free == pytest.approx(2 * HOPS, abs=0.005)
    # a single segment has nothing before it
    assert latency(one_fetch(300, 700), Network(nagle=True)) == latency(one_fetch(300, 700))


def test_a_single_last_byte_waits_too():
    lone = latency(one_fetch(300, 1461))
    assert lone - latency(one_fetch(300, 1462)) == pytest.approx(2 * HOPS, abs=0.005)
    assert latency(one_fetch(300, 1)) < latency(one_fetch(300, 2))


def test_fewer_acks_wait_for_the_tick():
    # Three segments: the third waits for the ACK of the first two, which goes out at once.
    network = Network(radio_mbps=1e5, wire_mbps=1e5, segments_per_ack=2)
    assert latency(one_fetch(300, 3 * 1460), network) == pytest.approx(6 * HOPS, rel=1e-3)
    # From a window of one segment the first ACK waits for the clock's next 100 ms.
    network = Network(radio_mbps=1e5, wire_mbps=1e5, segments_per_ack=2, initial_window=1)
    assert latency(one_fetch(300, 2 * 1460), network) == pytest.approx(0.1 + 2 * HOPS, rel=1e-3)


def test_a_long_request_is_sent_in_segments():
    network = Network(radio_mbps=1e5, wire_mbps=1e5)
    assert latency(one_fetch(5 * 1460, 300), network) == pytest.approx(6 * HOPS, rel=1e-3)


def test_images_come_after_the_document_four_at_a_time():
    network = Network(radio_mbps=1e5, wire_mbps=1e5)
    document = one_fetch(300, 1000).pages[0].fetches

    def with_images(n: int) -> float:
        return latency(Workload((Page(1.0, document * (n + 1)),)), network)

    for images, waves in [(0, 1), (1, 2), (4, 2), (5, 3), (8, 3), (9, 4)]:
        assert with_images(images) == pytest.approx(waves * 4 * HOPS, rel=1e-3)


def test_bandwidth_is_shared_first_come_first_served():
    big = 1460 * 400
    # 1500 bytes for each segment over the 5 Mb/s link
    assert latency(one_fetch(300, big)) == pytest.approx(400 * 1500 * 1.6 * US, rel=0.5)
    assert latency(one_fetch(300, big)) > 400 * 1500 * 1.6 * US
