"""SVOX Pico in this process (PyPI `ttspico`, Apache-2.0): one voice each of German, English, Spanish, French, Italian.

Text may be phones: `phones(['"ka.sa', '"bE.lo'])` gives the markup, one element a word. Phones are X-SAMPA of the
voice's own language, with `"` before a stressed syllable and `.` between syllables. Pico leaves out what the language
lacks (aspiration in Italian). No `'` may be among the phones.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Floats

RATE = 16000  # Hz
VOLUME = 35  # in percent: at 100 most of it is clipped


def phones(words: Sequence[str]) -> str:
    """Return Pico's markup for words in X-SAMPA."""
    return " ".join(f"<phoneme ph='{word}'/>" for word in words)


class Pico:
    """Pico's voices; each is loaded when first used and kept."""

    def __init__(self) -> None:
        self.voices: dict[str, Any] = {}

    def say(self, text: str, voice: str, pace: float = 1.0, pitch: float = 1.0) -> tuple[Floats, int]:
        """Speak a text; returns samples in [-1, 1], (n,), and the rate in Hz.

        `pace` (0.2 to 5) and `pitch` (0.5 to 2) scale the voice's own.
        """
        import ttspico  # the rest of this module works without it

        if voice not in self.voices:
            self.voices[voice] = ttspico.TtsEngine(voice)
            self.voices[voice].volume = VOLUME
        engine = self.voices[voice]
        engine.rate, engine.pitch = round(100 * pace), round(100 * pitch)
        return np.frombuffer(engine.speak(text) or b"", "<i2").astype(np.float32) / np.float32(32768), RATE
