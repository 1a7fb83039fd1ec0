"""The phrase book of the translator: forms of words, sentences by rule, templates."""

import random
import re
from pathlib import Path

import pytest
from translation import grammar, phrases, words

ROOT = Path(__file__).parents[2]
MARKUP = re.compile(r"[<>«»|\[\]]")


@pytest.fixture(scope="module")
def book() -> phrases.Phrases:
    """The phrase book as it is trained on."""
    return phrases.Phrases()


# Words: nouns, articles, cases.


@pytest.mark.parametrize(
    ("word", "expected"),
    [("apple", "an apple"), ("book", "a book"), ("hour", "an hour"), ("university", "a university"), ("use", "a use")],
)
def test_article(word: str, expected: str) -> None:
    assert words.article(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("book", "books"),
        ("bus", "buses"),
        ("box", "boxes"),
        ("church", "churches"),
        ("city", "cities"),
        ("day", "days"),
    ],
)
def test_plural(word: str, expected: str) -> None:
    assert words.plural(word) == expected


@pytest.mark.parametrize(
    ("word", "gender", "expected"),
    [
        ("ਮੁੰਡਾ", "m", ("ਮੁੰਡੇ", "ਮੁੰਡੇ", "ਮੁੰਡਿਆਂ")),
        ("ਘਰ", "m", ("ਘਰ", "ਘਰ", "ਘਰਾਂ")),
        ("ਆਦਮੀ", "m", ("ਆਦਮੀ", "ਆਦਮੀ", "ਆਦਮੀਆਂ")),
        ("ਕਿਤਾਬ", "f", ("ਕਿਤਾਬ", "ਕਿਤਾਬਾਂ", "ਕਿਤਾਬਾਂ")),
        ("ਕੁਰਸੀ", "f", ("ਕੁਰਸੀ", "ਕੁਰਸੀਆਂ", "ਕੁਰਸੀਆਂ")),
    ],
)
def test_cases(word: str, gender: str, expected: tuple[str, str, str]) -> None:
    assert words.cases(word, gender) == expected


def test_a_noun_may_be_irregular_or_without_a_plural() -> None:
    english, panjabi, gender = words.noun("fish/fish = ਮੱਛੀ f ਮੱਛੀ ਮੱਛੀਆਂ ਮੱਛੀਆਂ")
    assert (english["s"], english["a"], gender) == ("fish", "a fish", "f")
    assert panjabi == {"": "ਮੱਛੀ", "o": "ਮੱਛੀ", "s": "ਮੱਛੀਆਂ", "so": "ਮੱਛੀਆਂ"}
    english, panjabi, gender = words.noun("water/- = ਪਾਣੀ m")
    assert (english["s"], english["a"], english["g"], gender) == ("", "water", "water", "m")
    english, panjabi, gender = words.noun("glasses = ਐਨਕਾਂ F")
    assert (set(panjabi.values()), gender) == ({"ਐਨਕਾਂ"}, "f")


# The grammar, by worked sentences.

SITA = grammar.Subject("Sita", "ਸੀਤਾ", 3, "fs", "ਸੀਤਾ ਨੇ", "ਸੀਤਾ ਨੂੰ")
THEY = grammar.Subject("they", "ਉਹ", 3, "mp", "ਉਨ੍ਹਾਂ ਨੇ", "ਉਨ੍ਹਾਂ ਨੂੰ")
BREAD = ("bread", "ਰੋਟੀ", "fs")
APPLES = ("apples", "ਸੇਬ", "mp")


@pytest.mark.parametrize(
    ("kind", "subject", "thing", "asked", "negative", "english", "panjabi"),
    [
        ("habit", SITA, BREAD, False, False, "Sita eats bread", "ਸੀਤਾ ਰੋਟੀ ਖਾਂਦੀ ਹੈ"),
        ("habit", SITA, BREAD, False, True, "Sita does not eat bread", "ਸੀਤਾ ਰੋਟੀ ਨਹੀਂ ਖਾਂਦੀ"),
        ("habit", THEY, BREAD, True, False, "do they eat bread", "ਉਹ ਰੋਟੀ ਖਾਂਦੇ ਹਨ"),
        ("going", SITA, BREAD, False, False, "Sita is eating bread", "ਸੀਤਾ ਰੋਟੀ ਖਾ ਰਹੀ ਹੈ"),
        ("was", THEY, BREAD, False, False, "they were eating bread", "ਉਹ ਰੋਟੀ ਖਾ ਰਹੇ ਸਨ"),
        ("future", SITA, BREAD, False, False, "Sita will eat bread", "ਸੀਤਾ ਰੋਟੀ ਖਾਵੇਗੀ"),
        # A transitive verb in the past agrees with its object, and the subject takes ਨੇ.
        ("past", SITA, APPLES, False, False, "Sita ate apples", "ਸੀਤਾ ਨੇ ਸੇਬ ਖਾਧੇ"),
        ("past", THEY, BREAD, False, True, "they did not eat bread", "ਉਨ੍ਹਾਂ ਨੇ ਰੋਟੀ ਨਹੀਂ ਖਾਧੀ"),
        # The infinitive agrees with the object, ਚਾਹੁੰਦਾ with the subject.
        ("want", SITA, APPLES, False, False, "Sita wants to eat apples", "ਸੀਤਾ ਸੇਬ ਖਾਣੇ ਚਾਹੁੰਦੀ ਹੈ"),
        ("can", SITA, BREAD, False, True, "Sita cannot eat bread", "ਸੀਤਾ ਰੋਟੀ ਨਹੀਂ ਖਾ ਸਕਦੀ"),
        ("should", SITA, APPLES, False, False, "Sita should eat apples", "ਸੀਤਾ ਨੂੰ ਸੇਬ ਖਾਣੇ ਚਾਹੀਦੇ ਹਨ"),
    ],
)
def test_clauses(
    book: phrases.Phrases,
    kind: str,
    subject: grammar.Subject,
    thing: grammar.Thing,
    asked: bool,
    negative: bool,
    english: str,
    panjabi: str,
) -> None:
    eat = next(verb for verb in book.grammar.verbs if verb.base == "eat")
    en, predicate, _, said_of = book.grammar.clauses[kind](eat, subject, thing, asked, negative)
    assert (en, f"{said_of} {thing[1]} {predicate}") == (english, panjabi)


def test_a_verb_of_two_words_is_denied_before_its_last() -> None:
    assert grammar.denied("ਬੰਦ ਕਰਦਾ") == "ਬੰਦ ਨਹੀਂ ਕਰਦਾ"
    assert grammar.denied("ਜਾਂਦਾ") == "ਨਹੀਂ ਜਾਂਦਾ"


# The phrase book.


def test_the_notes_count_the_phrase_book(book: phrases.Phrases) -> None:
    notes = " ".join((ROOT / "training/notes/translation.md").read_text().split())
    n_nouns = sum(map(len, book.nouns.values()))
    assert f"{len(book.fixed)} fixed phrases" in notes
    assert f"{len(book.templates)} templates" in notes
    assert f"{n_nouns} nouns" in notes
    assert f"{len(book.grammar.verbs)} verbs" in notes


def test_the_slots_and_classes_of_the_phrase_book_exist(book: phrases.Phrases) -> None:
    kinds = {*book.nouns, *book.lists, *phrases.MADE, "num", "hour"}
    for en, pa in book.templates:
        assert {kind for kind, _, _ in phrases.SLOT.findall(en + pa)} <= kinds, en
    for verb in book.grammar.verbs:
        assert set(verb.classes) <= {*book.nouns, "-", "to", "tongue"}, verb.base
    for name, listed in book.lists.items():
        assert {len(forms) for _, forms in listed} <= {1, 4}, name


def test_pairs_are_complete_and_the_same_from_one_seed(book: phrases.Phrases) -> None:
    rng, again = random.Random(5), random.Random(5)
    drawn = [book.draw(rng) for _ in range(4000)]
    assert [book.draw(again) for _ in range(4000)] == drawn
    for en, pa, _ in drawn:
        assert en, pa
        assert pa, en
        for holder in phrases.HOLDERS:
            en, pa = en.replace(holder, ""), pa.replace(holder, "")
        assert not MARKUP.search(en + pa), (en, pa)
        assert "{" not in en + pa, (en, pa)
    assert {speaker for _, _, speaker in drawn} == {0, 1}


def test_what_is_held_out_is_never_drawn(book: phrases.Phrases) -> None:
    rng = random.Random(6)
    drawn = {text for _ in range(4000) for text in book.draw(rng)[:2]}
    assert len(book.held) == 80
    assert drawn.isdisjoint(book.held)


@pytest.fixture
def small(tmp_path: Path) -> phrases.Phrases:
    """A phrase book of few words, so that what is drawn is known."""
    files = {
        "nouns.txt": "[thing]\nbook = ਕਿਤਾਬ f\n[place]\nroom = ਕਮਰਾ m\n[drink]\nwater/- = ਪਾਣੀ m\n",
        "lists.txt": "[adjective]\nbig = ਵੱਡਾ|ਵੱਡੀ|ਵੱਡੇ|ਵੱਡੀਆਂ\n[day]\nMonday = ਸੋਮਵਾਰ\n",
        "templates.txt": "",
        "fixed.txt": "Hello. = ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ।",
        "held.txt": "Bye. = ਅਲਵਿਦਾ।",
        "verbs.txt": "",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    return phrases.Phrases(tmp_path)


@pytest.mark.parametrize(
    ("en", "pa", "expected"),
    [
        ("where is my {thing}?", "<ਮੇਰਾ|ਮੇਰੀ> {thing} ਕਿੱਥੇ ਹੈ?", ("Where is my book?", "ਮੇਰੀ ਕਿਤਾਬ ਕਿੱਥੇ ਹੈ?")),
        ("I want {thing.a}.", "ਮੈਨੂੰ {thing} <ਚਾਹੀਦਾ|ਚਾਹੀਦੀ> ਹੈ।", ("I want a book.", "ਮੈਨੂੰ ਕਿਤਾਬ ਚਾਹੀਦੀ ਹੈ।")),
        ("in the {place}", "{place.o} ਵਿੱਚ", ("in the room", "ਕਮਰੇ ਵਿੱਚ")),
        ("{adjective} {thing.s}", "{adjective.s} {thing.s}", ("big books", "ਵੱਡੀਆਂ ਕਿਤਾਬਾਂ")),
        ("{adjective} {place}", "{adjective} {place}", ("big room", "ਵੱਡਾ ਕਮਰਾ")),
        ("on {day}", "{day} ਨੂੰ", ("on Monday", "ਸੋਮਵਾਰ ਨੂੰ")),
        ("my {thing} and my {place}", "[thing:ਮੇਰਾ|ਮੇਰੀ] {thing} ਅਤੇ [place:ਮੇਰਾ|ਮੇਰੀ] {place}", None),
    ],
)
def test_templates_agree(small: phrases.Phrases, en: str, pa: str, expected: tuple[str, str] | None) -> None:
    expected = expected or ("my book and my room", "ਮੇਰੀ ਕਿਤਾਬ ਅਤੇ ਮੇਰਾ ਕਮਰਾ")
    assert small.filled(en, pa, random.Random(1))[:2] == expected


def test_a_template_says_who_speaks(small: phrases.Phrases) -> None:
    rng = random.Random(2)
    drawn = {small.filled("I go.", "ਮੈਂ «ਜਾਂਦਾ|ਜਾਂਦੀ» ਹਾਂ।", rng) for _ in range(100)}
    assert drawn == {("I go.", "ਮੈਂ ਜਾਂਦਾ ਹਾਂ।", 0), ("I go.", "ਮੈਂ ਜਾਂਦੀ ਹਾਂ।", 1)}


def test_made_slots_are_the_same_text_in_both_languages(small: phrases.Phrases) -> None:
    for kind in phrases.MADE:
        en, pa, _ = small.filled(f"{{{kind}}} a", f"{{{kind}}} a", random.Random(3))
        assert en == pa
    clock = {phrases.MADE["clock"](random.Random(seed)) for seed in range(300)}
    assert all(1 <= int(text.split(":")[0]) <= 12 and int(text.split(":")[1]) < 60 for text in clock)
    assert phrases.HOURS[2] == ("two", "ਦੋ")
    assert phrases.HOURS[12] == ("twelve", "ਬਾਰਾਂ")
