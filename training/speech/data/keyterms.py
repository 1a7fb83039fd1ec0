"""Synthesises sentences with names of people, places and things, to measure key terms with `speech.measure.keyterms`.

    python -m speech.data.keyterms --language pa --part test --out WORK/keyterms/pa-test

`texts/keyterms.tsv` has the terms. Those of `dev` are for choosing the bonus, those of `test` for figures, in other
voices of Kokoro. The folder has a wav file for each term, `clips.tsv`, and the terms as `terms.txt`, in the order of
the clips.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

from ..arrays import Floats
from ..sounds import acoustics
from ..voices import hibari, kokoro
from . import clips, corpus
from .clips import Clip
from .held import clean

TABLE = Path(__file__).parents[1] / "texts/keyterms.tsv"
VOICES = {
    ("pa", "dev"): ["hf_alpha", "hm_psi"],
    ("pa", "test"): list(corpus.HELD),
    ("en", "dev"): ["af_heart", "am_adam", "hf_alpha"],
    ("en", "test"): ["bf_emma", "bm_george", *corpus.HELD],
}
SENTENCES = {
    ("pa", "person"): (
        "ਕੱਲ੍ਹ {} ਸਾਡੇ ਘਰ ਆਇਆ ਸੀ",
        "ਮੈਂ {} ਨੂੰ ਫ਼ੋਨ ਕਰਨਾ ਹੈ",
        "ਡਾਕਟਰ {} ਅੱਜ ਹਸਪਤਾਲ ਵਿਚ ਨਹੀਂ ਹਨ",
        "ਇਹ ਕਿਤਾਬ {} ਦੀ ਹੈ",
    ),
    ("pa", "place"): (
        "ਅਸੀਂ ਸਵੇਰੇ {} ਜਾ ਰਹੇ ਹਾਂ",
        "ਮੇਰਾ ਭਰਾ {} ਵਿਚ ਰਹਿੰਦਾ ਹੈ",
        "ਇਹ ਬੱਸ {} ਤੋਂ ਆਉਂਦੀ ਹੈ",
        "ਉਹ ਕਈ ਸਾਲ {} ਰਿਹਾ",
    ),
    ("pa", "thing"): (
        "ਉਸ ਨੇ ਮੈਨੂੰ {} ਬਾਰੇ ਦੱਸਿਆ",
        "ਅੱਜ ਕੱਲ੍ਹ {} ਬਹੁਤ ਮਹਿੰਗਾ ਹੈ",
        "ਕੀ ਤੁਹਾਡੇ ਕੋਲ {} ਹੈ",
        "ਲੋਕ {} ਦੀ ਗੱਲ ਕਰਦੇ ਹਨ",
    ),
    ("en", "person"): (
        "Yesterday {} came to our house.",
        "I have to call {} this evening.",
        "Doctor {} is not in the hospital today.",
        "This book belongs to {}.",
    ),
    ("en", "place"): (
        "We are going to {} in the morning.",
        "My brother lives in {} now.",
        "The bus from {} is late.",
        "She stayed in {} for many years.",
    ),
    ("en", "thing"): (
        "He told me about {} last week.",
        "The price of {} is very high.",
        "Do you have {} at home?",
        "Most people talk about {} every day.",
    ),
}


def terms(language: str, part: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each term."""
    rows = [line.split("\t") for line in TABLE.read_text("utf-8").splitlines()[1:]]
    return [(kind, term) for *of, kind, term in rows if of == [language, part]]


def phonemes(language: str) -> Callable[[str], str]:
    """Return what gives the phonemes that Kokoro reads."""
    return kokoro.panjabi if language == "pa" else hibari.Hibari().phonemes


def main(language: Literal["pa", "en"], part: Literal["dev", "test"], out: Path) -> None:
    """Write the clips of a part."""
    rng, voice, phones = np.random.default_rng(15), kokoro.Kokoro(), phonemes(language)
    chosen = terms(language, part)

    def rows() -> Iterator[tuple[dict[str, Any], Floats]]:
        for k, (kind, term) in enumerate(chosen):
            sentences, voices = SENTENCES[language, kind], VOICES[language, part]
            text = sentences[k % len(sentences)].format(term)
            samples, rate = voice.say(phones(text), voices[k % len(voices)])
            yield {"text": text}, acoustics.trimmed(acoustics.resampled(samples, rate))[0]

    sounds = (Clip(f"{k:04}.wav", samples, what["text"]) for k, (what, samples) in enumerate(clean(rows(), rng)))
    print(clips.write(out, sounds), "clips")
    (out / "terms.txt").write_text("".join(f"{term}\n" for _, term in chosen))


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
