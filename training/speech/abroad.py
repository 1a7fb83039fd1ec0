"""Panjabi in voices that speak Italian, Czech, Finnish or Catalan: each word as phones of the voice's own set.

festival gets made-up words and a lexicon that says their phones, so that timing and melody are the voice's own;
for Pico's voices there is X-SAMPA. What a language lacks is said as the nearest it has, or (ਹ) not at all.
"""

from . import festival
from .gurmukhi import ASPIRATED, LABIALS, NUKTA, TONES, silent, syllables

VOICES = {
    "lp_diphone": "it",
    "pc_diphone": "it",
    "czech_dita": "cs",
    "czech_krb": "cs",
    "czech_machac": "cs",
    "czech_ph": "cs",
    "suo_fi_lj_diphone": "fi",
    "hy_fi_mv_diphone": "fi",
    "upc_ca_ona_hts": "ca",
}
PHONE_SETS = {"it": "italian", "cs": "czech", "fi": "finnish", "ca": "upc_catalan"}

# Sounds are named by a letter: vowels by the independent one, aspirates by the plain one and "h" for the breath.
SIGNS = dict(zip("ਾਿੀੁੂੇੈੋੌ", "ਆਇਈਉਊਏਐਓਔ"))
VOWELS = "ਅਆਇਈਉਊਏਐਓਔ"
LONG = "ਆਈਊਏਐਓਔ"
UNVOICED = dict(zip("ਗਜਡਦਬ", "ਕਚਟਤਪ"))
FAR = {"ਖ" + NUKTA: "ਖ", "ਗ" + NUKTA: "ਗ", "ਲ" + NUKTA: "ਲ"}


def table(vowels, consonants, others):
    """{sound: [phone]} of phones in the order of the sounds; `+` joins two, 0 is none."""
    sounds = [*VOWELS, *"ਸਹਕਗਙਚਜਞਟਡਣਤਦਨਪਬਮਯਰਲਵੜ", "ਸ" + NUKTA, "ਜ" + NUKTA, "ਫ" + NUKTA, "h"]
    phones = vowels.split() + consonants.split() + others.split()
    assert len(sounds) == len(phones), (len(sounds), len(phones))
    return {sound: [p for p in phone.split("+") if p != "0"] for sound, phone in zip(sounds, phones)}


SETS = {
    "it": table("a a1 i i1 u u1 e1 E1 o1 O1", "s 0 k g ng tS dZ J t d n t d n p b m j r l v r", "S z f 0"),
    "cs": table("a a: i i: u u: e: e o: o", "s h k g n* c~ dz~ n~ t d n t d n p b m j r l v r", "s~ z f h"),
    "fi": table("a a: i i: u u: e: @: o: o", "s h k g N t+s d+j n t d n t d n p b m j r l v r", "s s f h"),
    "ca": table("ax a1 i i1 u u1 e1 E1 o1 O1", "s 0 k g n t+S d+Z J t d n t d n p b m j rr l b r", "S z f 0"),
    # Pico's, in X-SAMPA
    "it-IT": table("a a: i i: u u: e: e o: o", "s 0 k g N tS dZ J t d n t d n p b m i r l v r", "S z f 0"),
    "de-DE": table("a a: I i: U u: e: E o: O", "s h k g N tS dZ n t d n t d n p b m j R l v R", "S z f h"),
    "es-ES": table("a a: i i: u u: e: e o: o", "s x k g N tS dZ J t d n t d n p b m j rr l b r", "tS s f 0"),
    # Kokoro's, which has them all
    "ipa": table("ʌ aː ɪ iː ʊ uː eː ɛː oː ɔː", "s h k ɡ ŋ c ɟ ɲ ʈ ɖ ɳ t d n p b m j ɾ l ʋ ɽ", "ʃ z f ʰ"),
}


def sounds(word):
    """[(sound, doubled)] of one word, as it is read."""
    out, double = [], False
    parts = silent(syllables(word))
    for k, (consonant, vowel, signs) in enumerate(parts):
        if consonant:
            consonant, breath = FAR.get(consonant, consonant), False
            if consonant in TONES:  # unvoiced at a word's start, else plain
                plain = ASPIRATED[consonant]
                consonant = UNVOICED[plain] if k == 0 else plain
            elif consonant in ASPIRATED:
                consonant, breath = ASPIRATED[consonant], True
            out.append((consonant, double))
            if breath:
                out.append(("h", False))
        if vowel is not None:
            out.append((SIGNS.get(vowel, vowel) or "ਅ", False))
        following = parts[k + 1][0] if k + 1 < len(parts) else None
        if "ਂ" in signs or "ੰ" in signs:
            near = "ਮ" if following and following[0] in LABIALS else "ਨ"
            out.append(("ਙ" if following and following[0] in "ਕਖਗਘ" else near, False))
        double = "ੱ" in signs
    return out


def grouped(word):
    """[[(sound, doubled)] of a syllable]: of several consonants one goes to the vowel behind them."""
    said = sounds(word)
    nuclei = [k for k, (sound, _) in enumerate(said) if sound in VOWELS]
    if len(nuclei) < 2:
        return [said] if said else []
    cuts = [0]
    for before, after in zip(nuclei, nuclei[1:]):
        cut = max(before + 1, after - 1)
        if said[cut][0] == "h":
            cut = max(before + 1, cut - 1)
        cuts.append(cut)
    return [said[a:b] for a, b in zip(cuts, cuts[1:] + [len(said)])]


def stressed(groups):
    """Number of the first syllable with a long vowel, else 0."""
    return next((k for k, group in enumerate(groups) if any(s in LONG for s, _ in group)), 0)


def phones(group, language):
    """Phones of one syllable."""
    names, out = SETS[language], []
    for sound, double in group:
        some = names[sound]
        if double and some:
            if language == "fi" and len(some) == 1 and some[0] in "ptkslmnrjv":
                some = [some[0] + ":"]
            else:
                some = some[:1] + some
        out += some
    return out


def spelt(text, language):
    """Of each word its syllables in a language's phones, and whether each is the stressed one."""
    for word in text.split():
        groups = grouped(word)
        at = stressed(groups)
        yield [("".join(phones(group, language)), k == at) for k, group in enumerate(groups)]


def sampa(text, voice):
    """X-SAMPA of each word for a voice of Pico."""
    return [".".join('"' * mark + syllable for syllable, mark in word if syllable) for word in spelt(text, voice)]


def entry(name, word, language):
    """One lexicon entry in Scheme."""
    groups = grouped(word)
    at, said, last = stressed(groups), [], ""
    for k, group in enumerate(groups):
        some = phones(group, language)
        if language == "cs" and some and last[:1] in tuple("aeiou") and some[0][0] in "aeiou":
            some = ["j", *some]  # these voices have no long vowel next to a vowel
        if some:
            said.append(f"(({' '.join(some)}) {int(k == at)})")
            last = some[-1]
    return f'(lex.add.entry \'("{name}" nil ({" ".join(said)})))'


def name(number):
    return "x" + "".join("abcdefghij"[int(c)] for c in str(number))


def say(texts, voice, stretches):
    """As festival.say, for texts in Gurmukhi."""
    language = VOICES[voice]
    setup = (
        f'(lex.create "{language}made") (lex.set.phoneset "{PHONE_SETS[language]}") (lex.select "{language}made")'
        "(set! token_to_words (lambda (token name) (list name)))"
    )
    words = [text.split() for text in texts]
    entries = ["\n".join(entry(name(k), word, language) for k, word in enumerate(some)) for some in words]
    named = [" ".join(name(k) for k in range(len(some))) for some in words]
    return festival.say(named, voice, stretches, setup, entries)
