"""Pictures of items: found by the item's id, from one folder or from the item itself.

A client names an item, never a file. The name in the item is followed inside the folder only, and
what is sent is known to be a picture by its first bytes. SVG is not served: it can run scripts.
"""

import base64
import binascii
from pathlib import Path
from typing import NamedTuple

from selectron.labelling.events import Item

LARGEST = 32 << 20
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
)


class Picture(NamedTuple):
    kind: str
    data: bytes


def read(item: Item, folder: Path | None) -> Picture | None:
    """Return the picture of an item, or None where there is none to show."""
    source = item.get("image")
    if not isinstance(source, str):
        return None
    data = _from_data(source) if source.startswith("data:") else _from_file(source, folder)
    kind = None if data is None else _kind(data)
    return None if data is None or kind is None else Picture(kind, data)


def _from_data(source: str) -> bytes | None:
    head, _, body = source.partition(",")
    if not head.endswith(";base64"):
        return None
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error:
        return None


def _from_file(name: str, folder: Path | None) -> bytes | None:
    if folder is None or "\0" in name:
        return None
    root = folder.resolve()
    try:
        path = (root / name).resolve()
        if not path.is_relative_to(root) or not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return path.read_bytes()
    except OSError:
        return None


def _kind(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _BEGINNINGS if data.startswith(start)), None)
