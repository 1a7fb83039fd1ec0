"""Language model, beam search, alignment and metrics of the speech package, by worked examples and brute force."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from speech.arrays import Doubles, Floats
from speech.search import ctc, ngram
from speech.texts import metrics

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


def written(folder: Path) -> Path:
    ngram.write(folder / "lm", *estimated(1.0))
    return folder / "lm"


def test_the_program_reads_the_probabilities_of_a_file_but_for_its_256_levels(tmp_path: Path) -> None:
    grams, weights = estimated(1.0)
    lm, rng = written(tmp_path), np.random.default_rng(2)
    for _ in range(40):
        text = rng.integers(0, 6, 8).tolist()
        found = ctc.scored(text, 6, lm)
        for k, (unit, score) in enumerate(zip(text, found, strict=True)):
            assert score == pytest.approx(exact(grams, weights, (0, *text[:k]), unit), abs=0.15)


def test_the_shipped_language_model_prefers_panjabi() -> None:
    lm = ROOT / "models/weights/speech-pa.lm"
    good = ngram.bits(lm, ["ਇਹ ਮੇਰੀ ਕਿਤਾਬ ਹੈ"])
    assert good < 3 < ngram.bits(lm, ["ਹਇ ਰੀਮੇ ਬਾਤਕਿ ਹੈ"])


def collapsed(path: tuple[int, ...], blank: int) -> tuple[int, ...]:
    return tuple(unit for unit, _ in itertools.groupby(path) if unit != blank)


def brute_force(log_probs: Floats, lm: Path, weight: float, bonus: float) -> list[int]:
    """The best text by adding up every path, with the language model's score of the whole text."""
    frames, blank = log_probs.shape[0], log_probs.shape[1] - 1
    scores: dict[tuple[int, ...], float] = {}
    for path in itertools.product(range(blank + 1), repeat=frames):
        text = collapsed(path, blank)
        score = sum(log_probs[t, unit] for t, unit in enumerate(path))
        scores[text] = np.logaddexp(scores.get(text, -np.inf), score)

    def total(text: tuple[int, ...]) -> float:
        ended = (*text, 0) if text and text[-1] != 0 else text
        return scores[text] + weight * sum(ctc.scored(ended, blank, lm)) + bonus * len(text)

    return list(max(scores.items(), key=lambda item: total(item[0]))[0])


def random_log_probs(seed: int, frames: int, outputs: int) -> Floats:
    logits = np.random.default_rng(seed).normal(0, 2, (frames, outputs))
    return (logits - np.log(np.exp(logits).sum(1, keepdims=True))).astype(np.float32)


@pytest.mark.parametrize("seed", range(12))
def test_beam_search_finds_the_best_text_of_all(seed: int, tmp_path: Path) -> None:
    lm, log_probs = written(tmp_path), random_log_probs(seed, 4, 7)
    for weight, bonus in ((0.0, 0.0), (0.7, 0.4)):
        found = ctc.searched(log_probs, lm, (weight, bonus), 10**4)
        assert found is not None
        assert found.units == brute_force(log_probs, lm, weight, bonus)


@pytest.mark.parametrize("seed", range(8))
def test_alignment_finds_the_likeliest_path(seed: int) -> None:
    log_probs, ids = random_log_probs(seed, 6, 3), [0, 1, 1]
    paths = [path for path in itertools.product(range(3), repeat=6) if collapsed(path, 2) == tuple(ids)]
    best = max(paths, key=lambda path: sum(log_probs[t, unit] for t, unit in enumerate(path)))
    starts = [t for t in range(6) if best[t] != 2 and (t == 0 or best[t] != best[t - 1])]
    found = ctc.aligned(log_probs, ids)
    assert found is not None
    assert [first for first, _ in found.spans] == starts


def test_alignment_needs_a_frame_for_each_unit_and_between_equal_ones() -> None:
    even = np.log(np.full((2, 3), 1 / 3))
    assert ctc.aligned(even, [0, 0]) is None
    assert ctc.word_starts(even, [0, 0]) == []
    found = ctc.aligned(np.log(np.full((3, 3), 1 / 3)), [0, 0])
    assert found is not None
    assert found.spans == [(0, 1), (2, 3)]


def test_word_starts_in_seconds() -> None:
    spelt = [3, 1, 3, 0, 2, 3]  # blank, a, blank, space, b, blank
    log_probs = np.log(np.where(np.eye(4)[spelt] > 0, 0.97, 0.01))
    assert ctc.word_starts(log_probs, [1, 0, 2]) == pytest.approx([0.04, 0.16])
    assert ctc.word_starts(log_probs, [1, 0, 2], frame=0.02) == pytest.approx([0.02, 0.08])


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
    assert metrics.Errors().cer == 0
