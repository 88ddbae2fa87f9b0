"""Names for the kinds of arrays, for annotations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.floating[Any]]
Matrix = NDArray[np.floating[Any]]
Indices = NDArray[np.integer[Any]]
Signs = NDArray[np.int8]
Codes = NDArray[np.signedinteger[Any]]  # labels: signs of two classes, numbers of more
