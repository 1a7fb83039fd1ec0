"""SVOX Pico in this process (PyPI `ttspico`, Apache-2.0): one voice each of German, English, Spanish, French, Italian.

Text may be phones: `phones(['"ka.sa', '"bE.lo'])` gives the markup, one element a word. Phones are X-SAMPA of the
voice's own language, `"` before a stressed syllable, `.` between syllables; what the language lacks is left out
(aspiration in Italian). No `'` may be among them.
"""

import numpy as np
import ttspico

VOICES = ("de-DE", "en-GB", "en-US", "es-ES", "fr-FR", "it-IT")
RATE = 16000
VOLUME = 35  # in percent: at 100 most of it is clipped


def phones(words):
    """Markup of words in X-SAMPA."""
    return " ".join(f"<phoneme ph='{word}'/>" for word in words)


class Pico:
    """Voices are loaded when first used and kept."""

    def __init__(self):
        self.voices = {}

    def say(self, text, voice, pace=1.0, pitch=1.0):
        """Samples in [-1, 1] and their rate; pace (0.2 to 5) and pitch (0.5 to 2) are of the voice's own."""
        if voice not in self.voices:
            self.voices[voice] = ttspico.TtsEngine(voice)
            self.voices[voice].volume = VOLUME
        engine = self.voices[voice]
        engine.rate, engine.pitch = round(100 * pace), round(100 * pitch)
        return np.frombuffer(engine.speak(text) or b"", "<i2").astype(np.float32) / 32768, RATE
