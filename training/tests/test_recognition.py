"""Labels, splits by drawer, strokes, figures and cards of the recognisers. No public data is needed."""

import io
import json
import tomllib
import unicodedata
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from recognition import deform, folds, labels, metrics, samples, skeleton, strokes, testsets
from recognition.arrays import Mask

MODELS = Path(__file__).parents[2] / "models"


def bar(height: int = 40, width: int = 30) -> Mask:
    """A thick vertical stroke with paper around it."""
    mask = np.zeros((height, width), np.uint8)
    mask[4:-4, width // 2 - 3 : width // 2 + 3] = 255
    return mask


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of data with letters of twenty drawers, two classes, and no typefaces."""
    base = tmp_path / "handwriting/omniglot-gurmukhi"
    base.mkdir(parents=True)
    rows = ["char_index,omniglot_dir,file_prefix,codepoint,char", "1,a,1160,U,ੳ", "8,b,1167,U,ਗ"]
    (base / "classes.csv").write_text("\n".join(rows), "utf-8")
    png = io.BytesIO()
    Image.fromarray(255 - bar()).save(png, "PNG")
    lines = []
    with zipfile.ZipFile(base / "images.zip", "w") as archive:
        for prefix, character in ((1160, "ੳ"), (1167, "ਗ")):
            for drawer in range(1, 21):
                archive.writestr(f"{prefix}_{drawer:02}.png", png.getvalue())
                stroke = [[10, 10 + drawer], [50, 20], [90, 80]]
                drawing = {"id": f"{prefix}_{drawer:02}", "char": character, "drawer": drawer, "strokes": [stroke]}
                lines.append(json.dumps(drawing))
    broken = {"id": "1172_07", "char": "ਗ", "drawer": 7, "strokes": [[[0, 0], [9, 9]]]}
    missing = {"id": "1167_21", "char": "ਗ", "drawer": 3, "strokes": None}
    lines += [json.dumps(broken), json.dumps(missing)]
    (base / "gurmukhi_strokes.jsonl").write_text("\n".join(lines), "utf-8")
    return tmp_path


# Labels.


def test_the_alphabet_has_35_letters_and_6_pair_bindi_letters_in_nfc() -> None:
    assert len(labels.LETTERS) == 35
    assert len(labels.ALPHABET) == len(set(labels.ALPHABET)) == 41
    assert labels.DIGITS[0] == "੦"
    assert labels.DIGITS[9] == "੯"
    for label in labels.ALPHABET + labels.DIGITS:
        assert unicodedata.normalize("NFC", label) == label
    assert unicodedata.normalize("NFC", "\u0a36") == labels.PAIRS[0]  # the precomposed letter is not NFC


@pytest.mark.parametrize("model", list(labels.SETS))
def test_labels_agree_with_the_manifests(model: str) -> None:
    stored = tomllib.loads((MODELS / f"{model}.toml").read_text("utf-8"))
    assert stored["labels"] == labels.SETS[model]
    assert stored["operation"] == labels.OPERATIONS[model]


def test_no_character_that_is_no_label_is_a_label() -> None:
    for model, others in labels.OTHERS.items():
        assert not set(others) & set(labels.SETS[model])


# Splits by drawer.


def test_a_drawer_is_in_one_fold() -> None:
    assert [folds.fold_of(drawer) for drawer in (1, 5, 6, 20)] == [0, 4, 0, 4]
    assert {drawer for drawer in range(1, 21) if folds.fold_of(drawer) not in folds.MEASURED} == {4, 9, 14, 19}


def test_samples_are_held_out_with_their_drawer() -> None:
    assert folds.of_fold([0, 5, 10, 1], 4).tolist() == [False, True, True, False]


def test_the_measured_letters_of_two_folds_share_no_drawer(data: Path) -> None:
    parts = [{name[-2:] for name, _, _ in testsets.letters(data, fold)} for fold in range(folds.N_FOLDS)]
    assert [len(part) for part in parts] == [4] * 5
    assert len(set.union(*parts)) == 20
    assert len(testsets.letters(data)) == 40


def test_a_pair_bindi_picture_does_not_depend_on_the_fold(data: Path) -> None:
    every = {name: mask for name, _, mask in testsets.pair_bindi(data)}
    part = testsets.pair_bindi(data, 2)
    assert len(every) == 4 * 20
    assert {name.split()[1] for name, _, _ in part} == {"03", "08", "13", "18"}
    assert all((every[name] == mask).all() for name, _, mask in part)
    assert {label for _, label, _ in part} == {labels.ALPHABET.index("ਗ" + labels.NUKTA)}


def test_defective_and_missing_drawings_are_left_out(data: Path) -> None:
    drawings = strokes.omniglot(data)
    assert len(drawings) == 40
    assert {d.label for d in strokes.omniglot(data, ["ੳ"])} == {"ੳ"}


# Strokes.


def test_resampling_keeps_the_ends_and_the_spacing() -> None:
    line = strokes.resample([[0, 0], [1, 0], [1, 1]], 0.5)
    assert line.tolist() == [[0, 0], [0.5, 0], [1, 0], [1, 0.5], [1, 1]]
    assert strokes.resample([[3, 4]], 0.5).tolist() == [[3, 4], [3, 4]]
    assert len(strokes.resample([[0, 0], [1, 0]], 0.3)) == 5  # four steps of 0.25


def test_a_spline_goes_through_its_points() -> None:
    points = [[0, 0], [1, 2], [3, 1], [4, 4]]
    curve = strokes.catmull_rom(points, per_span=10)
    assert curve[::10].tolist() == points


def test_templates_are_normalised_drawings_of_every_digit() -> None:
    drawings = strokes.templates()
    assert {d.label for d in drawings} >= set(labels.DIGITS)
    for drawing in drawings:
        points = np.concatenate(drawing.strokes)
        span = np.ptp(points, 0)
        assert 0.9 < span.max() < 1.001  # smoothing takes a little off the ends' neighbours
        assert np.abs(points).max() < 0.501
        for stroke in drawing.strokes:
            assert np.hypot(*np.diff(stroke, axis=0).T).max() < strokes.SPACING + 1e-4


def test_a_thick_bar_thins_to_a_line() -> None:
    line = skeleton.thin(bar() > 0)
    assert line.sum(1).max() == 1
    assert 24 <= line.sum() <= 32  # of 32 rows of ink; thinning takes some off the ends
    assert not line[:, :11].any()


def test_a_cross_is_traced_as_two_strokes() -> None:
    cross = np.zeros((61, 61), bool)
    cross[30, 5:56] = cross[5:56, 30] = True
    found = skeleton.trace(cross, shortest=5)
    assert len(found) == 2
    assert sorted(tuple(np.ptp(s, 0).round().astype(int)) for s in found) == [(0, 50), (50, 0)]
    assert skeleton.strokes_of(np.zeros((9, 9), bool), 3) is None


# Changes of strokes.


def test_a_long_flat_stroke_above_is_a_headline() -> None:
    low, high = np.array([0.0, 0.0]), np.array([1.0, 1.0])
    assert deform.is_headline(np.array([[0.1, 0.05], [0.9, 0.0]]), low, high)
    assert not deform.is_headline(np.array([[0.1, 0.95], [0.9, 1.0]]), low, high)  # below
    assert not deform.is_headline(np.array([[0.4, 0.05], [0.7, 0.0]]), low, high)  # short
    assert not deform.is_headline(np.array([[0.1, 0.3], [0.9, 0.0]]), low, high)  # steep


def test_strokes_are_paired_in_any_order_and_direction() -> None:
    ours = np.array([[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.5], [0.0, 1.0]]])
    theirs = np.array([[[0.0, 1.1], [0.0, 0.5]], [[1.0, 0.1], [0.0, 0.0]]])
    paired = deform.paired(ours, theirs)
    assert paired is not None
    assert paired.tolist() == [[[0.0, 0.0], [1.0, 0.1]], [[0.0, 0.5], [0.0, 1.1]]]
    assert deform.paired(ours, theirs + 1) is None


@pytest.mark.parametrize("label", labels.PAIRS)
def test_a_nukta_is_small_and_beside_the_letter(label: str) -> None:
    letter = [np.array([[-0.5, -0.5], [0.5, -0.5]], np.float32), np.array([[0.3, -0.5], [0.3, 0.5]], np.float32)]
    for seed in range(30):
        made = deform.nukta(letter, np.random.default_rng(seed), label)
        dot = np.concatenate(made[2:])
        assert all((a == b).all() for a, b in zip(made[:2], letter, strict=True))
        assert np.ptp(dot, 0).max() < 0.25
        assert np.abs(dot).max() < 0.85
    with pytest.raises(ValueError, match="no nukta"):
        deform.nukta(letter, np.random.default_rng(0), label[0])


# Samples.


def test_samples_are_the_same_for_the_same_seed(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples.fonts, "glyphs", lambda *_: [("੧", bar())])
    maker = samples.Maker(data, "digits-pa")
    first, second = ([maker.sample(rng) for _ in range(40)] for rng in map(np.random.default_rng, (9, 9)))
    for a, b in zip(first, second, strict=True):
        assert (a.label, a.origin) == (b.label, b.origin)
        assert (a.pixels == b.pixels).all()
    found = {sample.label for sample in first}
    assert labels.NOTHING in found
    assert found <= {labels.NOTHING, *range(10)}
    assert all(s.origin == 0 for s in first if s.label >= 0)  # no drawer drew a digit


# Figures.


def test_scores_of_four_pictures() -> None:
    rows = np.array([[0.7, 0.2, 0.1, 0], [0.6, 0.3, 0.1, 0], [0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.1, 0.7]])
    found = metrics.scores(rows, [0, 1, 3, 3])
    assert (found["n"], found["errors"], found["errors3"]) == (4, 2, 1)
    assert (found["top1"], found["top3"]) == (0.5, 0.75)
    # Bins of 1/15: two pictures at 0.7, both right; one at 0.6 and one at 0.4, both wrong.
    assert found["ece"] == pytest.approx((2 * 0.3 + 0.6 + 0.4) / 4)
