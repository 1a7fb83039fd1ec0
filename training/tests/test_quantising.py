"""The int8 values of matrices. Nothing here needs PyTorch."""

import numpy as np
import quantising


def test_a_matrix_is_nearly_its_values_times_their_scales() -> None:
    matrix = np.random.default_rng(1).normal(0, [[0.01, 1, 30]], (50, 3))
    matrix[:, 1] = 0
    values, scales = quantising.int8(matrix)
    assert (np.abs(values * scales - matrix) <= 0.51 * scales).all()
    assert values.dtype == np.int8
    assert (scales.astype(np.float16) == scales).all()


def test_two_products_fit_in_sixteen_bits() -> None:
    values, _ = quantising.int8(np.array([[-8.0, 1], [8, 1e-3]]))
    assert values.min() == -quantising.LARGEST
    assert values.max() == quantising.LARGEST
    assert np.iinfo(np.int16).max >= 2 * 255 * quantising.LARGEST
