"""Where examples come from: `(source language, source text, target language, target text)`, one at a time, for ever.

`rng` is a `random.Random`.
"""

from .variants import varied


def parallel(pairs, rng):
    """Both directions; one in ten is two pairs as one text."""
    while True:
        en, pa = rng.choice(pairs)[:2]
        if rng.random() < 0.1:
            more = rng.choice(pairs)
            en, pa = f"{en} {more[0]}", f"{pa} {more[1]}"
        if rng.random() < 0.5:
            yield "en", varied(en, "en", rng), "pa", pa
        else:
            yield "pa", varied(pa, "pa", rng), "en", en


def generated(phrases, rng):
    """The phrase book; what a woman says of herself is only taught from Panjabi, English does not tell it."""
    while True:
        en, pa, from_panjabi = phrases.spoken_by(rng)
        if not from_panjabi and rng.random() < 0.5:
            yield "en", varied(en, "en", rng), "pa", pa
        else:
            yield "pa", varied(pa, "pa", rng), "en", en


def noised(text, rng):
    """Words masked in spans (about 30 %), dropped, and moved by up to three places; the mask is `<unk>`."""
    words, out, k = text.split(), [], 0
    order = sorted(range(len(words)), key=lambda i: i + rng.uniform(0, 3 if rng.random() < 0.3 else 0))
    words = [words[i] for i in order]
    while k < len(words):
        chance = rng.random()
        if chance < 0.15:
            out.append(None)
            k += rng.choice((1, 1, 2, 2, 3))
        elif chance < 0.2:
            k += 1
        else:
            out.append(words[k])
            k += 1
    return out or [None]


def denoise(texts, language, rng):
    """A spoilt sentence to the sentence; one in ten is not spoilt. The source is a list of words and None, the mask."""
    while True:
        text = rng.choice(texts)
        yield language, (text.split() if rng.random() < 0.1 else noised(text, rng)), language, text


def back(rows, rng):
    """Rows of (machine-made source, its language, true target, its language)."""
    while True:
        source, source_language, target, target_language = rng.choice(rows)
        yield source_language, varied(source, source_language, rng), target_language, target
