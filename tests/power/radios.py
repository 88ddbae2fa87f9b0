"""Slow twins of the plans: one walks a segment tick by tick, one lets the real station live it."""

from selectron.power import Network
from selectron.power.clock import BEACON, Events
from selectron.power.policies.plan import NEVER, SHORTEST_NAP, PlanController
from selectron.power.station import Packet, Station

TICK = 1_000_000  # every time that is walked through is a multiple of it
INSTANT = Network(radio_mbps=1e6, radio_delay_s=0.0)


def walk(plan, segment):
    """Give the time awake, the beacons and when the packet was heard, one millisecond at a time."""
    listen, nap, cap = plan
    sent, start, end, arrived = segment
    boundary = sent + TICK
    while boundary % BEACON:
        boundary += TICK
    napping = start < boundary and SHORTEST_NAP <= boundary - sent <= nap
    wake_at = boundary if napping else None
    awake = beacons = 0
    was_on = False
    now = start
    while not (arrived == NEVER and now == end):  # what is sent at a beacon's time goes first
        polls = now == wake_at
        if polls:
            beacons += 1
            wake_at = None
        on = wake_at is None and now < sent + listen
        if arrived != NEVER and now >= arrived and (on or was_on or polls):
            return awake, beacons, now
        if not on and wake_at is None:
            sleep = min(cap, max(BEACON, (now - sent) // BEACON * BEACON))
            wake_at = now // BEACON * BEACON + sleep
        awake += TICK if on else 0
        was_on = on
        now += TICK
    return awake, beacons, end


def live(plan, sent, arrived):
    """Give the same of a real station that sends at ``sent`` and for which a packet comes."""
    events = Events()
    station = Station(events, INSTANT, PlanController(plan))
    counts, heard = [], []

    def count():
        station.count_awake()
        counts.append((station.awake, station.beacons))

    def send():
        count()
        station.send_up(1, lambda: None)

    def hear():
        count()
        heard.append(events.now)

    events.at(sent, send)
    events.at(arrived, station.forward, Packet(1, arrived, hear, ()))
    while not heard:
        while not events.agenda or station.wake_at < events.agenda[0][0]:
            station.wake()
        events.step()
    (awake, beacons), (awake_then, beacons_then) = counts
    return awake_then - awake, beacons_then - beacons, heard[0]
