"""The cards and the metrics of the manifests, from the stored figures. No public data is needed."""

import tomllib
from pathlib import Path

import cards
import manifests
import pytest
from figures import percent, wilson

MODELS = Path(__file__).resolve().parents[2] / "models"


@pytest.mark.parametrize("model", list(cards.DERIVED))
def test_a_card_is_what_the_stored_figures_give(model: str) -> None:
    assert cards.text(model, cards.stored(model), MODELS) == (MODELS / f"cards/{model}.md").read_text("utf-8")


@pytest.mark.parametrize("model", cards.installed(MODELS))
def test_metrics_are_what_the_stored_figures_give(model: str) -> None:
    manifest = (MODELS / f"{model}.toml").read_text("utf-8")
    metrics = cards.metrics(model, cards.stored(model), MODELS)
    assert tomllib.loads(manifest)["metrics"] == metrics
    assert manifests.with_table(manifest, "metrics", metrics) == manifest


def test_readings_are_cells() -> None:
    read = {"n": 420, "errors": 4, "top1": 416 / 420, "errors3": 1, "top3": 419 / 420}
    assert cards.reading(read) == "420 | 416 | 99.05 % | 97.6–99.6 | 419 | 99.76 %"
    assert cards.reading({"n": 420, "top1": 416 / 420, "top3": 419 / 420}) == cards.reading(read)


def test_the_fold_figures_add_up_to_those_of_the_card() -> None:
    results = cards.stored("letters-pa")
    parts = results["parts"].values()
    assert sum(part["n"] for part in parts) == results["handwriting"]["n"] == 559
    assert sum(part["errors"] for part in parts) == results["handwriting"]["errors"]
    assert results["labels41"]["errors"] == results["handwriting"]["errors"] + results["pair_bindi"]["errors"]


def test_a_missing_figure_is_named() -> None:
    with pytest.raises(ValueError, match=r"there is no figure training\.hours: hours is missing"):
        cards.Template().vformat("{training.hours}", (), {"training": {"steps": 1}})
    found = cards.stored("letters-pa")
    del found["printed"]
    with pytest.raises(ValueError, match="no figure printed"):
        cards.text("letters-pa", found, MODELS)


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
