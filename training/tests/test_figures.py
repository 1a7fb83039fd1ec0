"""Shares and their intervals."""

import pytest
from figures import percent, wilson


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [  # R: binom::binom.wilson with z = 1.96; the fifth: Newcombe, 1998, table I
        (1, 10, 0.01788, 0.40415),
        (0, 20, 0.0, 0.16113),
        (50, 100, 0.40383, 0.59617),
        (7, 5, 0.56551, 1.0),  # more errors than words count as all of them
        (81, 263, 0.2553, 0.3662),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
    ],
)
def test_wilson_intervals_have_their_published_values(count: int, total: int, low: float, high: float) -> None:
    assert wilson(count, total) == pytest.approx((low, high), abs=5e-5)


def test_without_observations_every_share_is_possible() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert percent(416 / 420) == "99.05 %"
