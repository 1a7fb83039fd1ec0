"""Short names for the NumPy array types that the functions of this package take and give."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
AnyFloats = npt.NDArray[np.floating]
Halves = npt.NDArray[np.float16]
Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
