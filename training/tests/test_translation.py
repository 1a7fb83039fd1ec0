"""The translator's text sources, vocabulary and scores. Nothing here needs PyTorch."""

import gzip
import hashlib
import itertools
import json
import random
import re
from pathlib import Path

import pytest
import sentencepiece
from fixtures import sentences
from speech.texts import numbers
from tokenizers import Tokenizer
from translation import corpus, evaluate, names, phrases, placeholders, prepared, streams, tokeniser, variants

ROOT = Path(__file__).parents[2]


# Variants: numbers in words, and text as speech recognition gives it.


@pytest.mark.parametrize("language", ["en", "pa"])
def test_numbers_in_words_can_be_told_apart(language: str) -> None:
    """Of each number up to 99,999 the words are others, so that they can be turned back."""
    say = numbers.pa if language == "pa" else numbers.en
    back = {say(n): n for n in range(100_000)}
    assert [back[say(n)] for n in range(0, 100_000, 7)] == list(range(0, 100_000, 7))


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("This shirt costs 450 rupees.", "en", "This shirt costs four hundred fifty rupees."),
        ("ਇਸ ਕਮੀਜ਼ ਦਾ ਮੁੱਲ 450 ਰੁਪਏ ਹੈ।", "pa", "ਇਸ ਕਮੀਜ਼ ਦਾ ਮੁੱਲ ਚਾਰ ਸੌ ਪੰਜਾਹ ਰੁਪਏ ਹੈ।"),
        ("Today is Wednesday, 14 May 2025.", "en", "Today is Wednesday, fourteen May two thousand twenty five."),
        ("ਅੱਜ ਬੁੱਧਵਾਰ, 14 ਮਈ 2025 ਹੈ।", "pa", "ਅੱਜ ਬੁੱਧਵਾਰ, ਚੌਦਾਂ ਮਈ ਦੋ ਹਜ਼ਾਰ ਪੱਚੀ ਹੈ।"),
        ("੧੨ ਕਿਤਾਬਾਂ", "pa", "ਬਾਰਾਂ ਕਿਤਾਬਾਂ"),
        # Times, decimals, prices, placeholders, versions and long numbers stay.
        ("at 10:30", "en", "at 10:30"),
        ("3.14 or 12,000", "en", "3.14 or 12,000"),
        ("$5 for %1$s", "en", "$5 for %1$s"),
        ("v2 of 128.0.3", "en", "v2 of 128.0.3"),
        ("call 100000", "en", "call 100000"),
    ],
)
def test_whole_numbers_become_words(text: str, language: str, expected: str) -> None:
    assert variants.words(text, language) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Hello, how are you?", "en", "hello how are you"),
        ("It’s Wi-Fi - 'now'", "en", "it's wi-fi now"),
        ("I have 2 dogs.", "en", "i have two dogs"),
        ("ਕੀ ਹਾਲ ਹੈ? ਠੀਕ ਹੈ।", "pa", "ਕੀ ਹਾਲ ਹੈ ਠੀਕ ਹੈ"),
        ("?!", "en", ""),
    ],
)
def test_spoken(text: str, language: str, expected: str) -> None:
    assert variants.spoken(text, language) == expected


# The corpus: parts that do not overlap and do not change.


@pytest.mark.parametrize(
    ("text", "share", "part"),
    [
        ("Save changes?", 1, "test"),
        ("Search", 0, "test"),
        ("You read.", 3, "dev"),
        ("We work.", 4, "train"),
        ("Next", 98, "train"),
    ],
)
def test_parts_by_hash_are_stable(text: str, share: int, part: str) -> None:
    assert int(hashlib.sha1(text.lower().encode()).hexdigest(), 16) % 100 == share
    assert corpus.hashed(text) == corpus.hashed(text.upper()) == part


def staged(folder: Path) -> Path:
    """A small `text/`: one file has the stories 01 to 10, the others 300 sentences in all and one line twice."""
    parallel, mono = folder / "text/parallel", folder / "text/mono"
    parallel.mkdir(parents=True)
    mono.mkdir()
    for name in corpus.FILES:
        rows = [f"{name} sentence {k}\tਵਾਕ {name} {k}\t{name}:{k}" for k in range(60)] + ["Same.\tਉਹੀ।\tx:1"]
        if name == "pratham-stories":
            rows = [
                f"Page {chr(96 + k)} of  it.\tਕਹਾਣੀ {k} ਦਾ ਸਫ਼ਾ।\tpb{'-page' * (k % 2)}:{k // 2:02d}"
                for k in range(2, 22)
            ]
        with gzip.open(parallel / f"{name}.tsv.gz", "wt") as file:
            file.write("\n".join(rows) + "\n")
    for name, lines in {
        "commonvoice-en": ["A new sentence.", "page u of it", "ਪੰਜਾਬੀ", ""],
        "commonvoice-pa": ["ਨਵਾਂ ਵਾਕ।", "ਕਹਾਣੀ 20 ਦਾ ਸਫ਼ਾ", "English"],
        "pratham-stories-pa": ["ਕਹਾਣੀ 2 ਦਾ ਸਫ਼ਾ।", "ਨਵਾਂ ਵਾਕ।"],
    }.items():
        with gzip.open(mono / f"{name}.txt.gz", "wt") as file:
            file.write("\n".join(lines) + "\n")
    return folder


def test_no_sentence_and_no_story_is_in_two_parts(tmp_path: Path) -> None:
    parts = prepared.pairs(staged(tmp_path))
    english = {part: {en for en, _, _ in pairs} for part, pairs in parts.items()}
    stories = {part: {corpus.story(s) for _, _, s in pairs if s.startswith("pb")} for part, pairs in parts.items()}
    for a, b in itertools.combinations(parts, 2):
        assert english[a].isdisjoint(english[b])
        assert stories[a].isdisjoint(stories[b])
    assert stories["test"] == {"05", "06", "07", "08", "09", "10"}
    assert stories["dev"] == {"03", "04"}
    # A line that all files have stands once, and a template has few rows.
    assert sum(text == "Same." for text in english["train"]) == 1
    assert ("Page b of it.", "ਕਹਾਣੀ 2 ਦਾ ਸਫ਼ਾ।", "pb:01") in parts["train"]


def test_single_sentences_leave_out_what_is_held_and_other_scripts(tmp_path: Path) -> None:
    staged(tmp_path)
    parts = prepared.pairs(tmp_path)
    assert corpus.single(tmp_path, parts) == {"en": ["A new sentence."], "pa": ["ਨਵਾਂ ਵਾਕ।", "ਕਹਾਣੀ 2 ਦਾ ਸਫ਼ਾ।"]}


# Streams.


def test_parallel_pairs_stay_together() -> None:
    pairs = [(f"word{'x' * k}", f"ਸ਼ਬਦ{'ਖ' * k}", "x") for k in range(1, 10)]
    drawn = list(itertools.islice(streams.parallel(pairs, random.Random(8)), 2000))
    for source_language, source, target_language, target in drawn:
        assert {source_language, target_language} == {"en", "pa"}
        assert isinstance(source, str)
        lengths = [[len(run) for run in re.findall("x+|ਖ+", text)] for text in (source, target)]
        assert lengths[0] == lengths[1] != []
    joined = sum(" " in target for _, _, _, target in drawn) / len(drawn)
    assert 0.05 < joined < 0.11


def test_a_target_has_digits_only_as_placeholders() -> None:
    pairs = [("5 of 7 days", "7 ਵਿੱਚੋਂ 5 ਦਿਨ", "x"), ("two days", "2 ਦਿਨ", "x"), ("an hour", "3:15 ਵਜੇ", "x")]
    drawn = list(itertools.islice(streams.parallel(pairs, random.Random(8)), 300))
    assert not any(streams.DIGIT.search(target) for _, _, _, target in drawn)
    said = {target for _, source, _, target in drawn if source == "two days"}
    assert said == {"ਦੋ ਦਿਨ"}
    assert not any("ਵਜੇ" in target for _, _, _, target in drawn)


def test_a_machine_made_source_is_marked_and_a_translation_with_other_placeholders_is_none() -> None:
    row = ("pa", "\ue010 ਘਰ ਹੈ।", "\ue010 is home.")
    assert {(a, b, text) for a, _, b, text in itertools.islice(streams.back([row], random.Random(9)), 30)} == {
        ("en", "pa", row[1])
    }
    assert all(
        str(source)[0] == streams.MARK
        for _, source, _, _ in itertools.islice(streams.back([row], random.Random(9)), 30)
    )
    taught = [*itertools.islice(streams.forward([row], random.Random(9)), 30)]
    assert {(a, b, text) for a, _, b, text in taught} == {("pa", "en", row[2])}
    assert not any(streams.MARK in source for _, source, _, _ in taught)
    assert streams.sane(*row[1:])
    for wrong in (
        "He is home.",
        "\ue010 \ue011 is home.",
        "",
        "\ue010 is 5.",
        "\ue010" + " go" * 9,
        "\ue010" + " a b c" * 9,
    ):
        assert not streams.sane(row[1], wrong)


def test_a_womans_words_are_only_taught_from_panjabi() -> None:
    class Woman(phrases.Phrases):
        def __init__(self) -> None:
            pass

        def draw(self, rng: random.Random) -> tuple[str, str, int]:
            del rng
            return "I go.", "ਮੈਂ ਜਾਂਦੀ ਹਾਂ।", 1

    rows = itertools.islice(streams.generated(Woman(), random.Random(9)), 200)
    assert {(a, b) for a, _, b, _ in rows} == {("pa", "en")}
    both = itertools.islice(streams.generated(phrases.Phrases(), random.Random(9)), 200)
    assert {(a, b) for a, _, b, _ in both} == {("pa", "en"), ("en", "pa")}


# The vocabulary.


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tokenizer, sentencepiece.SentencePieceProcessor]:
    """A vocabulary of 500 pieces, of the sentences for the small models, in both libraries."""
    folder = tmp_path_factory.mktemp("tokens")
    tokeniser.learn(sentences.PANJABI + sentences.ENGLISH, folder, pieces=500)
    made = tokeniser.written(folder)
    assert json.loads((folder / "tokenizer.json").read_text()) == json.loads(made.to_str())
    return made, sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))


TEXTS = ["ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ ਜੀ!", "We go at 10:30.", "😀 東京", "naïve £5"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_comes_back_from_its_ids(
    vocabulary: tuple[Tokenizer, sentencepiece.SentencePieceProcessor], text: str
) -> None:
    made, spm = vocabulary
    ids = made.encode(text, add_special_tokens=False).ids
    assert made.decode(ids) == text
    assert ids == spm.encode(text)


def test_placeholders_are_tokens_of_their_own(
    vocabulary: tuple[Tokenizer, sentencepiece.SentencePieceProcessor],
) -> None:
    made, spm = vocabulary
    text = "(\ue000) ਜੀ\ue010's \ue019%\ue001"
    pieces = spm.encode(text, out_type=str)
    assert [piece for piece in pieces if re.search("[\ue000-\uf8ff]", piece)] == [
        "\ue000",
        "\ue010",
        "▁\ue019",
        "\ue001",
    ]
    assert made.encode(text, add_special_tokens=False).ids == spm.encode(text)
    assert made.decode(spm.encode(text)) == text


def test_special_ids_and_digits(vocabulary: tuple[Tokenizer, sentencepiece.SentencePieceProcessor]) -> None:
    made, spm = vocabulary
    assert [made.id_to_token(k) for k in range(4)] == list(tokeniser.SPECIAL)
    assert [made.token_to_id(name) for name in tokeniser.LANGUAGES.values()] == [len(spm), len(spm) + 1]
    assert made.encode("ਹਾਂ").ids[-1] == tokeniser.EOS
    assert [made.decode([k]) for k in made.encode("ਹੈ 6789", add_special_tokens=False).ids][-4:] == list("6789")
    # White space folds, and a decomposed nukta is the composed one.
    assert made.encode(" ਹਾਂ \n ਜੀ").ids == made.encode("ਹਾਂ ਜੀ").ids
    assert made.encode("\u0a38\u0a3c").ids == made.encode("\u0a36").ids


def test_the_shipped_tokeniser_gives_the_golden_ids() -> None:
    shipped = Tokenizer.from_file(str(ROOT / "models/weights/translation-pa-en.tokenizer.json"))
    cases = json.loads((ROOT / "tests/fixtures/seq2seq/bundled.json").read_text())["cases"]
    last, lexicon = shipped.get_vocab_size() - len(tokeniser.LANGUAGES), names.lexicon()
    assert [shipped.token_to_id(name) for name in tokeniser.LANGUAGES.values()] == [last, last + 1]
    for case in cases:
        first = shipped.token_to_id(tokeniser.LANGUAGES[case["source"]])
        text, values = placeholders.mask(case["text"], case["source"], lexicon, in_words=True)
        ids = shipped.encode(text, add_special_tokens=False).ids
        assert case["encoder_ids"] == [first, *ids, tokeniser.EOS]
        assert case["greedy_ids"][:2] == [tokeniser.EOS, shipped.token_to_id(tokeniser.LANGUAGES[case["target"]])]
        assert placeholders.restore(shipped.decode(case["beam_ids"]), values) == case["beam_text"]


# Scores.


def test_scores_by_worked_examples() -> None:
    assert evaluate.scores(["ਉਹ ਘਰ ਜਾਂਦਾ ਹੈ।"], ["ਉਹ ਘਰ ਜਾਂਦਾ ਹੈ।"]) == {
        "n": 1,
        "chrf++": 100.0,
        "chrf++ ±": 0.0,
        "bleu": 100.0,
    }
    # Characters: 1 of 2, then 0 of 1 pair; words: 1 of 2, then 0 of 1 pair. The mean of the four is 0.25.
    assert evaluate.scores(["a b"], ["a c"])["chrf++"] == 25.0
    # Precisions 4/5, 3/4, 2/3, 1/2: their product is 0.2, and 0.2 to the power of 1/4 is 0.669.
    assert evaluate.scores(["a b c d e"], ["a b c d f"])["bleu"] == 66.9
