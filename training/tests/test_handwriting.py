"""The glyph table, registration, the writers' statistics and the model's arrays. No public data is needed."""

import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from handwriting import (
    basis,
    drawings,
    generate,
    glyphs,
    hands,
    lines,
    model,
    register,
)
from handwriting.drawings import Drawn
from recognition.arrays import Float64
from recognition.labels import ALPHABET, DIGITS, LETTERS

MODELS = Path(__file__).parents[2] / "models"
VOWELS = list("ਆਇਈਉਊਏਐਓਔ")


@pytest.fixture(scope="module")
def table() -> dict[str, glyphs.Glyph]:
    return {glyph.text: glyph for glyph in glyphs.table()}


@pytest.fixture(scope="module")
def shapes(table: dict[str, glyphs.Glyph]) -> dict[str, Float64]:
    """Taught strokes in evenly spaced points, which need no network."""
    return {text: np.stack([glyphs.even(s, glyphs.POINTS) for s in g.strokes]) for text, g in table.items()}


@pytest.fixture(scope="module")
def kept(shapes: dict[str, Float64]) -> dict[str, list[Drawn]]:
    """Drawings by four drawers, ਅ twice: the taught shape slanted by the drawer and bent by the drawing."""
    rng = np.random.default_rng(3)
    found: dict[str, list[Drawn]] = {}
    for text in "ਅਕਸਜਖਰਆਇਉਏ":
        for drawer in (1, 2, 3, 4):
            for _ in range(2 if text == hands.TWICE else 1):
                shape = shapes[text]
                slant = np.array([[0.0, 0.0], [0.1 * (drawer - 2.5), 0.0]])
                bend = rng.normal(0, 0.02, (*shape.shape[:1], 2, 4)) @ basis.COSINES[1:5] * 3
                points = shape + shape @ slant + bend.transpose(0, 2, 1)
                found.setdefault(text, []).append(Drawn(drawer, points, []))
    return found


# Glyphs.


def test_glyphs_are_those_of_the_manifest_in_its_order(table: dict[str, glyphs.Glyph]) -> None:
    stored = tomllib.loads((MODELS / "handwriting-pa.toml").read_text("utf-8"))
    assert list(table) == stored["glyphs"]
    assert len(table) == 111
    assert set(LETTERS + DIGITS + VOWELS + [ALPHABET[-1][1]]) <= set(table)


def test_glyphs_are_in_body_heights(table: dict[str, glyphs.Glyph]) -> None:
    for glyph in table.values():
        points = np.concatenate(glyph.strokes)
        assert -0.6 < points[:, 1].min() < points[:, 1].max() < 1.7
        if glyph.kind in ("letter", "digit", "mark"):
            assert points[:, 0].min() == pytest.approx(0, abs=1e-12)
        for stroke in glyph.strokes:
            steps = np.hypot(*np.diff(stroke, axis=0).T)
            assert steps.max() < 1.3 * glyphs.FINE


def test_a_line_of_the_table() -> None:
    glyph = glyphs.glyph("ਜ | letter | 0:94 | 20,36 20,100 / 75,0 75,100")
    assert (glyph.text, glyph.kind) == ("ਜ", "letter")
    assert glyph.head[0].tolist() == pytest.approx([-0.2, 0.74])  # the left edge, at 0.2, becomes x = 0
    assert glyph.head[1, 0] >= glyph.head[1, 1]  # no second span
    assert glyph.strokes[0][[0, -1]].ravel().tolist() == pytest.approx([0, 0.36, 0, 1])
    assert len(glyph.strokes[1]) == 101  # a body height in steps of a hundredth
    with pytest.raises(ValueError, match="class word"):
        glyphs.glyph("ਜ | word | - | 20,36 20,100")
    with pytest.raises(ValueError, match="6 strokes"):
        glyphs.glyph("ਜ | letter | - | " + " / ".join(["0,0 0,9"] * 6))


def test_curves_go_through_their_points_and_corners_stay_sharp() -> None:
    points = np.array([[0.0, 0.0], [0.5, 0.4], [1.0, 0.0], [1.2, 0.6]])
    assert glyphs.spline(points, 10)[::10] == pytest.approx(points)
    assert glyphs.spline(points[:2], 4)[:, 1] == pytest.approx(0.8 * glyphs.spline(points[:2], 4)[:, 0])
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    sharp = glyphs.curve(square, [False, True, False])
    assert np.hypot(*(sharp - square[1]).T).min() < 1e-9
    assert lines.length(sharp) == pytest.approx(2)
    assert lines.length(glyphs.curve(square, [False, False, False])) > 2.03  # rounded, outside the corner


# Lines.


def test_lengths_and_turning_of_known_lines() -> None:
    assert lines.length(np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]])) == pytest.approx(6)
    straight = lines.geometry(np.stack([np.linspace(0, 2, 101), np.zeros(101)], 1))
    assert straight.shape == (101, 7)
    assert straight[:, :3] == pytest.approx(0, abs=0.03)  # 1e-6 beside a cosine of 1
    assert straight[[0, -1], 5].tolist() == [0, 1]
    assert straight[:, 6] == pytest.approx(np.log(2))
    at = np.linspace(0, 2, 201)
    circle = lines.geometry(np.stack([np.cos(at), np.sin(at)], 1))
    # On a circle of radius 1 the chords of 0.15 before and after a point differ by 0.15 in heading.
    assert circle[50:150, 1] == pytest.approx(0.15, abs=1e-3)
    assert circle[20, 3] == pytest.approx(np.exp(-1), abs=1e-3)  # 0.2 from the beginning


# Registration.


@pytest.mark.parametrize("text", ["ਕ", "ਜ", "ਅ"])
def test_a_drawing_of_the_taught_shape_is_fitted(
    text: str, table: dict[str, glyphs.Glyph], shapes: dict[str, Float64]
) -> None:
    """Drawn at 50 pixels a body height, in another order and direction, with its headline."""
    spans = [s for s in table[text].head if s[0] < s[1]]
    there = [s * 50 + [20, 30] for s in shapes[text][::-1, ::-1]]
    there += [np.array([[a, 0.0], [b, 0.0]]) * 50 + [20, 30] for a, b in spans]
    fit = register.register(shapes[text], spans, there)
    assert fit.far < 0.03
    assert len(fit.spans) == len(spans)
    assert np.hypot(*np.moveaxis(fit.points - (shapes[text] * 50 + [20, 30]), -1, 0)).mean() < 1.5  # pixels
    points, ends, scale = register.upright(fit, shapes[text])
    assert scale == pytest.approx(50, rel=0.03)
    assert np.hypot(*np.moveaxis(points - shapes[text], -1, 0)).mean() < 0.03
    assert np.abs(np.array(ends) - spans).max() < 0.06
    twice, _, measured = register.upright(fit, shapes[text], 2 * scale)
    assert twice == pytest.approx(points / 2)
    assert measured == scale


def test_a_slanted_headline_is_levelled_unless_it_is_short() -> None:
    line = np.stack([np.linspace(0, 100, 24), np.linspace(0, 10, 24)], 1)
    level = line @ register.turn_of([line], 50.0).T
    assert np.ptp(level[:, 1]) < 1e-9
    assert lines.length(level) == pytest.approx(lines.length(line))
    assert register.turn_of([line], 400.0).tolist() == np.eye(2).tolist()
    assert register.turn_of([line, line + 150], 50.0).tolist() == np.eye(2).tolist()


def test_an_affine_map_is_found_and_held_to_the_identity() -> None:
    a = np.random.default_rng(1).normal(size=(500, 2))
    b = a @ np.array([[1.2, 0.1], [0.0, 0.9]]) + [3, -1]
    found = drawings.affine(a, b, hold=0)
    assert found == pytest.approx(np.array([[3, -1], [1.2, 0.1], [0.0, 0.9]]), abs=1e-3)
    assert np.abs(drawings.affine(a, b, hold=1e6)[1:] - np.eye(2)).max() < 1e-3


def test_a_stroke_without_ink_follows_the_others(shapes: dict[str, Float64]) -> None:
    canon = shapes["ਖ"]
    lost = canon + 0.5
    lost[2] = lost[2, :1]  # the last stroke shrunk to a point
    mended = drawings.mend(Drawn(1, lost, []), canon)
    assert mended is not None
    assert (mended.points[:2] == lost[:2]).all()
    assert np.abs(mended.points[2] - canon[2] - 0.5).max() < 0.1
    lost[1:] = lost[1:, :1]
    lost[0] = lost[0, :1]
    assert drawings.mend(Drawn(1, lost, []), canon) is None


def test_strange_drawings_are_left_out(shapes: dict[str, Float64]) -> None:
    canon, rng = shapes["ਕ"], np.random.default_rng(2)
    rows = [Drawn(k, canon + rng.normal(0, 0.01, canon.shape), []) for k in range(9)]
    turned = Drawn(9, canon[:, ::-1], [])
    assert [d.hand for d in drawings.usual([*rows, turned], canon)] == list(range(9))


# The writers' statistics and the model.


def test_drawers_are_orthonormal_in_the_writers_space(kept: dict[str, list[Drawn]], shapes: dict[str, Float64]) -> None:
    known, means, n_pairs = hands.learn(kept, shapes)
    assert sorted(known.codes) == [1, 2, 3, 4]
    assert n_pairs == 4
    codes = np.stack([known.codes[k] for k in (1, 2, 3, 4)])
    assert codes @ codes.T == pytest.approx(4 * np.eye(4))
    # The first component is what the drawers differ in most, their slant.
    assert np.abs(np.corrcoef(codes[:, 0], [-1.5, -0.5, 0.5, 1.5])[0, 1]) > 0.99
    assert ((known.share >= 0.15 * hands.OWN_VARIANCE) & (known.share <= 0.95 * hands.OWN_VARIANCE)).all()
    assert all(len({known.share[k] for k in range(a, b)}) == 1 for a, b in pairwise(hands.BANDS))
    shifted = [Drawn(1, means["ਕ"] + by, []) for by in (0.1, -0.1)]
    coefficients = hands.deviations(shifted, means["ਕ"])
    assert coefficients[..., 1:] == pytest.approx(0)  # a shift is all in the first cosine
    assert coefficients[0, :, :, 0] * basis.COSINES[0, 0] == pytest.approx(0.1)


def test_the_arrays_of_the_model(
    kept: dict[str, list[Drawn]], shapes: dict[str, Float64], table: dict[str, glyphs.Glyph]
) -> None:
    out = model.arrays(kept, shapes)
    assert out["base"].shape == (111, glyphs.STROKES, glyphs.POINTS, 2)
    assert out["style"].shape == (111, basis.STYLE, glyphs.STROKES, 2, basis.MODES)
    assert out["variation_head"].shape == (111, basis.VARIATION, 4)
    for k, glyph in enumerate(table.values()):
        n = len(glyph.strokes)
        assert out["present"][k].tolist() == [True] * n + [False] * (glyphs.STROKES - n)
        assert np.isfinite(out["base"][k]).all()
        assert not out["style"][k, :, n:].any()
        assert out["style"][k, :, :n].any()
        if glyph.kind == "letter" and glyph.text in LETTERS:
            assert out["base"][k, :n, :, 0].min() == pytest.approx(0, abs=1e-9)
    # A composed vowel begins with its letter and moves as that does.
    index = {text: k for k, text in enumerate(table)}
    n = len(table["ਅ"].strokes)
    assert (out["base"][index["ਆ"], :n] == out["base"][index["ਅ"], :n]).all()
    assert (out["style"][index["ਆ"], :, :n] == out["style"][index["ਅ"], :, :n]).all()


def test_ends_on_the_headline_are_brought_to_it_and_held() -> None:
    canon = np.stack([np.zeros(glyphs.POINTS), np.linspace(0, 1, glyphs.POINTS)], 1)[None]
    rest, near = model.at_headline(canon + np.array([0, 0.1]), canon)
    assert rest[0, 0, 1] == pytest.approx(-0.005)
    assert rest[0, -1, 1] == pytest.approx(1.1)
    assert (near[0, 0], near[0, -1]) == (1, 0)
    loads = np.zeros((1, 1, 2, basis.MODES))
    loads[0, 0, :, 0] = 1.0
    held = model.held(loads.copy(), np.ones_like(near))
    assert held[0, 0, 0].tolist() == loads[0, 0, 0].tolist()  # sideways it stays as it was
    assert held[0, 0, 1, 0] == pytest.approx(1 - model.HEADLINE_HOLD)


# Pictures.


def test_a_picture_has_its_margin_about_the_ink(table: dict[str, glyphs.Glyph]) -> None:
    stem = [np.array([[0.0, 0.0], [0.0, 1.0]])]
    ink = generate.picture(stem, body=100, pen=4.0, margin=14)
    assert ink.shape == (132, 32)  # 100 and 0 pixels, two margins, the pen
    rows, columns = np.where(ink > 128)
    assert (rows.min(), rows.max()) == (14, 117)
    assert (columns.min(), columns.max()) == (14, 17)
    every = generate.picture(generate.with_headline(table["ਕ"].strokes, [(0.0, 0.97)]))
    assert not np.concatenate([every[:10].ravel(), every[:, :10].ravel(), every[-10:].ravel()]).any()


def test_a_nukta_is_set_clear_below_its_letter(table: dict[str, glyphs.Glyph]) -> None:
    letter, dot = table["ਸ"].strokes, table["਼"].strokes
    made = generate.with_nukta(letter, dot)
    assert len(made) == len(letter) + 1
    ink, nukta = np.concatenate(letter), made[-1]
    middle = (ink[:, 0].min() + ink[:, 0].max()) / 2
    assert np.abs(nukta[:, 0] - middle - (dot[0][:, 0])).max() < 1e-9
    beside = ink[np.abs(ink[:, 0] - middle) < 0.15]
    assert nukta[:, 1].min() >= beside[:, 1].max() + 0.06 - 1e-9
