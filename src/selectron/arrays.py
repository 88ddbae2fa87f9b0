"""Names for kinds of arrays, and for what users pass, for annotations."""

from collections.abc import Hashable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.floating]
Matrix = NDArray[np.floating]
Indices = NDArray[np.integer]
Signs = NDArray[np.int8]
Codes = NDArray[np.signedinteger]  # labels: signs of two classes, numbers of more
Flags = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]  # of numbers of any type, or of labels
DType: TypeAlias = np.dtype[Any]  # of rows: float32 or float64

Label: TypeAlias = Hashable  # one label: text, a number, a boolean
Values: TypeAlias = dict[str, Any]  # a record: its values by the names of their columns
Table: TypeAlias = Any  # what users pass as rows: an array, a sparse matrix, a data frame, lists
Seed: TypeAlias = int | np.integer | np.random.Generator | np.random.RandomState | None
Given: TypeAlias = Any  # what users pass as labels: an array, lists, or an oracle to ask
