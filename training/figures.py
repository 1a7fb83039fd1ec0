"""How measured shares are written, and how sure they are. This module imports the standard library alone."""

import math
from typing import Any

Figures = dict[str, Any]
"""What was measured, by name."""


def wilson(count: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Return the score interval of the share `count` / `total`, of 95 % for z = 1.96; a share above 1 counts as 1.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927). Without
    any observation it is (0, 1).
    """
    if not total:
        return 0.0, 1.0
    share = min(1.0, count / total)
    middle = (share + z * z / 2 / total) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + z * z / 4 / total**2)
    return middle - half, middle + half


def percent(share: float, digits: int = 2) -> str:
    """Return a share 0..1 as a percentage with so many decimals."""
    return f"{100 * share:.{digits}f} %"
