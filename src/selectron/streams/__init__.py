"""Where rounds come from: files of records, or of rows with their labels."""

from selectron.streams.drifting import drifting
from selectron.streams.files import Stream, Unlabelled, read_stream
from selectron.streams.records import Record, read_batches, read_records
from selectron.streams.rows import FileRows
from selectron.streams.shards import Shards
from selectron.streams.two_classes import Sides, two_classes

__all__ = [
    "FileRows",
    "Record",
    "Shards",
    "Sides",
    "Stream",
    "Unlabelled",
    "drifting",
    "read_batches",
    "read_records",
    "read_stream",
    "two_classes",
]
