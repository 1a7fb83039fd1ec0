"""What the tagger of punctuation is trained and measured on. Nothing here needs PyTorch or the data."""

import itertools
import random

import numpy as np
import pytest
from punctuation import batches, data, errors, evaluate, grams, marks, pauses, recognised
from punctuation.marks import ANY, COMMA, DANDA, END, NONE, QUESTION, Unit

SIGNS = {NONE: "", COMMA: ",", DANDA: "।", QUESTION: "?", END: "।?", NONE | COMMA: "(,)", ANY: "*", COMMA | DANDA: ",।"}


def shown(unit: Unit | None) -> str:
    """A unit with the marks behind its words."""
    return " ".join(word + SIGNS[one] for word, one in zip(*unit, strict=True)) if unit else ""


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("ਕੀ ਹਾਲ ਹੈ? ਠੀਕ ਹੈ।", "pa", "ਕੀ ਹਾਲ ਹੈ? ਠੀਕ ਹੈ।"),
        ("ਵਾਹ! “ਹਾਂ,” ਉਸਨੇ ਕਿਹਾ ।", "pa", "ਵਾਹ। ਹਾਂ, ਉਸਨੇ ਕਿਹਾ।"),
        ("ਵੇਨੂੰ,ਅਬਦੁਲ ਆਏ।", "pa", "ਵੇਨੂੰ, ਅਬਦੁਲ ਆਏ।"),
        ("ਐੱਨ. ਐੱਚ. ਏ. ਦਾ ਗਠਨ 1910 ਵਿੱਚ ਹੋਇਆ.", "pa", "ਐੱਨ* ਐੱਚ* ਏ* ਦਾ ਗਠਨ ਇੱਕ ਹਜ਼ਾਰ ਨੌਂ ਸੌ ਦਸ ਵਿੱਚ ਹੋਇਆ।"),
        ("ਤਰਬੂਜ਼, ਸੇਬ (ਲਾਲ) – ਸਭ; ਹਾਂ।", "pa", "ਤਰਬੂਜ਼, ਸੇਬ(,) ਲਾਲ(,) ਸਭ,। ਹਾਂ।"),
        ("ਘਰ ਕਿੱਥੇ ਹੈ", "pa", "ਘਰ ਕਿੱਥੇ ਹੈ।?"),
        ("ਘਰ ਜਾ ਕੇ,", "pa", "ਘਰ ਜਾ ਕੇ।?"),
        ("Mr. Pickwick, don’t go at 6:15. Why not?", "en", "mr pickwick, don't go at six fifteen। why not?"),
        ("ਵੱਖ-ਵੱਖ 12,000 ਲੋਕ।", "pa", "ਵੱਖ ਵੱਖ ਬਾਰਾਂ ਹਜ਼ਾਰ ਲੋਕ।"),
        ("ਨੰਬਰ 632070, ਹਾਂ।", "pa", "ਨੰਬਰ ਛੇ ਤਿੰਨ ਦੋ ਸਿਫ਼ਰ ਸੱਤ ਸਿਫ਼ਰ, ਹਾਂ।"),
    ],
)
def test_words_get_the_marks_behind_them(text: str, language: str, expected: str) -> None:
    assert shown(marks.marked(text, language, END)) == expected


def test_a_text_without_a_final_mark_is_left_out_unless_its_end_is_known() -> None:
    assert marks.marked("ਪੰਨਾ ਸੈੱਟਅੱਪ", "pa") is None
    assert marks.marked("?!", "pa", END) is None
    assert data.units(["ਕਾਲ %1$s।", "ਕਾਲ ਆਈ।"], "pa") == [Unit(("ਕਾਲ", "ਆਈ"), (NONE, DANDA))]
    assert data.spoken("ਮੈਂ ਆਇਆ") == Unit(("ਮੈਂ", "ਆਇਆ"), (NONE | COMMA, END))


def test_sources_belong_to_pools() -> None:
    names = ("indicvoices:topic", "indicvoices:gov-template", "indicvoices:gov-slot", "pb-page:0012", "fenix")
    assert [data.pool(name) for name in names] == ["questions", "templates", "", "stories", "apps"]
    assert {data.pool(name) for name in data.UNSEEN} == {"unseen"}
    assert all(sum(weights.values()) == 100 for weights in batches.WEIGHTS.values())


def test_the_hash_has_its_published_values() -> None:
    # http://www.isthe.com/chongo/tech/comp/fnv: test vectors of 32-bit FNV-1a
    assert [grams.fnv1a(data) for data in (b"", b"a", b"foobar")] == [0x811C9DC5, 0xE40C292C, 0xBF9CF968]


def test_the_pieces_of_a_word() -> None:
    assert grams.pieces("ਕੀ") == ["^ਕੀ$", "ਕੀ$", "^ਕੀ"]
    assert grams.pieces("a") == ["^a$"]
    assert grams.pieces("ghar") == ["^ghar$", "ar$", "har$", "har", "ghar", "gha", "^gha", "^gh"]
    assert len(grams.pieces("ਅੰਤਰਰਾਸ਼ਟਰੀਕਰਨ")) == grams.MOST
    rows = grams.table(["ਕੀ", "ਹੈ", "ਕੀ"])
    assert rows.shape == (3, grams.MOST)
    assert (rows[0] == rows[2]).all()
    assert (rows[0, :3] > 0).all()
    assert not rows[0, 3:].any()
    assert rows.max() < grams.ROWS


def test_pauses_are_longer_at_ends_of_sentences_and_overlap() -> None:
    sets = ([NONE] * 9 + [DANDA] + [NONE] * 3 + [COMMA] + [NONE] * 5 + [QUESTION]) * 200
    found = np.concatenate([pauses.drawn(sets[k : k + 200], np.random.default_rng(k)) for k in range(0, 4000, 200)])
    inside, commas, ends = (found[[one in kind for one in sets]] for kind in ([NONE], [COMMA], [DANDA, QUESTION]))
    assert np.median(inside) < 0.1 < np.median(commas) < np.median(ends)
    assert np.quantile(inside, 0.99) > np.quantile(ends, 0.5)
    assert np.quantile(ends, 0.1) <= 0.2
    assert found[199::200].tolist() == [pauses.UNKNOWN] * 20
    assert found.max() <= pauses.LONGEST
    assert pauses.none(2).tolist() == [pauses.UNKNOWN] * 2


def test_errors_keep_every_mark_and_every_word_has_letters() -> None:
    unit = marks.marked("ਕੀ ਤੁਸੀਂ ਕੱਲ੍ਹ ਸਕੂਲ ਗਏ ਸੀ? ਨਹੀਂ, ਮੈਂ ਘਰ ਹੀ ਸੀ। ਮੇਰੀ ਮਾਂ ਬੀਮਾਰ ਸੀ।", "pa")
    assert unit
    rng, wrong = random.Random(5), 0
    for _ in range(300):
        found = errors.disturbed(unit, 0.15, rng)
        assert [one for one in found.sets if one != NONE] == [one for one in unit.sets if one != NONE]
        assert len(found.words) == len(found.sets)
        assert all(found.words)
        wrong += found.words != unit.words
    assert wrong > 290


def test_batches_are_filled_up_with_nothing() -> None:
    unit = Unit(("ਮੈਂ", "ਆਇਆ"), (NONE, DANDA))
    pools = {language: {name: data.Pool([unit]) for name in names} for language, names in batches.WEIGHTS.items()}
    found = batches.batch(pools, 60, random.Random(1), np.random.default_rng(1))
    assert found.grams.shape == (60, batches.WORDS, grams.MOST)
    lengths = (found.sets > 0).sum(1)
    assert lengths.max() == batches.WORDS
    assert 1 < lengths.min() < 10
    assert ((found.grams[:, :, 0] > 0) == (found.sets > 0)).all()
    assert (found.pauses[found.sets == 0] == pauses.UNKNOWN).all()
    timed = (found.pauses >= 0).any(1)
    assert 0.3 < timed.mean() < 0.9


def test_stories_follow_each_other() -> None:
    units = [Unit((str(k),), (DANDA,)) for k in range(50)]
    words = batches.taken([data.Pool(units, ordered=True)], 9, 99, random.Random(1)).words
    assert [int(b) - int(a) for a, b in itertools.pairwise(words)] in ([1] * 8, [1] * 7 + [-49])
    assert len(words) == 9


def test_marks_are_counted_by_label() -> None:
    sets = [NONE, DANDA, DANDA, QUESTION, COMMA, END, ANY, NONE]
    labels = [0, 2, 0, 2, 1, 3, 1, 2]
    counts = evaluate.counted(sets, labels)
    assert counts["danda"] == {"right": 1, "wrong": 2, "missing": 1}
    assert counts["question"] == {"right": 0, "wrong": 0, "missing": 1}
    assert counts["comma"] == {"right": 1, "wrong": 0, "missing": 0}
    assert counts["end"] == {"right": 3, "wrong": 1, "missing": 1}
    assert evaluate.added([counts, counts])["end"] == {"right": 6, "wrong": 2, "missing": 2}
    assert evaluate.scored(counts)["end"] == {"n": 4, "precision": 0.75, "recall": 0.75, "f1": 0.75}


def test_recognised_words_get_the_marks_of_the_words_that_they_stand_for() -> None:
    text = marks.marked("ਤੁਸੀਂ ਕਿੱਥੇ ਸੀ? ਮੈਂ ਘਰ ਸੀ। ਚਲੋ ਹੁਣ ਚੱਲੀਏ।", "pa")
    assert text
    found = "ਤੁਸੀ ਕਿਥੇ ਮੈਂ ਘਰ ਸੀ ਜੀ ਚਲੋ ਹੁਣਚੱਲੀਏ".split()  # one lost, one added, two joined
    assert recognised.aligned("ab cd ef".split(), "ab ef".split()) == [(0, 0), (1, None), (2, 1)]
    sets = recognised.carried(text, found)
    assert shown(Unit(tuple(found), tuple(sets))) == "ਤੁਸੀ ਕਿਥੇ? ਮੈਂ ਘਰ ਸੀ। ਜੀ ਚਲੋ ਹੁਣਚੱਲੀਏ।"


def test_recordings_are_short_and_hold_whole_units() -> None:
    units = [Unit(("ਮੈਂ",) * n, (NONE,) * (n - 1) + (DANDA,)) for n in (30, 10, 61, 20, 5)]
    assert [len(text.words) for text in recognised.recordings(units)] == [60, 5]


def test_a_set_is_one_transcript_under_each_condition() -> None:
    units = [Unit(("ਮੈਂ", "ਆਇਆ"), (NONE, DANDA))] * 45
    plain, none = evaluate.transcript(units, "text")
    timed, times = evaluate.transcript(units, "pauses")
    assert plain == timed
    assert len(plain.words) == len(none) == len(times) == 90
    assert (none == pauses.UNKNOWN).all()
    assert (times >= 0).mean() > 0.9
    assert evaluate.transcript(units, "errors")[0].words != plain.words
