"""Which drawers of omniglot-gurmukhi are held out together: fold = (drawer - 1) mod 5, drawers counted from 1.

A network "without fold 2" has seen nothing that was made from a drawer of fold 2, and only such a network is measured
on that fold's drawers.
"""

import numpy as np
import numpy.typing as npt

from .arrays import Bool

N_FOLDS = 5
# The folds that are measured: the data leaves out the drawers of fold 3 (04, 09, 14, 19).
MEASURED = (0, 1, 2, 4)


def fold_of(drawer: int) -> int:
    """The fold 0..4 of a drawer, who is numbered from 1."""
    return (drawer - 1) % N_FOLDS


def of_fold(origins: npt.ArrayLike, fold: int) -> Bool:
    """Which samples are made from a drawer of the fold, (n,).

    `origins`: the drawer of each sample, integers (n,), 0 for none.
    """
    drawers = np.asarray(origins)
    made_from: Bool = (drawers > 0) & ((drawers - 1) % N_FOLDS == fold)
    return made_from
