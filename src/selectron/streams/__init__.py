"""Where rounds come from: files of rows with their labels."""

from selectron.streams.drifting import drifting
from selectron.streams.files import Stream, read_stream
from selectron.streams.two_classes import two_classes

__all__ = ["Stream", "drifting", "read_stream", "two_classes"]
