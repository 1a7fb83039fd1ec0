"""Names for the arrays that pass between the modules of `recognition` and `handwriting`.

Positions are x to the right and y down. A drawing is a list of strokes, a stroke the pen's positions in order.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

# Pen positions (n, 2) as they are stored, and in either precision where a function takes both.
Points: TypeAlias = npt.NDArray[np.float32]
AnyPoints: TypeAlias = npt.NDArray[np.floating[Any]]
# Float arrays of the shape that the docstring gives.
Float32: TypeAlias = npt.NDArray[np.float32]
Float64: TypeAlias = npt.NDArray[np.float64]
Int64: TypeAlias = npt.NDArray[np.int64]
Bool: TypeAlias = npt.NDArray[np.bool_]
# Ink as 0..255 (height, width), 255 where there is ink; the same as coverage 0..1.
Mask: TypeAlias = npt.NDArray[np.uint8]
Coverage: TypeAlias = npt.NDArray[np.float32]
# RGB pixels 0..255 (height, width, 3).
Picture: TypeAlias = npt.NDArray[np.uint8]
# Ink squares 0..255, one (SIDE, SIDE) or a batch (n, SIDE, SIDE): what the feature filter makes of pictures.
Squares: TypeAlias = npt.NDArray[np.uint8]
