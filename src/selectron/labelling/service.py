"""One desk and its log: the calls of many threads, one after the other, each durable when answered.

One thread writes. It takes all calls that wait, lets the desk decide on each, applies the events to
the books, and appends the events of all these calls in one commit. Only then are they answered:
whatever a call is told is on the disk. The more calls wait, the more of them share one flush.

If the store fails, the books are ahead of the log, and nobody knows what was kept. So the service
stops: it refuses every call until it is started again and has made the books anew from the log.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from math import inf
from threading import Condition, Lock, Thread
from time import monotonic, time
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from selectron.labelling.desk import Decision, Desk
from selectron.labelling.events import Event, Reply
from selectron.labelling.store import DiskFull, Store, StoreError, check_fit

T = TypeVar("T")
Command = Callable[[Desk], Decision]
Listener = Callable[[], None]
PACK_LESSONS = (
    200  # between two snapshots of the learner, which a restart after a crash learns anew
)
PACK_SHARE = 0.1  # of the time may go into snapshots, however many lessons come
LEAST_LESSONS, MOST_LESSONS = 8, 128  # at once
LESSON_SECONDS = 0.01  # in which other calls wait; many lessons at once take less time each
CLOSING_SECONDS = 2.0  # in which the learner may catch up at the end
CLOSED = "the service was closed"
logger = logging.getLogger(__name__)


class Full(RuntimeError):
    """Too many calls wait; try again in a moment."""


class Stopped(RuntimeError):
    """The service takes no more calls, because it failed or was closed.

    Attributes
    ----------
    full : bool
        Whether the disk of the store is full.
    """

    def __init__(self, why: str | None, full: bool = False) -> None:
        super().__init__(why)
        self.full = full


@runtime_checkable
class Packs(Protocol):
    """A desk whose learner can be kept beside the log, so that a restart need not teach it anew."""

    def packing(self) -> Callable[[], tuple[bytes, str]]:
        """Copy the learner, which has caught up; return what makes bytes and a digest of it."""

    @property
    def unpacked(self) -> int:
        """How many lessons there are since the learner was packed."""

    def unpack(self, data: bytes, digest: str) -> None:
        """Take the learner from bytes if its digest is this one; otherwise leave it as it is."""


class Call(NamedTuple):
    command: Command
    future: Future[Reply]


class Service:
    """A desk that many threads may call.

    Parameters
    ----------
    store : Store
        The log. The service closes it.
    desk : Desk
        A new desk; the events of the log are applied to it here.
    room : int
        How many calls may wait.
    tick : float
        Seconds between two looks for leases that ran out.
    """

    def __init__(self, store: Store, desk: Desk, room: int = 1024, tick: float = 1.0) -> None:
        self._store, self._desk, self._room, self._tick = store, desk, room, tick
        self._last = 0  # the number of the last event in the books
        self._busy = Lock()  # who holds it may look at the desk, or change it
        self._state = Lock()  # of what follows
        self._called = Condition(self._state)  # wakes the writer
        self._changed = Condition(self._state)  # wakes the learner
        self._waiting: list[Call] = []
        self._why: str | None = None  # no more calls are taken
        self._failure: BaseException | None = None  # and that is why, unless it was closed
        self._news = True  # events that the learner has not seen
        self._listeners: list[Listener] = []
        self._pack_from = 0.0  # when the next snapshot may be taken
        self._at_once = LEAST_LESSONS
        try:
            self._recover()
        except BaseException:
            store.close()
            raise
        self._threads = [
            Thread(target=self._guarded, args=(work,), name=f"selectron-{name}", daemon=True)
            for name, work in (("writer", self._write), ("learner", self._learn))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def stopped(self) -> str | None:
        """Why no more calls are taken, or None."""
        return self._why

    @property
    def full(self) -> bool:
        """Whether it stopped because the disk of the store is full."""
        return isinstance(self._failure, DiskFull)

    def submit(self, command: Command) -> Future[Reply]:
        """Let the desk decide; the future has the reply once all events of the call are durable.

        A command that raises fails its own future and changes nothing. A future that fails with
        `Stopped` leaves open what was kept: the caller sends the same id again after the restart.
        """
        return self._queue(command, self._room)

    def read(self, function: Callable[[Desk], T]) -> T:
        """Look at the desk while nobody changes it; all that it says is durable.

        After an error of the store it may show a little more than was kept.
        """
        with self._busy:
            return function(self._desk)

    def learn_some(self, desk: Desk) -> bool:
        """Let the learner of the desk, within `read`, take some lessons; tell if it caught up.

        They are as many as other calls can wait for.
        """
        began, lessons = monotonic(), self._at_once
        caught_up = desk.learn_some(lessons)
        if monotonic() - began > LESSON_SECONDS:
            self._at_once = max(lessons // 2, LEAST_LESSONS)
        elif not caught_up:  # it took that many
            self._at_once = min(2 * lessons, MOST_LESSONS)
        return caught_up

    def listen(self, callback: Listener) -> Callable[[], None]:
        """Call back after each commit and each lesson, and when the service stops.

        The threads of the service make the calls, so they must be short. What is returned ends it.
        """
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback)

    def close(self) -> None:
        """Answer all calls that wait, refuse new ones, keep the learner, and close the store."""
        self._refuse(CLOSED)
        for thread in self._threads:
            thread.join()
        try:
            if self._why == CLOSED:
                self._keep_learner()
        finally:
            self._store.close()

    def _keep_learner(self) -> None:
        """Pack the learner, so that the next start need not teach it; unless it is far behind."""
        end, desk, caught_up = monotonic() + CLOSING_SECONDS, self._desk, False
        while not caught_up and monotonic() < end:
            caught_up = self.learn_some(desk)
        if caught_up and isinstance(desk, Packs) and desk.unpacked:
            try:
                self._store.save_snapshot(self._last, *desk.packing()())
            except DiskFull as error:  # every answer is kept, and they are small
                logger.warning("answers are kept; the next start learns them anew: %s", error)

    def _queue(self, command: Command, room: float) -> Future[Reply]:
        call = Call(command, Future())
        with self._state:
            if self._why:
                raise Stopped(self._why, self.full)
            if len(self._waiting) >= room:
                raise Full(f"{room} calls wait already: try again in a second")
            self._waiting.append(call)
            self._called.notify()
        return call.future

    def _recover(self) -> None:
        """Make the books from the log, and let the learner catch up from its snapshot."""
        desk = self._desk
        found = self._store.snapshot() if isinstance(desk, Packs) else None
        packed_at, data, digest = found or (0, b"", "")
        for seq, event in self._store.events():
            desk.apply(event, seq)
            self._last = seq
            if seq == packed_at:
                desk.unpack(data, digest)
        desk.learn()

    def _guarded(self, work: Callable[[], None]) -> None:
        """Stop the service, whatever goes wrong in one of its threads."""
        try:
            work()
        except BaseException as error:
            self._stop(error)
            with self._state:
                left, self._waiting = self._waiting, []
            for call in left:
                call.future.set_exception(Stopped(self._why, self.full))

    def _stop(self, error: BaseException) -> None:
        if self._failure is error:  # of a commit, which was told already
            return
        self._failure = error
        remedy = "make room on its disk, and start it again" if self.full else "start it again"
        why = f"the service stopped: {error}; {remedy}"
        logger.error(why, exc_info=None if isinstance(error, StoreError) else error)
        self._refuse(why)

    def _refuse(self, why: str) -> None:
        with self._state:
            self._why = self._why or why
            self._called.notify()
            self._changed.notify()
        self._tell()

    def _write(self) -> None:
        while True:
            with self._state:
                self._called.wait_for(lambda: self._waiting or self._why)
                calls, self._waiting = self._waiting, []
            if not calls:
                return
            self._commit([call for call in calls if call.future.set_running_or_notify_cancel()])

    def _commit(self, calls: list[Call]) -> None:
        """Decide on these calls in order, keep all their events, and answer them."""
        events: list[Event] = []
        try:
            with self._busy:
                replies = [self._decide(call.command, events) for call in calls]
                if events:
                    self._store.append(events)
        except BaseException as error:
            self._stop(error)
            for call in calls:
                why = f"nobody knows whether this was kept, for {self._why}"
                call.future.set_exception(Stopped(why, self.full))
            raise
        for call, reply in zip(calls, replies, strict=True):
            if isinstance(reply, Exception):
                call.future.set_exception(reply)
            else:
                call.future.set_result(reply)
        if events:
            with self._state:
                self._news = True
                self._changed.notify()
            self._tell()

    def _decide(self, command: Command, events: list[Event]) -> Reply | Exception:
        """Apply what the desk decides, or say why it refused."""
        try:
            decision = command(self._desk)
            for event in decision.events:
                check_fit(event)  # the store would raise it for all calls of this commit
        except Exception as refusal:
            return refusal
        for event in decision.events:
            self._last += 1
            self._desk.apply(event, self._last)
        events.extend(decision.events)
        return decision.reply

    def _tell(self) -> None:
        for listener in list(self._listeners):
            try:
                listener()
            except Exception:
                logger.exception("a listener failed")

    def _learn(self) -> None:
        """Learn what was answered, end leases that ran out, and choose what to ask next."""
        while True:
            with self._state:
                self._changed.wait_for(lambda: self._news or self._why, self._tick)
                news, self._news = self._news, False
                if self._why:
                    return
            if news:
                due = self.read(self._teach)
                if due:
                    began, (seq, pack) = monotonic(), due
                    self._store.save_snapshot(seq, *pack())
                    self._pack_from = monotonic() + (monotonic() - began) / PACK_SHARE
                self._tell()
            with suppress(Stopped):  # and say so in the next round
                for command in (_expire, _choose) if news else (_expire,):
                    self._queue(command, inf).result()

    def _teach(self, desk: Desk) -> tuple[int, Callable[[], tuple[bytes, str]]] | None:
        """Let the learner take a few lessons; when a snapshot is due, return what makes it.

        Answers wait meanwhile, so that a learner that is far behind comes back for the rest.
        """
        caught_up = self.learn_some(desk)
        if not caught_up:
            with self._state:
                self._news = True
        due = monotonic() >= self._pack_from and isinstance(desk, Packs)
        if not (caught_up and due and desk.unpacked >= PACK_LESSONS):
            return None
        return self._last, desk.packing()


def _expire(desk: Desk) -> Decision:
    return desk.expire(monotonic(), time())


def _choose(desk: Desk) -> Decision:
    return desk.choose(time())
