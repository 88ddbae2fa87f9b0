"""Where rounds come from: files of rows with their labels."""

from selectron.streams.files import Stream, read_stream
from selectron.streams.two_classes import two_classes

__all__ = ["Stream", "read_stream", "two_classes"]
