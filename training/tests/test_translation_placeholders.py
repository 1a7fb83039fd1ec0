"""What a translation copies: what is found in a text, replaced, and put back."""

import random
import re

import pytest
from translation import copied, golden_placeholders, names, noise, placeholders
from translation.placeholders import Lexicon

NAMES = Lexicon(golden_placeholders.NAMES)


def shown(text: str) -> str:
    """A text with its placeholders as <n0> and <w0>."""
    return re.sub(
        "[\ue000-\ue01f]",
        lambda m: f"<n{ord(m[0]) - 0xE000}>" if ord(m[0]) < 0xE010 else f"<w{ord(m[0]) - 0xE010}>",
        text,
    )


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("It is 6:15 on 14/05/2025.", "en", "It is <n0> on <n1>."),
        ("Pay ₹1,500.50 or $20, 50% off", "en", "Pay <n0> or <n1>, <n2> off"),
        ("Call +91 98765 43210 or 98765-43210.", "en", "Call <n0> or <n1>."),
        ("in 2020 500 people, 2 3", "en", "in <n0> people, <n1> <n2>"),
        ("-5°C, 7-9, 2019–20", "en", "<n0>°C, <n1>, <n2>"),
        ("the 14th, 5kg, 10AM, 4G, 64GB", "en", "the <n0>th, <n1>kg, <n2>AM, <w0>, <w1>"),
        ("20 14th", "en", "<n0> <n1>th"),
        ("IPv4 and COVID-19 mp3", "en", "<w0> and <w1> <w2>"),
        ("See https://a.org/x?y=1. Mail me@b.co.in, pay 73@axis!", "en", "See <w0>. Mail <w1>, pay <w2>!"),
        ("firefox.com is not example.community", "en", "<w0> is not example.community"),
        ("%1$s of %2$d, {{x}} <TAG> 100%", "en", "<w0> of <w1>, <w2> <w3> <n0>"),
        ("%discount and a%s", "en", "%discount and a<w0>"),
        ("%1$s_%2$s.txt, %dx", "en", "<w0>_<w1>.txt, %dx"),
        ("Zürich, 東京 and 😀!", "en", "Zürich, <w0> and <w1>!"),
        ("Take \ue000 \uf8ff", "en", "Take <w0> <w1>"),
        ("੪੫੦ ਰੁਪਏ, 14ਵੀਂ", "pa", "<n0> ਰੁਪਏ, <n1>ਵੀਂ"),
        ("ਕੋਵਿਡ-19", "pa", "ਕੋਵਿਡ-<n0>"),
        ("Mozilla VPN ਨੂੰ Wi-Fi ਤੋਂ।", "pa", "<w0> ਨੂੰ <w1> ਤੋਂ।"),
        ("From New Delhi to delhi's Moga, moga", "en", "From <w0> to <w1>'s <w2>, moga"),
        ("Karan uses Firefox", "en", "<w0> uses <w1>"),
        ("ਕਰਨ ਮੋਗੇ ਵਿੱਚ, ਮੋਗੇਂ", "pa", "ਕਰਨ <w0> ਵਿੱਚ, ਮੋਗੇਂ"),
        ("", "en", ""),
    ],
)
def test_what_is_copied(text: str, language: str, expected: str) -> None:
    masked, values = placeholders.mask(text, language, NAMES)
    assert shown(masked) == expected
    assert list(values) == re.findall("[\ue000-\ue01f]", masked)


def test_values_are_put_back_in_the_targets_script() -> None:
    assert placeholders.mask("੪੫੦", "pa")[1] == {"\ue000": "450"}
    assert placeholders.mask("੪੫੦", "en")[1] == {"\ue000": "੪੫੦"}
    assert list(placeholders.mask("Karan, New Delhi", "en", NAMES)[1].values()) == ["ਕਰਨ", "ਨਵੀਂ ਦਿੱਲੀ"]
    assert list(placeholders.mask("ਮੋਗੇ", "pa", NAMES)[1].values()) == ["Moga"]
    assert placeholders.restore("to \ue010 at \ue000", {"\ue000": "5", "\ue010": "Moga"}) == "to Moga at 5"
    assert placeholders.restore("at", {"\ue000": "5"}) == "at 5"


def test_words_of_two_scripts_are_set_apart() -> None:
    values = {"\ue000": "5", "\ue010": "a@b.in", "\ue011": "%1$s", "\ue012": "ਮੋਗਾ", "\ue013": "<b>"}
    assert placeholders.apart("\ue010.ਘਰ ਘਰ_\ue010 \ue011_ਘਰ", values) == "\ue010. ਘਰ ਘਰ_ \ue010 \ue011_ ਘਰ"
    kept = "\ue010, ਘਰ। \ue011-ਮਿੰਟ \ue000ਵਾਂ \ue012ਨੂੰ \ue013ਘਰ, ਘਰ\ue013 \ue010\ue010 ਘਰ \ue011"
    assert placeholders.apart(kept, values) == kept


def test_ten_of_a_kind_are_replaced() -> None:
    masked, values = placeholders.mask(", ".join(map(str, range(12))) + " a1", "en")
    assert len(values) == 11
    assert masked.endswith(", 10, 11 \ue010")


def test_a_masked_text_comes_back() -> None:
    rng = random.Random(5)
    signs = "0१੨9 .,:-+₹$%@/a7Zਕਂ੍{}<>_😀\ue003()'"
    for _ in range(3000):
        text = "".join(rng.choices(signs, k=rng.randrange(25))).strip()
        masked, values = placeholders.mask(text, "en")
        assert placeholders.restore(masked, values) == text


@pytest.mark.parametrize(
    ("source", "target", "language", "expected"),
    [
        ("At 6:15 in Moga", "ਮੋਗੇ 6:15 ਵਜੇ", "en", ("At <n0> in <w0>", "<w0> <n0> ਵਜੇ")),
        ("ਮੋਗੇ 6:15 ਵਜੇ", "At 6:15 in Moga", "pa", ("<w0> <n0> ਵਜੇ", "At <n0> in <w0>")),
        ("50,000 for Karan", "ਕਰਨ ਲਈ ੫੦੦੦੦", "en", ("<n0> for <w0>", "<w0> ਲਈ <n0>")),
        ("ਕਰਨ ਲਈ", "for Karan", "pa", ("ਕਰਨ ਲਈ", "for Karan")),
        # What only one side has stays; another Latin word that Panjabi keeps does not.
        ("5 apps on Linux", "Linux 'ਤੇ ਐਪਾਂ", "en", ("5 apps on <w0>", "<w0> 'ਤੇ ਐਪਾਂ")),
        ("2 and 2", "2 ਅਤੇ 2", "en", ("<n0> and <n1>", "<n0> ਅਤੇ <n1>")),
    ],
)
def test_pairs_for_training(source: str, target: str, language: str, expected: tuple[str, str]) -> None:
    class Still(random.Random):
        def random(self) -> float:
            return 0.5

    found = placeholders.masked(source, target, language, Still(), NAMES)
    assert tuple(map(shown, found)) == expected


def test_a_third_of_the_pairs_has_placeholders_in_any_order() -> None:
    rng = random.Random(6)
    drawn = [placeholders.masked("1 a 2", "2 ਅ 1", "en", rng) for _ in range(3000)]
    assert all(sorted(a[0] + a[-1]) == sorted(b[0] + b[-1]) for a, b in drawn)
    assert {a[0] for a, _ in drawn} == {chr(0xE000 + k) for k in range(10)}
    assert 0.55 < sum(a[0] == "\ue000" for a, _ in drawn) / len(drawn) < 0.8


# The lexicon.


def test_names_sound_alike_in_both_scripts() -> None:
    for en, pa in (("Amritsar", "ਅੰਮ੍ਰਿਤਸਰ"), ("Ludhiana", "ਲੁਧਿਆਣਾ"), ("Chandigarh", "ਚੰਡੀਗੜ੍ਹ"), ("Shimla", "ਸ਼ਿਮਲਾ")):
        assert names.alike(en, pa) >= names.LIKE, (en, names.consonants(en), names.consonants(pa))
    assert names.alike("Delhi", "ਅੰਮ੍ਰਿਤਸਰ") < names.LIKE


def test_names_are_learnt_from_pairs() -> None:
    pairs = [
        (f"In {where} we met {who} again.", f"{place} ਵਿੱਚ {name} ਮਿਲੇ।", "indicvoices:wikipedia")
        for where, place in (("Kochi", "ਕੋਚੀ"), ("Jabalpur", "ਜਬਲਪੁਰ"))
        for who, name in (("Babur", "ਬਾਬਰ"), ("Akbar", "ਅਕਬਰ"), ("Again", "ਅੱਜ"))
    ]
    found = names.shown(pairs, ["again"])
    assert ("Jabalpur", "ਜਬਲਪੁਰ", "both") in found
    assert ("Babur", "ਬਾਬਰ", "both") in found
    assert not [row for row in found if row[0] == "Again"]
    latin = [("Open Firefox", "Firefox ਖੋਲ੍ਹੋ", "x"), ("Use Firefox", "Firefox ਵਰਤੋ", "x"), ("Open it", "Open ਕਰੋ", "x")]
    assert names.kept(latin) == [("Firefox", "Firefox", "en")]


def test_the_lexicon_is_well_formed() -> None:
    rows = names.rows()
    written = names.written()
    assert all(way in ("both", "en", "pa") for _, _, way in rows)
    assert all(pa == " ".join(pa.split()) and en == " ".join(en.split()) for en, pa, _ in rows)
    assert ("Harpreet", "ਹਰਪ੍ਰੀਤ", "both") in written
    assert ("Gurinder", "ਗੁਰਿੰਦਰ", "both") in written
    assert ("Karan", "ਕਰਨ", "en") in written
    assert not [row for row in written if row[0] in ("Rajpal", "Gurdev")]
    assert max(len(form.split()) for en, pa, _ in rows for form in (en, pa)) <= Lexicon.LONGEST


# Generated sentences.


@pytest.mark.parametrize("language", ["en", "pa"])
@pytest.mark.parametrize("kind", list(copied.CARRIERS))
def test_what_is_expected_of_a_sentence_is_what_is_put_back(kind: str, language: str) -> None:
    rng = random.Random(3)
    lexicon = names.lexicon()
    for _ in range(100):
        sentence, expected = copied.drawn(kind, language, rng)
        masked, values = placeholders.mask(sentence, language, lexicon)
        assert set(expected) <= set(values.values()), sentence
        assert copied.comes_through(placeholders.restore(masked, values), expected)


def test_what_comes_through() -> None:
    assert copied.comes_through("ਮੀਟਿੰਗ 14 ਮਈ 2025 ਨੂੰ ਹੈ।", ["14", "2025"])
    assert not copied.comes_through("ਮੀਟਿੰਗ 14 ਮਈ 20255 ਨੂੰ ਹੈ।", ["14", "2025"])
    assert not copied.comes_through("5 ਅਤੇ 5", ["5"])
    assert not copied.comes_through("1,500.5", ["1,500"])
    assert copied.comes_through("₹500।", ["₹500"])


# Inputs without sense.


def test_faults_are_told() -> None:
    assert noise.faults("ਘਰ ਪਾਣੀ", "house ਪਾਣੀ", "pa") == ["mixed scripts"]
    assert noise.faults("the house", "the ਘਰ", "en") == []
    assert noise.faults("red house", "house ਘਰ ਘਰ", "en") == []
    assert noise.faults("go", "ਘਰ jao go", "en") == ["mixed scripts"]
    assert noise.faults("mail a.b@c.in", "a.b@c.in ਨੂੰ", "en") == []
    assert noise.faults("ਘਰ", "how how how how", "pa") == ["loop"]
    assert noise.faults("ਘਰ", "it is it is it is it is", "pa") == ["loop"]
    assert noise.faults("ਘਰ ਘਰ ਘਰ ਘਰ", "home home home home", "pa") == []
    assert noise.faults("ਘਰ", "home \ue001", "pa") == ["placeholder"]
    assert noise.faults("ਘਰ \ue001", "home \ue001", "pa") == []


def test_noise_is_single_lines() -> None:
    rng = random.Random(2)
    drawn = [noise.drawn(language, rng) for language in ("en", "pa") for _ in range(300)]
    assert all(text and text == " ".join(text.split()) and len(text.split()) <= 30 for text in drawn)
    assert len(set(drawn)) > 500
