"""Static PSM on one small object, worked out by hand."""

from dataclasses import dataclass

import numpy as np
import pytest

from selectron.power import (
    AlwaysOn,
    Fetch,
    Network,
    Page,
    Radio,
    StaticPsm,
    Workload,
    simulate,
)
from selectron.power.clock import SECOND
from tests.power.traffic import one_fetch

US = 1e-6


def test_every_round_trip_ends_at_a_beacon():
    run = simulate(StaticPsm(), one_fetch(300, 1000, think_s=0.95))
    # SYN at 0, SYN-ACK fetched at 0.1; request then, reply fetched at 0.2 and received after one
    # radio hop of 1040 bytes. The delayed ACK goes at the tick of 0.3.
    received = 0.2 + 1040 * 1.6 * US + 100 * US
    assert run.latencies_s.tolist() == pytest.approx([received], abs=1e-9)
    assert run.duration_s == pytest.approx(received + 0.95, abs=1e-9)
    assert run.beacons == 11  # 0.1 to 1.1
    awake_to_send = 40 * 1.6 * US + 100 * US
    first_poll = 40 * 1.6 * US + 100 * US + (40 + 340) * 1.6 * US + 100 * US
    second_poll = 1040 * 1.6 * US + 100 * US
    by_hand = awake_to_send + first_poll + second_poll + awake_to_send
    assert run.awake_s == pytest.approx(by_hand, abs=1e-9)


def test_energy_is_what_the_radio_charges():
    run = simulate(StaticPsm(), one_fetch(300, 1000))
    asleep = run.duration_s - run.awake_s
    by_hand = 0.75 * run.awake_s + 0.05 * asleep + 0.0015 * run.beacons
    assert run.energy_j_per_page == pytest.approx(by_hand, rel=1e-12)
    assert run.beacon_j_per_page == pytest.approx(0.0015 * run.beacons, rel=1e-12)
    free = simulate(StaticPsm(), one_fetch(300, 1000), radio=Radio(1.0, 0.0, 0.0))
    assert free.energy_j_per_page == run.awake_s


def test_without_power_saving_the_radio_is_always_awake():
    run = simulate(AlwaysOn(), one_fetch(300, 1000))
    assert run.awake_s == run.duration_s
    assert run.beacons == 0
    assert run.energy_j_per_page == pytest.approx(0.75 * run.duration_s)


@dataclass(frozen=True)
class EverySecond:
    """Sleeps whole seconds; listens after a send for as long as it is told."""

    listen: int = 0
    name: str = "every-second"

    def start(self):
        return self

    def begin(self):
        return 0

    def sent(self, now, size):
        return now + self.listen

    def received(self, now, size, arrived):
        pass

    def woke(self, now, buffered):
        return 0

    def sleep(self, now):
        return (now // SECOND + 1) * SECOND


def test_a_radio_that_wakes_to_send_does_not_poll():
    # Two round trips for the document, two for the image, each to the next whole second. At 2.1 s
    # the delayed ACK of the document is sent while the image's SYN-ACK waits: it is left waiting.
    fetch = Fetch(300, 1000)
    run = simulate(EverySecond(), Workload((Page(0.5, (fetch, fetch)),)))
    assert run.latency_s == pytest.approx(4.0, abs=0.01)
    assert run.beacons == 4


def test_a_policy_may_listen_after_it_has_sent():
    fetch = Fetch(300, 1000)
    workload = Workload((Page(3.0, (fetch, fetch)),))
    run = simulate(EverySecond(listen=SECOND // 20), workload)
    assert run.latency_s == simulate(AlwaysOn(), workload).latency_s
    assert run.beacons == 3
    # Awake from the first SYN to 50 ms after the image's request, sent at 0.1244 s; and for 50 ms
    # after the image's delayed ACK, sent at 0.2 s.
    assert run.awake_s == pytest.approx(0.1244 + 0.05 + 0.05, abs=1e-4)


@pytest.mark.parametrize(("beacon", "said"), [(0, "0 s is not"), (SECOND // 8, "0.125 s is not")])
def test_a_policy_that_would_stop_the_clock_is_refused(beacon, said):
    class Stuck(EverySecond):
        def sleep(self, now):
            return beacon

    with pytest.raises(ValueError, match=f"{said} a beacon after 0 s; give a later multiple of"):
        simulate(Stuck(), one_fetch(300, 1000))


def test_a_diary_tells_every_sleep():
    run = simulate(StaticPsm(), one_fetch(300, 1000), diary=True)
    assert run.diary is not None
    assert np.allclose(run.diary.sleep_s, 0.1)
    assert len(run.diary.time_s) == run.beacons + 1  # and one at the start
    assert run.diary.bytes_waiting[:3].tolist() == [0, 40, 1040]
    assert simulate(StaticPsm(), one_fetch(300, 1000)).diary is None


@pytest.mark.parametrize(
    ("knobs", "error", "message"),
    [
        ({"radio_mbps": 0.0}, ValueError, r"radio_mbps must lie in \(0, inf\), got radio_mbps=0.0"),
        ({"wire_delay_s": -1.0}, ValueError, r"wire_delay_s must lie in \[0, 3600\]"),
        ({"mss": 0}, ValueError, r"mss must lie in \[1, 1e\+06\]"),
        ({"mss": 1460.5}, ValueError, "mss must be whole, got 1460.5"),
        ({"mss": 1460.0}, TypeError, "mss must be whole, got 1460.0"),
        ({"window": "44"}, TypeError, "window must be a number"),
        ({"connections": 0}, ValueError, "connections=0"),
    ],
)
def test_a_network_that_cannot_be_is_refused(knobs, error, message):
    with pytest.raises(error, match=message):
        Network(**knobs)


def test_a_radio_that_gives_energy_is_refused():
    with pytest.raises(ValueError, match=r"asleep_w must lie in \[0, inf\), got asleep_w=-1"):
        Radio(asleep_w=-1)
