"""Labelling in a terminal: the keys of the page, without a server."""

import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, time
from uuid import uuid4

from selectron.labelling.checks import Refused
from selectron.labelling.desk import Decision, Desk
from selectron.labelling.events import Item, Reply
from selectron.labelling.service import Service

DIGITS = "1234567890"
UNDO = "u\x7f\b"  # terminals send one or the other for Backspace
WIDTH = 88
LONGEST = 4000  # characters of an item that are shown; the page shows all
HELP = """\
1-9, 0   choose that class           space  skip: nobody knows
a, x     accept, reject, where there are two classes
u        undo the last answer, as Backspace does
g        show what the learner guesses
/        choose by the first letters, then Enter
?        this help                   q      quit; everything is kept"""


class Terminal:
    """Questions one after the other, answered by single keys."""

    def __init__(self, service: Service, annotator: str) -> None:
        self._service, self._annotator = service, annotator
        self._given: list[tuple[str, str]] = []  # the id of each answer, and its item
        self._again: str | None = None  # the item whose answer was just undone

    def run(self) -> None:
        """Ask until there is nothing to ask, or somebody quits."""
        self._name_classes()
        _say(HELP)
        with _single_keys():
            while question := self._next():
                if not self._ask(question):
                    return

    def _name_classes(self) -> None:
        while len(self._service.read(lambda desk: desk.books.classes)) < 2:
            try:
                line = input("Classes, with commas between them: ")
            except EOFError:
                raise ValueError("there are no two classes: give --classes A,B") from None
            names = [name.strip() for name in line.split(",") if name.strip()]
            self._add(names)

    def _add(self, names: list[str]) -> None:
        self._do(lambda desk: desk.add_classes(names, time()))

    def _do(self, command: Callable[[Desk], Decision]) -> Reply:
        return self._service.submit(command).result()

    def _next(self) -> Reply | None:
        """Return the next question; after an undo the one that was undone."""
        n = 2 if self._again else 1
        reply = self._do(lambda desk: desk.next(self._annotator, n, monotonic(), time()))
        if not reply["questions"]:
            _say(reply["why"])
            return None
        questions: list[Reply] = reply["questions"]
        undone = [q for q in questions if q["item"]["id"] == self._again]
        self._again = None
        return (undone or questions)[0]

    def _ask(self, question: Reply) -> bool:
        """Show a question and follow keys until it is settled; False if somebody quits."""
        several = self._show(question)
        chosen: list[str] = []
        for key in _keys():
            if key == "q":
                return False
            if key == " ":
                return self._send(question, None)
            if key in UNDO and self._undo():
                return True
            if several and key in "\r\nax":
                return self._send(question, [] if key == "x" else chosen)
            name = self._named(key, question)
            if name and not several:
                return self._send(question, name)
            if name:
                (chosen.remove if name in chosen else chosen.append)(name)
                _say(f"chosen: {', '.join(chosen) or 'none'}")
        return False  # the end of the input

    def _show(self, question: Reply) -> bool:
        """Print a question; return whether an item may have several classes."""
        status = self._service.read(Desk.status)
        options, several = question["options"], bool(status["multilabel"])
        names = "   ".join(f"{key} {name}" for key, name in zip(DIGITS, options, strict=False))
        more = f"   / {len(options) - len(DIGITS)} more" if len(options) > len(DIGITS) else ""
        _say(f"\n{status['labels']} labels. {question['reason']['text']}")
        _say(_shortened(_shown(question["item"])))
        _say(f"{status['question']}   {names}{more}{'   Enter sends' if several else ''}")
        return several

    def _named(self, key: str, question: Reply) -> str | None:
        """Return the class that a key chooses, or tell what a key asks for."""
        options: list[str] = question["options"]
        if key in "?g":
            guess = f"the learner guesses {question['guess'] or 'nothing yet'}"
            _say(HELP if key == "?" else guess)
        if key in "ax":
            return self._accepted(key == "a", options)
        if key == "/":
            _say("first letters, then Enter:")
            letters = ""
            for more in _keys():
                if more in "\r\n":
                    break
                letters += more
            found = [name for name in options if name.lower().startswith(letters.lower())]
            found = [letters] if letters in options else found  # "cat" beside "cattle"
            if len(found) != 1:
                _say(f"{len(found)} classes begin with {letters!r}")
            return found[0] if len(found) == 1 else None
        place = DIGITS.find(key)
        return options[place] if 0 <= place < len(options) else None

    def _accepted(self, accept: bool, options: list[str]) -> str | None:
        """Return the class that Prodigy's keys choose: of two, accept is the positive one."""
        if len(options) != 2:
            _say("a and x answer questions with two classes")
            return None
        settings = self._service.read(lambda desk: desk.books.settings)
        positive: str | None = settings["positive"]
        return options[(positive == options[1]) == accept]

    def _send(self, question: Reply, label: str | list[str] | None) -> bool:
        id, name = uuid4().hex, question["question"]
        try:
            self._do(
                lambda desk: desk.answer(
                    id, name, label, self._annotator, monotonic(), time(), skip=label is None
                )
            )
            self._given.append((id, question["item"]["id"]))
            _say("skipped" if label is None else f"-> {label}")
        except Refused as refusal:
            _say(str(refusal))
        return True

    def _undo(self) -> bool:
        if not self._given:
            _say("there is nothing to undo")
            return False
        id, self._again = self._given.pop()
        self._do(lambda desk: desk.undo(id, self._annotator, time()))
        _say("undone")
        return True


def _shown(item: Item) -> str:
    if "image" in item:
        name = item["image"]
        return "a picture, which only the page can show" if name.startswith("data:") else name
    if "fields" in item:
        return "\n".join(f"{name}: {value}" for name, value in item["fields"].items())
    text = str(item.get("text", item.get("vector")))
    return "\n".join(textwrap.fill(line, WIDTH) for line in text.splitlines())


def _shortened(text: str) -> str:
    """Keep the keys in sight: a long item is cut."""
    left = len(text) - LONGEST
    return text if left <= 0 else f"{text[:LONGEST]}\n[{left:,} more characters: see the page]"


def _say(text: str) -> None:
    """Print a text. Control characters of items would move the cursor, or worse."""
    print("".join(c if c.isprintable() or c == "\n" else "·" for c in text), flush=True)


def _keys() -> Iterator[str]:
    while key := sys.stdin.read(1):
        yield key


@contextmanager
def _single_keys() -> Iterator[None]:
    """Let a terminal give each key at once; a pipe gives its characters anyway."""
    if not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
