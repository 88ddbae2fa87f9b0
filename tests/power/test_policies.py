import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selectron.experts import LearnAlpha
from selectron.power import (
    INVERSE,
    INVERSE_LOG,
    BoundedSlowdown,
    DelayAndEnergy,
    Fetch,
    Lpsm,
    Page,
    Workload,
    lpsm_inverse_log,
    named_policy,
    simulate,
    standard_policies,
    web_workload,
)
from selectron.power.clock import BEACON, SECOND, beacon_after
from tests.power.traffic import needs_compiler

MS = 1_000_000


def test_beacons_are_counted_from_the_last_one():
    assert beacon_after(0) == BEACON
    assert beacon_after(BEACON - 1) == BEACON
    assert beacon_after(BEACON) == 2 * BEACON
    assert beacon_after(BEACON + 1, 3 * BEACON) == 4 * BEACON


def sleeps_after_a_send(p: float, cap_s: float = 0.9, n: int = 9) -> list[int]:
    """Give the beacons, in ms, for which a station wakes when no answer comes to a send at 0."""
    controller = BoundedSlowdown(p, cap_s).start()
    now = controller.sent(0, 300)
    beacons = []
    for _ in range(n):
        now = controller.sleep(now)
        beacons.append(now // MS)
        assert controller.woke(now, 0) <= now
    return beacons


def test_bounded_slowdown_backs_off():
    # Listens for 100 ms / p, then doubles its sleeps, or nearly, up to the cap.
    assert sleeps_after_a_send(1.0) == [200, 400, 800, 1600, 2500, 3400, 4300, 5200, 6100]
    assert sleeps_after_a_send(0.5)[:7] == [300, 400, 600, 900, 1300, 1900, 2800]
    assert sleeps_after_a_send(0.1)[0] == 1100
    assert sleeps_after_a_send(1.0, cap_s=0.3)[:5] == [200, 400, 700, 1000, 1300]


@given(st.sampled_from([1.0, 0.5, 0.2, 0.1]), st.integers(0, 10 * SECOND))
def test_no_sleep_is_longer_than_p_times_the_wait_so_far(p, sent_at):
    controller = BoundedSlowdown(p, cap_s=100.0).start()
    now = controller.sent(sent_at, 300)
    for _ in range(12):
        until = controller.sleep(now)
        assert until - now <= p * (now - sent_at) + 1
        assert until % BEACON == 0
        now = until


def test_a_bounded_station_that_never_sent_sleeps_as_long_as_it_may():
    controller = BoundedSlowdown().start()
    assert controller.begin() == 0
    assert controller.sleep(5 * SECOND) == 5 * SECOND + 9 * BEACON


def test_an_ack_due_at_the_same_tick_as_a_beacon_goes_first():
    # The second page's request leaves at 0.674 s; the station listens until 0.774 s and would wake
    # at 0.8 s, when its delayed ACK is due. Sending it starts to listen anew: no beacon is paid.
    page = Page(0.55, (Fetch(300, 1000),))
    run = simulate(BoundedSlowdown(1.0), Workload((page, page)), diary=True)
    assert run.diary is not None
    slept = run.diary.time_s[run.diary.time_s > 0.7]
    assert slept == pytest.approx([0.77436, 0.9, 1.0, 1.2], abs=1e-5)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"p": 0.0}, r"p must lie in \(0, 1\], got p=0.0"),
        ({"p": 1.5}, r"p must lie in \(0, 1\], got p=1.5"),
        ({"cap_s": 0.25}, r"cap_s=0.25 is not a multiple of 0.1 s"),
        ({"cap_s": 0.0}, r"cap_s must lie in \[0.1, 3600\]"),
    ],
)
def test_a_bound_that_cannot_be_is_refused(knobs, message):
    with pytest.raises(ValueError, match=message):
        BoundedSlowdown(**knobs)


class Figure24:
    """Algorithm LPSM line by line as in [Mon06], Figure 2-4; slow, and sums as they are written."""

    def __init__(self, alphas, sleeps, loss):
        n, m = len(sleeps), len(alphas)
        self.sleeps, self.loss = sleeps, loss
        self.weights = np.full(m, 1 / m)
        self.rows = np.full((m, n), 1 / n)
        eye = np.eye(n)
        self.switch = [(1 - a) * eye + a / (n - 1) * (1 - eye) for a in alphas]

    def poll_time(self):
        return float(self.weights @ (self.rows @ self.sleeps))

    def wake(self, slept, buffered):
        likelihood = np.exp(-self.loss(self.sleeps, slept, buffered))
        for j, switch in enumerate(self.switch):
            evidence = self.rows[j] @ likelihood
            self.weights[j] *= evidence
            self.rows[j] = (self.rows[j] * likelihood) @ switch / evidence
        self.weights /= self.weights.sum()


def test_a_loss_that_works_in_place_moves_no_expert():
    def inside(sleeps, slept, buffered):
        sleeps /= 100.0
        return sleeps

    policies = Lpsm(loss=inside), Lpsm(loss=lambda sleeps, slept, buffered: sleeps / 100.0)
    controllers = [policy.start() for policy in policies]
    for controller in controllers:
        for _ in range(5):
            controller.woke(0, 0)
    weights = [controller.experts.weights.tolist() for controller in controllers]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("loss", [INVERSE, INVERSE_LOG])
def test_lpsm_is_figure_2_4(loss):
    generator = np.random.default_rng(5)
    policy = Lpsm(loss=loss, horizon=50)
    controller = policy.start()
    twin = Figure24(
        LearnAlpha(12, horizon=50).alphas, np.array(policy.sleeps_ms, dtype=float), loss
    )
    now = controller.sleep(0)
    for _ in range(400):
        slept = np.floor(twin.poll_time() / 100 + 0.5 + 1e-9) * 100
        assert now - (now - controller.beacons * BEACON) == slept * MS
        busy = generator.random() < 0.1
        buffered = int(generator.choice([40, 300, 1500, 6000])) if busy else 0
        twin.wake(slept, buffered)
        assert controller.woke(now, buffered) <= now
        now = controller.sleep(now)


@needs_compiler
def test_lpsm_reacts_as_figure_2_5_shows():
    """Down to 100 ms when data come; back up while they do not, more slowly with 1/T."""
    backed_off = []
    for policy in (Lpsm(), lpsm_inverse_log()):
        controller = policy.start()
        for _ in range(20):
            controller.woke(0, 6000)
        assert controller.beacons == 1
        for _ in range(60):
            before = controller.beacons
            controller.woke(0, 0)
            assert controller.beacons >= before
        backed_off.append(controller.beacons)
    assert 1 <= backed_off[0] < backed_off[1]


@needs_compiler
def test_lpsm_takes_any_loss_of_the_users():
    eager = Lpsm(loss=lambda sleeps, slept, buffered: sleeps / 100, name="eager")
    lazy = Lpsm(loss=lambda sleeps, slept, buffered: 1e3 / sleeps, name="lazy")
    workload = web_workload(5, seed=1)
    runs = {policy.name: simulate(policy, workload) for policy in (eager, lazy, Lpsm())}
    assert runs["eager"].beacons > runs["lpsm-1/T"].beacons > runs["lazy"].beacons
    assert runs["lazy"].beacons == pytest.approx(runs["lazy"].duration_s / 1.2, rel=0.1)


def test_lpsm_with_other_sleeping_times():
    policy = Lpsm(sleeps_ms=(200.0, 5000.0), loss=DelayAndEnergy(1e-3, lambda ms: 1 / ms))
    controller = policy.start()
    assert controller.beacons == 26
    for _ in range(50):
        controller.woke(0, 1500)
    assert controller.beacons in (2, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Lpsm(sleeps_ms=(100.0,)), "must hold two or more sleeping times"),
        (lambda: Lpsm(sleeps_ms=(0.0, 100.0)), "each > 0"),
        (lambda: Lpsm(horizon=0), "horizon=0 must be at least 1 wake-up"),
        (lambda: Lpsm(loss=lambda *_: 1.0), "must give 12 finite numbers"),
        (lambda: Lpsm(loss=lambda s, *_: s * np.nan), "one for each sleeping time"),
        (lambda: Lpsm(loss=lambda s, *_: -s), "0 or more"),
        (lambda: DelayAndEnergy(0.0, np.sqrt), r"gamma=0.0 must be greater than 0; \[Mon06\] has"),
    ],
)
def test_a_learner_that_cannot_be_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_losses_are_equation_2_35():
    sleeps = np.array([100.0, 1200.0])
    by_hand = [1e4 * 40 / 1.2e5 / 600 + 1 / 100, 144e4 * 40 / 1.2e5 / 600 + 1 / 1200]
    assert INVERSE(sleeps, 300.0, 40) == pytest.approx(by_hand)
    assert INVERSE_LOG(sleeps, 300.0, 0) == pytest.approx(1 / np.log(sleeps))


def test_policies_have_names():
    names = [policy.name for policy in standard_policies()]
    assert names == [
        *("none", "static", "lpsm-1/T", "lpsm-1/logT"),
        *("bsd-100", "bsd-50", "bsd-20", "bsd-10"),
    ]
    assert [named_policy(name).name for name in names] == names
    with pytest.raises(ValueError, match=r"there is no policy 'psm'; choose one of none, static"):
        named_policy("psm")
