"""Who answers the questions of a run: a program, a store of labels, or the file itself."""

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, Queue
from threading import Thread

from selectron.arrays import Given
from selectron.streams import Record

LONGEST_ANSWER = 10_000  # bytes
FAREWELL = 5.0  # seconds that a program has to end once nothing more is asked

Answering = Callable[[Record], Given]  # returns the label of a record, None if nobody knows


class Oracle:
    """A program that answers questions: a record in JSON a line in, a label a line out.

    An empty line says that nobody knows. Whatever is wrong with an answer ends the run, and the
    row in question is not learnt.
    """

    def __init__(self, command: str, timeout: float, hidden: str | None) -> None:
        self._timeout, self._hidden, self._n_asked = timeout, hidden, 0
        arguments = shlex.split(command)
        if not arguments:
            raise ValueError("--oracle is empty: name a program")
        try:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            raise ValueError(f"--oracle {command}: cannot start it: {error.strerror}") from None
        self._lines: Queue[bytes] = Queue()
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline(LONGEST_ANSWER + 1):
            self._lines.put(line)
        self._lines.put(b"")

    def __call__(self, record: Record) -> Given:
        """Ask for the label of a record."""
        self._n_asked += 1
        values = {name: value for name, value in record.values.items() if name != self._hidden}
        said = json.dumps(values, ensure_ascii=False, default=str).encode() + b"\n"
        assert self._process.stdin is not None
        if not self._lines.empty() and self._process.poll() is None:
            raise self._refusal(record, "it has answered more than it was asked")
        try:
            self._process.stdin.write(said)
            self._process.stdin.flush()
        except OSError:
            raise self._refusal(record, self._ended()) from None
        try:
            line = self._lines.get(timeout=self._timeout)
        except Empty:
            raise self._refusal(record, f"no answer within {self._timeout:g} s") from None
        return self._label(record, line)

    def _label(self, record: Record, line: bytes) -> str | None:
        if not line:
            raise self._refusal(record, self._ended())
        if len(line) > LONGEST_ANSWER:
            raise self._refusal(record, f"its answer is longer than {LONGEST_ANSWER:,} bytes")
        try:
            return line.decode().strip() or None
        except UnicodeDecodeError:
            raise self._refusal(record, "its answer is not UTF-8") from None

    def _ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            return f"it has ended, with exit code {self._process.wait(FAREWELL)}"
        return "it listens no more"

    def _refusal(self, record: Record, why: str) -> ValueError:
        return ValueError(f"the oracle fails at question {self._n_asked}, {record.place}: {why}")

    def close(self) -> None:
        """Say that nothing more is asked, and wait for the end."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(FAREWELL)
        if self._process.stdout is not None and not self._listener.is_alive():
            self._process.stdout.close()


@contextmanager
def oracle(command: str, timeout: float, hidden: str | None) -> Iterator[Answering]:
    """Start the program of a command, and end it afterwards."""
    started = Oracle(command, timeout, hidden)
    try:
        yield started
    finally:
        started.close()


def stored_labels(store: str, id_column: str | None, target: str | None) -> Answering:
    """Return what looks labels up in a store, by the ids that `selectron label` gives to items."""
    from selectron.cli.desks import books_of, reading
    from selectron.labelling.items import Columns, entry_of

    with reading(store) as opened:
        books = books_of(opened)
    if books.settings["multilabel"]:
        raise ValueError(f"{store} has several labels an item: runs are for one")
    known = {
        books.items[row]["id"]: max(given, key=lambda answer: answer.corrected).label
        for row, answers in books.answers.items()
        if (given := [answer for answer in answers if answer.label is not None])
    }
    if not known:
        raise ValueError(f"{store} has no labels yet")
    columns = Columns(id=id_column, label=target)
    return lambda record: known.get(entry_of(record, columns).item["id"])
