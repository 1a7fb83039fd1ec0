"""Texts of the speech package: alphabets, number words, the spelling for synthesisers, the split into parts."""

import gzip
import itertools
from pathlib import Path

import numpy as np
import pytest
from speech.data import prompts
from speech.texts import borrowed, conversation, english, gurmukhi, numbers, reading, sentences, units
from speech.voices import cross_lingual, hibari, kokoro, pico

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("pa", "en")
SHIPPED = {"pa": "speech-pa", "en": "aligner-en"}  # whose vocabulary it is


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_unit_survives_encoding_and_decoding(language: str) -> None:
    alphabet = units.ALPHABETS[language]
    assert len(set(alphabet)) == len(alphabet)
    for number, unit in enumerate(alphabet[1:], 1):
        text = "ਕ" + unit if unit[0] in units.SIGNS else unit  # a sign needs a letter before it
        ids = units.encode(text, language)
        assert ids[-1] == number
        assert units.decode(ids, language) == text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_shipped_vocabulary_is_the_alphabet(language: str) -> None:
    lines = (ROOT / f"models/weights/{SHIPPED[language]}.vocab.txt").read_text().splitlines()
    assert lines == [f"{unit} {number}" for number, unit in enumerate(units.vocabulary(language))]
    assert lines[-1] == f"<blk> {units.blank(language)}"


def test_a_letter_with_its_nukta_and_a_subjoined_letter_are_one_unit_each() -> None:
    assert units.split("ਪੜ੍ਹ ਜ਼", "pa") == ["ਪ", "ੜ", "੍ਹ", "▁", "ਜ਼"]
    assert len(units.encode("ਪੜ੍ਹ ਜ਼", "pa")) == 5


def test_text_outside_the_alphabet_has_no_units() -> None:
    assert units.split("ਕ5", "pa") is None
    with pytest.raises(ValueError, match="not a unit of pa"):
        units.encode("ਕ5", "pa")


def test_decoding_puts_a_lone_sign_to_the_word_before_it() -> None:
    a, space, sign = (units.ALPHABETS["pa"].index(unit) for unit in ("ਕ", "▁", "ਾ"))
    assert units.decode([a, space, sign], "pa") == "ਕਾ"
    assert units.decode([space, a, space, space, a, space], "pa") == "ਕ ਕ"


@pytest.mark.parametrize(
    ("written", "language", "plain"),
    [
        ("ਇਹ, ਕਿਤਾਬ। ", "pa", "ਇਹ ਕਿਤਾਬ"),
        ("ਚਾਂਦ ਚਾਁਦ", "pa", "ਚਾਂਦ ਚਾਂਦ"),
        ("ਸ\u0a3c", "pa", "ਸ\u0a3c"),
        ("It’s “OK”—fine & dandy!", "en", "it's ok fine and dandy"),
        ("ਪੰਜ 5", "pa", None),
        ("ਇਹ book", "pa", None),
        ("It’s 5", "en", None),
        ("", "pa", None),
    ],
)
def test_plain_text(written: str, language: str, plain: str | None) -> None:
    assert units.plain(written, language) == plain


def test_greedy_merges_repeats_and_drops_blanks() -> None:
    a, b = units.encode("ab", "en")
    blank = units.blank("en")
    assert units.greedy([blank, a, a, blank, a, b, b, blank], "en") == "aab"
    assert units.greedy(np.array([blank, blank]), "en") == ""


def test_panjabi_numbers_up_to_a_hundred_are_a_hundred_and_one_different_words() -> None:
    words = [numbers.pa(n) for n in range(101)]
    assert len(set(words)) == 101
    assert words[:11] == ["ਸਿਫ਼ਰ", "ਇੱਕ", "ਦੋ", "ਤਿੰਨ", "ਚਾਰ", "ਪੰਜ", "ਛੇ", "ਸੱਤ", "ਅੱਠ", "ਨੌਂ", "ਦਸ"]
    assert [words[n] for n in (25, 50, 75, 99, 100)] == ["ਪੱਚੀ", "ਪੰਜਾਹ", "ਪਚੱਤਰ", "ਨੜਿੰਨਵੇਂ", "ਇੱਕ ਸੌ"]
    assert all(units.split(word, "pa") for word in words)


@pytest.mark.parametrize(
    ("number", "panjabi"),
    [
        (101, "ਇੱਕ ਸੌ ਇੱਕ"),
        (2000, "ਦੋ ਹਜ਼ਾਰ"),
        (12345, "ਬਾਰਾਂ ਹਜ਼ਾਰ ਤਿੰਨ ਸੌ ਪੰਤਾਲੀ"),
        (9999999, "ਨੜਿੰਨਵੇਂ ਲੱਖ ਨੜਿੰਨਵੇਂ ਹਜ਼ਾਰ ਨੌਂ ਸੌ ਨੜਿੰਨਵੇਂ"),
    ],
)
def test_panjabi_numbers_above_a_hundred(number: int, panjabi: str) -> None:
    assert numbers.pa(number) == panjabi


@pytest.mark.parametrize(
    ("number", "english"),
    [
        (0, "zero"),
        (19, "nineteen"),
        (20, "twenty"),
        (42, "forty two"),
        (110, "one hundred ten"),
        (999999, "nine hundred ninety nine thousand nine hundred ninety nine"),
    ],
)
def test_english_numbers(number: int, english: str) -> None:
    assert numbers.en(number) == english


@pytest.mark.parametrize("language", LANGUAGES)
def test_drawn_digits_and_numbers_are_plain_and_repeatable(language: str) -> None:
    for seed in range(100):
        drawn = " ".join(numbers.digits(language, np.random.default_rng(seed)))
        ones = drawn.split() if language == "pa" else english.digits(drawn.replace("nought", "oh"))
        assert len(ones) in (1, 2, 3, 5, 7, 9)
        assert language == "en" or set(ones) <= set(numbers.PA[:10])
        said = numbers.drawn(language, np.random.default_rng(seed))
        assert units.plain(said, language) == said
        assert said == numbers.drawn(language, np.random.default_rng(seed))


def test_english_digits_are_said_in_several_ways() -> None:
    drawn = [numbers.digits("en", np.random.default_rng(seed)) for seed in range(100)]
    said = {word for groups in drawn for group in groups for word in group.split()}
    assert said == {*numbers.EN[:10], *numbers.EN_ZEROS, *english.TIMES}
    assert any(len(groups) > 1 for groups in drawn)
    assert numbers.shortened("one one two two two one") == "double one triple two one"


@pytest.mark.parametrize(
    ("word", "devanagari", "phones"),
    [
        ("ਪੰਜਾਬੀ", "पंजाबी", "p ah n jh aa b iy"),
        ("ਸੱਤ", "सत्त", "s ah t t"),  # addak doubles the consonant behind it
        ("ਮੱਖਣ", "मक्खण", "m ah k k hh ah n"),
        ("ਭਾਰਤ", "भारत", "p aa r ah t"),  # a voiced aspirate is unvoiced at the start
        ("ਕਰਨਾ", "करना", "k ah r n aa"),  # the inherent vowel between two vowels is silent
        ("ਸ਼ੇਰ", "शेर", "sh ey r"),
        ("ਫ਼ਰਵਰੀ", "फरवरी", "f ah r ah v r iy"),
        ("ਲੰਬਾ", "लंबा", "l ah m b aa"),  # tippi before a labial is m
    ],
)
def test_gurmukhi_for_other_voices(word: str, devanagari: str, phones: str) -> None:
    assert gurmukhi.devanagari(word) == devanagari
    assert gurmukhi.phones(f"{word} {word}") == f"pau {phones} {phones} pau"


def test_words_in_phones_of_other_languages() -> None:
    assert list(cross_lingual.spelt("ਪੰਜਾਬੀ", "it")) == [[("pan", False), ("dZa1", True), ("bi1", False)]]
    assert cross_lingual.sampa("ਪੰਜਾਬੀ ਸੱਤ", "it-IT") == ['pan."dZa:.bi:', '"satt']
    assert cross_lingual.phones([("ਕ", True), ("h", False), ("ਅ", False)], "fi") == ["k:", "h", "a"]
    assert cross_lingual.phones([("ਹ", False), ("ਆ", False)], "it") == ["a1"]  # Italian has no h
    assert pico.phones(["a.b", "c"]) == "<phoneme ph='a.b'/> <phoneme ph='c'/>"


def test_festival_lexicon_entries() -> None:
    assert cross_lingual.name(907) == "xjah"
    assert cross_lingual.entry("xa", "ਪੰਜਾਬੀ", "it") == (
        """(lex.add.entry '("xa" nil (((p a n) 0) ((dZ a1) 1) ((b i1) 0))))"""
    )
    # The Czech voices get a glide between two vowels.
    assert cross_lingual.entry("x", "ਆਈ", "cs") == """(lex.add.entry '("x" nil (((a:) 1) ((j i:) 0))))"""


def test_phonemes_for_kokoro() -> None:
    assert kokoro.panjabi("ਪੰਜਾਬੀ ਸੱਤ") == "pənɟˈaːbiː sˈʌtt"
    assert kokoro.stress("kʌr", "") == "kər"
    assert kokoro.stress("str", "ˈ") == "str"
    assert hibari.american(kokoro.panjabi("ਪੰਜਾਬੀ")) == "pənʤˈɑbi"


@pytest.mark.parametrize(
    ("listed", "read"),
    [
        ("press 1 for sales [x]", "press one for sales"),
        ("call * now (maybe)", "call star now"),
        ("IVR #1, P.M.", "i v r pound one p m"),
        ("you have 12 messages.", "you have one two messages"),
        ("a <b>", None),
    ],
)
def test_telephone_prompts_as_they_are_read(listed: str, read: str | None) -> None:
    assert prompts.words(listed) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[ਹਾਸਾ] ਮੈਂ 12,345 Rs. 5%", "ਮੈਂ ਬਾਰਾਂ ਹਜ਼ਾਰ ਤਿੰਨ ਸੌ ਪੰਤਾਲੀ ਰੁਪਏ ਪੰਜ ਪ੍ਰਤੀਸ਼ਤ"),
        ("SBI ਬੈਂਕ 012 & ਦੋ", "ਐੱਸ ਬੀ ਆਈ ਬੈਂਕ ਸਿਫ਼ਰ ਇੱਕ ਦੋ ਐਂਡ ਦੋ"),
        ("ਹਾਂ 12345678", "ਹਾਂ ਇੱਕ ਦੋ ਤਿੰਨ ਚਾਰ ਪੰਜ ਛੇ ਸੱਤ ਅੱਠ"),  # too long a number: digit by digit
        ("hello ਦੋ", None),
    ],
)
def test_code_mixed_prompts_as_they_are_read(written: str, read: str | None) -> None:
    assert sentences.readable(written) == read


def data_folder(folder: Path) -> Path:
    """A data folder with two hundred sentences, some of them repeated or unusable, and a frequency list."""
    lines = [f"{numbers.pa(a)} {numbers.pa(b)}।" for a, b in itertools.product(range(20), range(10))]
    lines += [lines[0], "5 ਕਿਤਾਬਾਂ", "ਇੱਕ " * 27]
    listed = ["ਦਾ\t100", "ਹੈ\t25", "ਾਂ\t90", "the\t80", "ਦਾ,\t44"]
    for name, content in (("mono/commonvoice-pa", lines), ("lexicon/unilex-pa-frequency", listed)):
        path = folder / "text" / (name + (".txt.gz" if "mono" in name else ".tsv.gz"))
        path.parent.mkdir(parents=True)
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.write("\n".join(content) + "\n")
    return folder


def test_parts_are_disjoint_and_each_sentence_is_in_one(tmp_path: Path) -> None:
    found = reading.sentences(data_folder(tmp_path), "pa")
    everything = [text for part in found.values() for text in part]
    assert len(everything) == len(set(everything)) == 200
    assert {part: len(rows) for part, rows in found.items()} == {"train": 191, "dev": 3, "test": 6}
    assert all(reading.part(text) == part for part, rows in found.items() for text in rows)


def test_words_are_drawn_by_the_root_of_their_counts(tmp_path: Path) -> None:
    forms, weight = reading.words(data_folder(tmp_path), "pa")
    assert forms == ["ਦਾ", "ਹੈ"]  # the sign alone and the Latin word are left out, the comma is dropped
    assert weight.tolist() == pytest.approx([12 / 17, 5 / 17])
    rng = np.random.default_rng(3)
    assert all(units.split(reading.phrase(tmp_path, "pa", rng), "pa") for _ in range(50))


def test_spoken_pieces_cover_every_kind(tmp_path: Path) -> None:
    folder = data_folder(tmp_path)
    rows = [("en", f"{numbers.pa(n)} ਹੈ {n % 7}", f"indicvoices:{'everyday' if n % 2 else 'uses'}") for n in range(99)]
    rows += [("en", "ਖੇਤ", "indicvoices:district"), ("en", "ਘਰ", "indicvoices:a template")]
    path = folder / sentences.PROMPTS
    path.parent.mkdir(parents=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("".join("\t".join(row) + "\n" for row in rows))
    pools = sentences.prompts(str(folder))
    kept = [text for texts_of_pool in pools.values() for text in texts_of_pool]
    assert len(kept) == len(set(kept)) == 99
    assert "ਖੇਤ" not in kept
    assert "ਘਰ" not in kept
    assert all(reading.part(text) == part for (part, _), pool in pools.items() for text in pool)
    source = sentences.endless(str(folder), "train", np.random.default_rng(1))
    drawn = [next(source) for _ in range(400)]
    assert {kind for kind, _ in drawn} == set(sentences.SHARES)
    assert all(units.split(piece, "pa") for _, pieces in drawn for piece in pieces)
    assert {len(pieces) for kind, pieces in drawn if kind == "digits"} > {1, 2, 3}


def test_pieces_of_conversation_have_english_words(tmp_path: Path) -> None:
    pools = [(part, kind) for part in ("train", "dev") for kind in ("natural", "templates")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "prompts", lambda _: {key: ["ਉਸ ਨੇ ਕਿਤਾਬਾਂ ਅਤੇ ਕਾਪੀਆਂ ਖਰੀਦੀਆਂ"] for key in pools})
        shares, lexicon = sentences.CONVERSATION, borrowed.lexicon_of({"ਟਾਈਮ": 1.0})
        source = sentences.endless(str(data_folder(tmp_path)), "train", np.random.default_rng(1), shares, lexicon)
        drawn = [next(source) for _ in range(600)]
    assert sum(shares.values()) == pytest.approx(1)
    assert {kind for kind, _ in drawn} == set(shares)
    prompted = [pieces[0] for kind, pieces in drawn if kind == "natural"]
    assert 0.15 < np.mean(["ਟਾਈਮ" in text.split() for text in prompted]) < 0.35
    assert 0.15 < np.mean(["ਉਹਨੇ" in text.split() for text in prompted]) < 0.35
    assert all(set(" ".join(pieces).split()) == {"ਟਾਈਮ"} for kind, pieces in drawn if kind == "english")


def test_english_words_are_joined_from_two_lists_without_phrases_short_words_and_mistakes() -> None:
    counted: dict[str, list[str | float]] = {"ਨੰਬਰ": ["number", 1269, 0.98], "ਕ5": ["x", 3, 1.0]}
    listed = {"ਨੰਬਰ": "number", "ਬਜਟ": "budget", "ਨੋ": "no", "ਲੌਗ ਇਨ": "login", "ਰੈਂਕਕ": "rank", "ਮੀਟਿੰਗ": "2nd meeting"}
    assert borrowed.merged(counted, listed) == {"ਨੰਬਰ": 1269, "ਬਜਟ": 1}
    words, probabilities = borrowed.lexicon_of({"ਨੰਬਰ": 9, "ਬਜਟ": 1})
    assert (words, probabilities.tolist()) == (["ਨੰਬਰ", "ਬਜਟ"], [0.75, 0.25])


def test_conversation_is_plain_text_and_most_texts_stay_as_they_are() -> None:
    rng, lexicon = np.random.default_rng(0), borrowed.lexicon_of({"ਸਕੂਲ": 2.0, "ਟਾਈਮ": 1.0})
    text = "ਉਸ ਨੂੰ ਇੱਥੇ ਕੀ ਦਿੱਸਦਾ ਹੈ ਜੋ ਸਾਨੂੰ ਨਹੀਂ ਦਿੱਸਦਾ"
    found = [conversation.spoken(text, rng, lexicon) for _ in range(400)]
    assert all(units.plain(one, "pa") == one for one in found)
    assert 0.4 < np.mean([one == text for one in found]) < 0.65
    assert any("ਉਹਨੂੰ ਏਥੇ" in one for one in found)
    assert all(units.plain(form, "pa") for _, said in conversation.FORMS for form in [*said, *conversation.FILLERS])
