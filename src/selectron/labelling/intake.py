"""Messages of a source, brought to the desk: each becomes an item once, whatever is killed.

The order of three steps makes it so. A batch is read; the desk takes it, and the event that adds
the items has the ids of the messages; only when that event is durable are the messages settled at
the source. A crash before the event loses nothing, for the messages are handed out again. A crash
after it doubles nothing, for the desk knows their ids.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import time

from selectron.features import Features
from selectron.labelling import asking
from selectron.labelling.desk import ITEMS_AN_EVENT, Desk, Refused
from selectron.labelling.events import Item, Reply
from selectron.labelling.items import BY_NAME, Columns, batches, entry_of
from selectron.labelling.service import Full, Service
from selectron.labelling.sources import Away, Message, Source
from selectron.labelling.store import Unfit
from selectron.streams.records import Record

BATCH = 100
MOST_WAITING = 50  # questions
READ_SECONDS = 0.5  # for which a read waits for messages; so long may `stop` take
PAUSE_SECONDS = 0.2  # between two looks whether the desk has room again
LONGEST_BACKOFF = 30.0


@dataclass
class Intake:
    """Brings the messages of a source to the desk of a service.

    No more than one batch is under way, so a store that is slow slows the reading down. Nothing is
    read while `most_waiting` questions wait for an answer, or while fewer than two classes have
    names: the messages wait at the source.

    Parameters
    ----------
    source : Source
    columns : Columns
        Which column of a message is what.
    images : path, optional
        The folder of the pictures that messages name.
    batch : int
        How many messages become one event at most.
    most_waiting : int
        With so many unanswered questions, nothing is read.
    """

    source: Source
    columns: Columns = BY_NAME
    images: Path | None = None
    batch: int = BATCH
    most_waiting: int = MOST_WAITING

    added = 0  # items that were new
    known = 0  # messages delivered again, or with an item that was there
    dead = 0  # messages that are no item
    waiting = 0  # questions, after the last batch

    def __post_init__(self) -> None:
        if not 1 <= self.batch <= ITEMS_AN_EVENT:
            raise ValueError(f"a batch of {self.batch} is not of 1 to {ITEMS_AN_EVENT:,} messages")
        if self.most_waiting < 1:
            raise ValueError(f"with {self.most_waiting} questions that wait at most none is asked")
        self._ended = Event()
        self._room = self.batch  # how many messages the desk can take now

    def run(
        self,
        service: Service,
        tell: Callable[[str], object] = str,
        watch: Callable[[], object] = int,
    ) -> None:
        """Bring messages until `stop` is called, by another thread.

        Parameters
        ----------
        tell : callable
            Gets a line for people: the source is away, or is back.
        watch : callable
            Called after each batch: the counts may have changed.
        """
        failures = 0
        while not self._ended.is_set():
            try:
                came = self.step(service)
                watch()
            except Away as error:
                if not failures and not self._ended.is_set():
                    tell(f"{str(error).rstrip('.')}; trying again until it is back")
                failures += 1
                self._ended.wait(min(LONGEST_BACKOFF, 0.1 * 2 ** min(failures, 10)))
            else:
                if failures and came is not None:
                    tell(f"{self.source.name} is back")
                    failures = 0

    def stop(self) -> None:
        """Let `run` return once the batch under way is settled."""
        self._ended.set()

    def step(self, service: Service) -> int | None:
        """Bring one batch, and return how many messages it had; None if the desk has no room."""
        if not service.read(self._has_room):
            self._ended.wait(PAUSE_SECONDS)
            return None
        messages = self.source.read(self._room, READ_SECONDS)
        for part in batches(messages, lambda message: message.values):
            self._bring(service, part)
        return len(messages)

    def _has_room(self, desk: Desk) -> bool:
        books = desk.books
        self.waiting = len(books.waiting)
        nobody_may_answer = asking.room(books) < 1 or desk.quality.stops()
        room = self.most_waiting - self.waiting
        # Before two classes are known, every item is asked about.
        every = not (books.knows_two_classes or nobody_may_answer)
        self._room = min(self.batch, room) if every else self.batch
        return len(books.classes) > 1 and (room > 0 or nobody_may_answer)

    def _bring(self, service: Service, messages: list[Message]) -> None:
        """Have the desk take messages, then settle them."""
        items: list[tuple[str, Item]] = []
        refused: dict[str, str] = {}
        name, ids = self.source.name, {message.id for message in messages}
        taken = service.read(lambda desk: desk.books.taken.get(name, set()) & ids)
        for message in messages:
            try:
                # What was taken before is not read again: it may have been deleted since.
                items.append((message.id, {} if message.id in taken else self._item(message)))
            except Exception as error:  # whatever a message holds, it must not stop the others
                refused[message.id] = str(error)
        try:
            reply = self._take(service, items)
        except (Refused, Unfit) as error:  # one of the items is to blame: find out which
            if len(messages) > 1:
                for message in messages:
                    self._bring(service, [message])
                return
            reply = {"added": 0, "known": 0, "refused": {messages[0].id: str(error)}}
        refused |= reply["refused"]
        self.added += reply["added"]
        self.known += reply["known"]
        self.waiting = reply.get("waiting", self.waiting)
        self.source.settle(messages, refused)
        self.dead += len(refused)

    def _take(self, service: Service, items: list[tuple[str, Item]]) -> Reply:
        name = self.source.name
        while True:
            try:
                return service.submit(lambda desk: desk.take(name, items, time())).result()
            except Full:
                if self._ended.wait(PAUSE_SECONDS):
                    raise Away("the intake was stopped while calls waited") from None

    def _item(self, message: Message) -> Item:
        """Return the item that a message is; without an id of its own it has the message's place.

        A hash of the content, as with files, would make one item of two messages that say the same.
        """
        if message.flaw:
            raise ValueError(message.flaw)
        values = message.values
        if self.columns.id is None and values.get("id") in (None, ""):
            values = values | {"id": message.place}
        item = entry_of(Record(values, message.place), self.columns, multilabel=True).item
        if "image" in item:
            Features([item], self.images).picture(item)
        return item
