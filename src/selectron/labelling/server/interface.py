"""The labelling interface of a project of Label Studio: what it shows, and what one may choose."""

import re
from itertools import takewhile
from typing import NamedTuple
from xml.parsers import expat

from selectron.arrays import Values
from selectron.labelling.checks import Refused, shown
from selectron.labelling.events import Item
from selectron.labelling.items import NOT_SHOWN, found_content

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|/")  # on the network, or of Label Studio
LONGEST = 100_000


class Interface(NamedTuple):
    """What predictions and annotations name, and which column of a task is shown."""

    from_name: str = "label"
    to_name: str = "text"
    choices: tuple[str, ...] = ()
    several: bool = False
    tag: str = ""
    column: str = ""
    by_address: bool = False  # the column holds where the content is
    known: bool = False  # whether anybody told

    def content(self, data: Values, kind: str | None) -> Item:
        """Return what a desk of this kind of items takes of a task; the other fields stay out."""
        content = self._content(data, kind)
        image, text = content.get("image", ""), content.get("text", "")
        if ADDRESS.match(image) or (text and self.by_address):
            raise Refused(
                422,
                f"The task holds an address, {shown(image or text)}, and nothing is read there.",
                "Import texts as they are, and pictures as data: addresses or, with a folder "
                "of pictures, by their names in it.",
            )
        return content

    def check(self, classes: list[str], multilabel: bool) -> None:
        """Refuse choices that are not the classes of a desk. Choices of a task are not known."""
        other = [name for name in self.choices if name not in classes]
        missing = [name for name in classes if name not in self.choices]
        if self.choices and (other or missing):
            fault = f"has the choice {shown(other[0])}" if other else f"lacks {shown(missing[0])}"
            raise Refused(
                422,
                f"The labelling interface {fault}, and the classes are {shown(classes)}.",
                "Give it one choice a class, or add the class to the desk.",
            )
        if self.several and not multilabel:
            raise Refused(
                422,
                "The labelling interface takes several choices, and an item here has one class.",
                'Give it choice="single", or begin a store with --multilabel.',
            )

    def _content(self, data: Values, kind: str | None) -> Item:
        if kind == "fields" and not isinstance(data.get("fields"), dict):
            return {
                "fields": {name: value for name, value in data.items() if name not in NOT_SHOWN}
            }
        value = data.get(self.column)
        if kind in (None, "text", "image") and isinstance(value, str | int | float):
            return {"image" if self.tag == "Image" else "text": str(value)}
        try:
            return found_content(data)
        except ValueError as error:
            raise Refused(422, f"A task has nothing to show: {error}.", "Import it anew.") from None


def interface_of(config: str) -> Interface:
    """Read an interface, a text in XML. A document type is refused: it could define entities.

    Examples
    --------
    >>> both = "<Text name='t' value='$body'/><Choices name='kind' toName='t'/>"
    >>> interface_of(f"<View>{both}</View>")[:2]
    ('kind', 't')
    """
    tags = _tags(config)
    start = next((n for n, (tag, _) in enumerate(tags) if tag == "Choices"), None)
    if start is None:
        raise Refused(422, "The labelling interface has no Choices.", "Add them, one a class.")
    inside = takewhile(lambda found: found[0] != "/Choices", tags[start:])
    choices = tags[start][1]
    to_name = choices.get("toName", "text").partition(",")[0]
    objects = (found for found in tags if found[1].get("name") == to_name)
    tag, shows = next(objects, ("", {}))
    return Interface(
        from_name=choices.get("name", "label"),
        to_name=to_name,
        choices=tuple(
            each.get("alias") or each.get("value", "") for tag, each in inside if tag == "Choice"
        ),
        several=choices.get("choice") == "multiple",
        tag=tag,
        column=shows.get("value", "").removeprefix("$"),
        by_address=shows.get("valueType") == "url",
        known=True,
    )


def _tags(config: str) -> list[tuple[str, dict[str, str]]]:
    """Return the tags in their order; one that closes begins with a slash."""
    if len(config) > LONGEST:
        raise Refused(
            422, f"The labelling interface has {len(config):,} characters.", "Make it shorter."
        )
    tags: list[tuple[str, dict[str, str]]] = []
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.StartElementHandler = lambda tag, attributes: tags.append((tag, attributes))
    parser.EndElementHandler = lambda tag: tags.append((f"/{tag}", {}))
    try:
        parser.Parse(config, True)
    except (expat.ExpatError, UnicodeError) as error:
        raise Refused(
            422,
            f"The labelling interface is not XML: {error}.",
            "Send it as Label Studio keeps it.",
        ) from None
    return tags


def _refuse_document_type(*declared: object) -> None:
    raise Refused(422, "The labelling interface declares a document type.", "Leave it out.")
