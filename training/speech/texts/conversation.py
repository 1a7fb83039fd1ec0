"""Turns written sentences into what people say in conversation: spoken forms, fillers, English words."""

import numpy as np

from . import borrowed, units

SPOKEN, MIXED = 0.3, 0.25  # share of the sentences that get spoken forms, and of those that get English words
EVERY = 7  # words of a sentence for which one becomes English, beside the first
LONG = 4  # units of a word that an English one may replace: shorter ones are mostly particles
# Written forms, and what is said in their place, one of several at random. Those of two words come first.
FORMS = [
    (written.split(), said.split("/"))
    for written, _, said in (
        form.partition("=")
        for form in (
            "ਉਸ ਨੇ=ਉਹਨੇ|ਇਸ ਨੇ=ਇਹਨੇ|ਉਸ ਨੂੰ=ਉਹਨੂੰ|ਇਸ ਨੂੰ=ਇਹਨੂੰ|ਉਸ ਦਾ=ਉਹਦਾ|ਉਸ ਦੀ=ਉਹਦੀ|ਉਸ ਦੇ=ਉਹਦੇ|ਇਸ ਦਾ=ਇਹਦਾ|ਇਸ ਦੀ=ਇਹਦੀ|ਇਸ ਦੇ=ਇਹਦੇ|"
            "ਜਿਸ ਦਾ=ਜੀਹਦਾ|ਜਿਸ ਦੀ=ਜੀਹਦੀ|ਜਿਸ ਦੇ=ਜੀਹਦੇ|ਉਸਨੇ=ਉਹਨੇ|ਇਸਨੇ=ਇਹਨੇ|ਉਸਨੂੰ=ਉਹਨੂੰ|ਇਸਨੂੰ=ਇਹਨੂੰ|ਉਸਦਾ=ਉਹਦਾ|ਉਸਦੀ=ਉਹਦੀ|ਉਸਦੇ=ਉਹਦੇ|"
            "ਇਸਦਾ=ਇਹਦਾ|ਇਸਦੀ=ਇਹਦੀ|ਇਸਦੇ=ਇਹਦੇ|ਅਤੇ=ਤੇ|ਵਿੱਚ=ਚ/ਵਿੱਚ/ਵਿਚ|ਜੋ=ਜਿਹੜਾ/ਜਿਹੜੇ/ਜਿਹੜੀ|ਹਨ=ਨੇ|ਇੱਥੇ=ਏਥੇ|ਉੱਥੇ=ਓਥੇ|ਆਦਿ=ਵਗੈਰਾ|"
            "ਪਰੰਤੂ=ਪਰ|ਤੁਹਾਡਾ=ਤੁਹਾਡਾ/ਥੋਡਾ|ਤੁਹਾਨੂੰ=ਤੁਹਾਨੂੰ/ਥੋਨੂੰ"
        ).split("|")
    )
]
FILLERS = (
    "ਮਤਲਬ|ਮਤਲਬ ਕਿ|ਵੈਸੇ|ਅੱਛਾ|ਹਾਂ|ਹਾਂ ਜੀ|ਹਾਂਜੀ|ਬਸ|ਯਾਰ|ਬਾਕੀ|ਦੇਖੋ|ਸੋ|ਤੇ|ਉਹ|ਓ|ਆਹ|ਹੂੰ|ਅਹ|ਚਲੋ|ਜੀ|ਫਿਰ|ਫੇਰ|ਮੈਨੂੰ ਲੱਗਦਾ|"
    "ਕਹਿਣ ਦਾ ਮਤਲਬ|ਠੀਕ ਹੈ|ਵਗੈਰਾ|ਜਿਹੜਾ"
).split("|")


def _with_forms(words: list[str], rng: np.random.Generator) -> list[str]:
    """Return the words with written forms replaced by spoken ones, and at times a filler before or among them."""
    out: list[str] = []
    k = 0
    while k < len(words):
        written, said = next((row for row in FORMS if words[k : k + len(row[0])] == row[0]), ([words[k]], [words[k]]))
        out += str(rng.choice(said)).split()
        k += len(written)
    if rng.random() < 0.6:
        at = 0 if rng.random() < 0.5 else int(rng.integers(len(out) + 1))
        out[at:at] = str(rng.choice(FILLERS)).split()
    return out


def _with_english(words: list[str], rng: np.random.Generator, lexicon: borrowed.Lexicon) -> list[str]:
    """Return the words with some replaced by English ones, or with an English one put among them."""
    out = list(words)
    for _ in range(1 + int(rng.integers(1 + len(words) // EVERY))):
        word = str(rng.choice(lexicon[0], p=lexicon[1]))
        places = [k for k, own in enumerate(out) if len(units.encode(own, "pa")) >= LONG]
        if places and rng.random() < 0.7:
            out[places[rng.integers(len(places))]] = word
        else:
            out.insert(int(rng.integers(len(out) + 1)), word)
    return out


def spoken(text: str, rng: np.random.Generator, lexicon: borrowed.Lexicon) -> str:
    """Return a plain text, or, by chance, as it might be in conversation."""
    words = text.split()
    if rng.random() < SPOKEN:
        words = _with_forms(words, rng)
    if rng.random() < MIXED:
        words = _with_english(words, rng, lexicon)
    return " ".join(words)
