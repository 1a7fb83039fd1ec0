"""Strings of English digits by synthetic voices, and what a text must say of each: its digits and nothing else."""

import re
from collections.abc import Iterator

import numpy as np

from ..arrays import Floats
from ..sounds import acoustics
from ..texts import english, numbers
from ..voices import espeak

VOICES = tuple(f"gmw/en{voice}" for voice in ("", "-US", "-GB-scotland", "-029", "-GB-x-rp", "-GB-x-gbclan"))
LENGTHS = range(3, 13)
N_STRINGS = 3  # of each length, by each voice
Row = tuple[str, Floats, str]  # name, samples at 16 kHz, what must be right


def said(engine: espeak.Espeak, text: str, voice: str) -> Floats:
    """Return a text as a voice says it, (n,) in [-1, 1] at 16 kHz."""
    samples, _ = engine.say(text, voice, speed=150)
    return acoustics.resampled(samples, espeak.RATE)


def digit_words(digits: str, kind: int) -> str:
    """Return the words of digits: one by one, in groups of three, with "oh", or with "double" and "triple"."""
    words = [numbers.EN[int(digit)] for digit in digits]
    if kind == 1:
        return ", ".join(" ".join(words[at : at + 3]) for at in range(0, len(words), 3))
    text = " ".join(words)
    if kind == 2:
        return text.replace("zero", "oh")
    if kind == 3:
        return numbers.shortened(text)
    return text


def digit_strings() -> Iterator[Row]:
    """Yield English strings of 3 to 12 digits by six voices, each said in one of four ways."""
    rng, engine = np.random.default_rng(62), espeak.Espeak()
    for voice in VOICES:
        for length in LENGTHS:
            for nth in range(N_STRINGS):
                kind = (length + nth) % 4
                digits = "".join(map(str, rng.integers(0, 10, length)))
                if kind == 3:  # two digits or three are the same
                    at = int(rng.integers(0, length - 2))
                    digits = digits[:at] + digits[at] * int(rng.integers(2, 4)) + digits[at:]
                    digits = digits[:length]
                yield f"{voice}-{digits}", said(engine, digit_words(digits, kind), voice), digits


def string(text: str) -> list[str]:
    """Return the digits that a text says, as one unit, with a question mark for each word that is no digit."""
    marked = [
        word if word in english.DIGITS or word in english.TIMES else word if word.isdigit() else "?"
        for word in re.findall(r"[a-z']+|\d", text.lower())
    ]
    return [english.digits(" ".join(marked)) + "?" * marked.count("?")]
