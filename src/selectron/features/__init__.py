"""What a row is made of: texts, pictures, records and vectors as columns of numbers.

Nothing is learnt here, so every machine makes the same row of the same item.
"""

from selectron.features.items import Features, Kind, kind_of

__all__ = ["Features", "Kind", "kind_of"]
