"""Language model, beam search, alignment and metrics of the speech package, by worked examples and brute force."""

import base64
import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from speech import align, beam, metrics, ngram, units
from speech.arrays import Doubles
from speech.whisper_ctc import decoding as whisper_decoding

ROOT = Path(__file__).resolve().parents[2]
SPACE, A, B = 0, 1, 2
SIZE = 3
TEXTS = [([A, B], 1.0), ([A, B], 1.0), ([A, A], 1.0)]  # "ab", "ab", "aa"; a space begins and ends each


def key(*ids: int) -> int:
    out = 0
    for unit in ids:
        out = out << ngram.BITS | unit
    return out


def as_dict(grams: ngram.Grams) -> dict[int, float]:
    return dict(zip(grams[0].tolist(), grams[1].tolist(), strict=True))


def test_counting_by_hand() -> None:
    ones, twos = map(as_dict, ngram.counts_of(TEXTS, 2))
    assert ones == {SPACE: 3, A: 4, B: 2}  # the space before a text is given, never predicted
    assert twos == {key(SPACE, A): 3, key(A, B): 2, key(A, A): 1, key(B, SPACE): 2, key(A, SPACE): 1}


def test_weights_multiply_counts() -> None:
    ones, _ = map(as_dict, ngram.counts_of([([A], 2.0), ([B], 0.5)], 2))
    assert ones == {SPACE: 2.5, A: 2.0, B: 0.5}


def test_kneser_ney_by_hand() -> None:
    ones, twos = map(as_dict, ngram.smoothed(ngram.counts_of(TEXTS, 2), SIZE))
    # Different units before each: two before the space (a, b), two before a (space, a), one before b (a).
    p = {unit: 0.02 / 3 + 0.98 * n / 5 for unit, n in {SPACE: 2, A: 2, B: 1}.items()}
    assert {unit: math.exp(v) for unit, v in ones.items()} == pytest.approx(p)
    # Two bigrams are seen once and two twice: the discount is 2 / (2 + 2 · 2) = 1/3.
    expected = {
        key(A, B): (2 - 1 / 3) / 4 + (3 * 1 / 3) / 4 * p[B],
        key(A, A): (1 - 1 / 3) / 4 + (3 * 1 / 3) / 4 * p[A],
        key(A, SPACE): (1 - 1 / 3) / 4 + (3 * 1 / 3) / 4 * p[SPACE],
        key(SPACE, A): (3 - 1 / 3) / 3 + (1 * 1 / 3) / 3 * p[A],
        key(B, SPACE): (2 - 1 / 3) / 2 + (1 * 1 / 3) / 2 * p[SPACE],
    }
    assert {k: math.exp(v) for k, v in twos.items()} == pytest.approx(expected, abs=1e-8)
    assert sum(math.exp(twos[key(A, unit)]) for unit in range(SIZE)) == pytest.approx(1)


def random_corpus(seed: int = 0) -> list[tuple[list[int], float]]:
    rng = np.random.default_rng(seed)
    words = [list(rng.integers(1, 6, rng.integers(1, 5))) for _ in range(12)]
    texts = []
    for _ in range(150):
        text: list[int] = []
        for k in rng.integers(0, len(words), rng.integers(1, 4)):
            text += [0] * bool(text) + words[k]
        texts.append((text, 1.0))
    return texts


def estimated(threshold: float) -> tuple[list[ngram.Grams], list[Doubles]]:
    counts = ngram.counts_of(random_corpus(), 4)
    grams = ngram.pruned(ngram.smoothed(counts, 6), counts, threshold)
    return grams, ngram.backed_off(grams)


def exact(grams: list[ngram.Grams], weights: list[Doubles], context: tuple[int, ...], unit: int) -> float:
    """The definition of a back-off model: the longest n-gram that is there, else the weight and a shorter context."""
    tables = [as_dict(one) for one in grams]
    back = [
        dict(zip(keys.tolist(), weight.tolist(), strict=True))
        for (keys, _), weight in zip(grams[:-1], weights, strict=True)
    ]
    context, score = context[-(len(grams) - 1) :], 0.0
    while context:
        found = tables[len(context)].get(key(*context, unit))
        if found is not None:
            return score + found
        score += back[len(context) - 1].get(key(*context), 0.0)
        context = context[1:]
    return score + tables[0][unit]


@pytest.mark.parametrize("threshold", [0.0, 1.0, 5.0])
def test_probabilities_after_every_context_sum_to_one(threshold: float) -> None:
    grams, weights = estimated(threshold)
    for context in itertools.product(range(6), repeat=3):
        total = sum(math.exp(exact(grams, weights, context, unit)) for unit in range(6))
        assert total == pytest.approx(1, abs=1e-3)


def test_pruning_keeps_order_one_and_every_context() -> None:
    whole, few = estimated(0.0)[0], estimated(5.0)[0]
    assert len(few[0][0]) == len(whole[0][0]) == 6
    assert sum(len(keys) for keys, _ in few) < sum(len(keys) for keys, _ in whole) / 2
    for lower, higher in itertools.pairwise(few):
        contexts = higher[0] >> np.uint64(ngram.BITS)
        assert set(contexts.tolist()) <= set(lower[0].tolist())
    for (keys, _), (every, _) in zip(few, whole, strict=True):
        assert set(keys.tolist()) <= set(every.tolist())


def test_the_file_gives_the_same_probabilities_but_for_its_256_levels(tmp_path: Path) -> None:
    grams, weights = estimated(1.0)
    ngram.write(tmp_path / "lm", grams, weights)
    model = ngram.Model(tmp_path / "lm")
    assert (model.order, model.size) == (4, 6)
    rng = np.random.default_rng(2)
    for _ in range(40):
        state = model.start
        context: tuple[int, ...] = (0,)
        for unit in rng.integers(0, 6, 8).tolist():
            score, state = model.step(state, unit)
            assert score == pytest.approx(exact(grams, weights, context, unit), abs=0.15)
            context = (*context, unit)
    assert ngram.Model(tmp_path / "lm").start == model.start


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lm").write_bytes(b"something else")
    with pytest.raises(ValueError, match="no language model"):
        ngram.Model(tmp_path / "lm")


def test_the_shipped_language_model_prefers_panjabi() -> None:
    model = ngram.Model(ROOT / "models/weights/speech-pa.lm")
    good = ngram.bits(model, ["ਇਹ ਮੇਰੀ ਕਿਤਾਬ ਹੈ"], "pa")
    assert good < 3 < ngram.bits(model, ["ਹਇ ਰੀਮੇ ਬਾਤਕਿ ਹੈ"], "pa")


def collapsed(path: tuple[int, ...], blank: int) -> tuple[int, ...]:
    return tuple(unit for unit, _ in itertools.groupby(path) if unit != blank)


def brute_force(log_probs: Doubles, model: ngram.Model | None, weight: float, bonus: float) -> list[int]:
    """The best text by adding up every path, with the language model's score of the whole text."""
    frames, blank = log_probs.shape[0], log_probs.shape[1] - 1
    scores: dict[tuple[int, ...], float] = {}
    for path in itertools.product(range(blank + 1), repeat=frames):
        text = collapsed(path, blank)
        score = sum(log_probs[t, unit] for t, unit in enumerate(path))
        scores[text] = np.logaddexp(scores.get(text, -np.inf), score)

    def total(text: tuple[int, ...]) -> float:
        score = scores[text]
        if model is not None:
            state = model.start
            for unit in text:
                step, state = model.step(state, unit)
                score += weight * step + bonus
            if text and text[-1] != 0:
                score += weight * model.step(state, 0)[0]
        return score

    return list(max(scores.items(), key=lambda item: total(item[0]))[0])


def random_log_probs(seed: int, frames: int, outputs: int) -> Doubles:
    logits = np.random.default_rng(seed).normal(0, 2, (frames, outputs))
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


@pytest.mark.parametrize("seed", range(12))
def test_beam_search_finds_the_best_text_of_all(seed: int, tmp_path: Path) -> None:
    ngram.write(tmp_path / "lm", *estimated(1.0))
    model = ngram.Model(tmp_path / "lm")
    log_probs = random_log_probs(seed, 5, 4)
    assert beam.search(log_probs, width=10**6, least=-np.inf) == brute_force(log_probs, None, 0, 0)
    found = beam.search(log_probs, model, 0.7, 0.4, width=10**6, least=-np.inf)
    assert found == brute_force(log_probs, model, 0.7, 0.4)


def test_beam_search_adds_up_paths_where_greedy_takes_one() -> None:
    # Each frame: blank 0.4, a 0.35, b 0.25. Greedy writes nothing (0.16); all paths of "a" together have 0.4025.
    log_probs = np.log([[0.35, 0.25, 0.4], [0.35, 0.25, 0.4]])
    assert beam.search(log_probs) == [0]
    assert beam.search(log_probs, blank=2, width=1) == beam.search(log_probs, width=1)
    assert beam.plus(math.log(0.3), math.log(0.2)) == pytest.approx(math.log(0.5))
    assert beam.plus(-math.inf, -1.0) == -1.0


def test_units_below_the_least_are_not_tried() -> None:
    log_probs = np.log([[0.9, 0.05, 0.05]])
    assert beam.search(log_probs) == [0]
    assert beam.search(log_probs, least=-0.05) == []


@pytest.mark.parametrize("seed", range(8))
def test_alignment_finds_the_likeliest_path(seed: int) -> None:
    log_probs, ids = random_log_probs(seed, 6, 3), [0, 1, 1]
    paths = [path for path in itertools.product(range(3), repeat=6) if collapsed(path, 2) == tuple(ids)]
    best = max(paths, key=lambda path: sum(log_probs[t, unit] for t, unit in enumerate(path)))
    starts = [t for t in range(6) if best[t] != 2 and (t == 0 or best[t] != best[t - 1])]
    found = align.frames_of(log_probs, ids, 2)
    assert found is not None
    assert found.tolist() == starts


def test_alignment_needs_a_frame_for_each_unit_and_between_equal_ones() -> None:
    even = np.log(np.full((2, 3), 1 / 3))
    assert align.frames_of(even, [0, 0], 2) is None
    assert align.word_starts(even, [0, 0], 2) == []
    found = align.frames_of(np.log(np.full((3, 3), 1 / 3)), [0, 0], 2)
    assert found is not None
    assert found.tolist() == [0, 2]


def test_word_starts_in_seconds() -> None:
    spelt = [3, 1, 3, 0, 2, 3]  # blank, a, blank, space, b, blank
    log_probs = np.log(np.where(np.eye(4)[spelt] > 0, 0.97, 0.01))
    assert align.word_starts(log_probs, [1, 0, 2], 3) == pytest.approx([0.04, 0.16])
    assert align.word_starts(log_probs, [1, 0, 2], 3, frame=0.02) == pytest.approx([0.02, 0.08])


def test_the_golden_file_of_the_service_holds_what_the_reference_finds(tmp_path: Path) -> None:
    kept = json.loads((ROOT / "tests/fixtures/speech/search.json").read_text())
    (tmp_path / "lm").write_bytes(base64.b64decode(kept["language"]))
    model = ngram.Model(tmp_path / "lm")
    assert model.size == kept["units"]
    assert len(kept["said"]) == 50
    for row in kept["said"][::5]:
        raw = np.frombuffer(base64.b64decode(row["emissions"]), "<f4")
        log_probs = raw.reshape(-1, kept["units"] + 1)
        assert beam.search(log_probs, model, kept["weight"], kept["bonus"], kept["width"]) == row["units"]
        first = align.frames_of(log_probs, row["units"], kept["units"])
        assert first is not None
        assert first.tolist() == row["first"]


def test_frames_of_a_sure_blank_are_decoded_as_one() -> None:
    scores = np.full((6, units.blank("pa") + 1), -9.0, np.float32)
    for frame, p in enumerate([0.999, 0.999, 0.5, 0.999, 0.999, 0.999]):
        scores[frame, -1] = np.log(p)
    kept = whisper_decoding.thinned(scores)
    assert kept[:, -1].tolist() == pytest.approx(np.log([0.999, 0.5, 0.999]).tolist(), abs=1e-6)


@pytest.mark.parametrize(
    ("a", "b", "edits"),
    [
        ("kitten", "sitting", 3),
        ("", "abc", 3),
        ("abc", "", 3),
        ("abc", "abc", 0),
        ("ab", "ba", 2),
        (["one", "two"], ["two"], 1),
    ],
)
def test_edit_distance(a: str | list[str], b: str | list[str], edits: int) -> None:
    assert metrics.distance(a, b) == edits == metrics.distance(b, a)


def test_error_rates_by_hand() -> None:
    errors = metrics.Errors()
    errors.add("the cat sat", "the bat sat on")  # 11 characters: one substituted, three added; 3 words: two errors
    errors.add("yes", "yes")
    assert (errors.characters, errors.characters_wrong, errors.words, errors.words_wrong) == (14, 4, 4, 2)
    assert (errors.utterances, errors.exact) == (2, 1)
    assert errors.cer == pytest.approx(4 / 14)
    assert errors.wer == pytest.approx(2 / 4)
    assert errors.line().startswith("CER 28.6 % [")
    other = metrics.Errors()
    other.add("no", "")
    errors.take(other)
    assert (errors.characters, errors.characters_wrong, errors.words_wrong, errors.utterances) == (16, 6, 3, 3)
    assert metrics.Errors().cer == 0


def test_words_are_set_to_the_nearest_of_a_list() -> None:
    assert metrics.snapped("tow thre for", ["one", "two", "three", "four"]) == "two three four"
    assert metrics.snapped("", ["one"]) == ""
