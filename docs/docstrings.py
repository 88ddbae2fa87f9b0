"""What the reader of docstrings (griffe) is told about ours."""

import re
from typing import Any

import griffe

RANGE = re.compile(r"^( +)>(?!>)", re.MULTILINE)


class OurDocstrings(griffe.Extension):
    """Show ranges such as "> 0" as they are, and constants of a class as no knobs."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Escape a leading ">", which Markdown takes for a quotation."""
        if obj.docstring is not None:
            obj.docstring.value = RANGE.sub(r"\1\>", obj.docstring.value)

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Keep `RANGES: ClassVar`, which griffe takes for a field, out of signatures."""
        for member in cls.members.values():
            if member.is_attribute and str(member.annotation) == "ClassVar":
                member.labels.discard("instance-attribute")
