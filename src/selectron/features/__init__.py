"""What a row is made of: records, texts, pictures and vectors as columns of numbers.

Nothing is learnt here: the first records decide, and then every machine makes the same row.
"""

from selectron.features.items import Features, Kind, kind_of
from selectron.features.recipe import Recipe

__all__ = ["Features", "Kind", "Recipe", "kind_of"]
