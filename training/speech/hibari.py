"""hibari in this process (PyPI `hibari-tts`, Apache-2.0): one natural American voice, learnt from Kokoro's af_heart.

The network says a spectrum and a pitch, so that the same words come out as from a lower or higher throat:
`pitch` moves the melody alone, resampling afterwards (`world.resampled`) moves the vocal tract as well.
"""

from functools import cached_property

import numpy as np
from hibari import Hibari as Engine
from hibari import dsp

VOICES = ("heart",)
RATE = dsp.SR
# What the network learnt from American English says for Panjabi's sounds, as `kokoro.panjabi` writes them.
AMERICAN = (
    ("ɖ", "d"),
    ("ʈ", "t"),
    ("ɳ", "n"),
    ("ɽ", "ɹ"),
    ("ɾ", "ɹ"),
    ("ʋ", "v"),
    ("ɟ", "ʤ"),
    ("c", "ʧ"),
    ("ɲ", "n"),
    ("aː", "ɑ"),
    ("iː", "i"),
    ("uː", "u"),
    ("eː", "A"),
    ("ɛː", "ɛ"),
    ("oː", "O"),
    ("ɔː", "ɔ"),
    ("ʰ", "h"),
)


def american(phonemes):
    """Panjabi phonemes in the set that the voice knows."""
    for sound, near in AMERICAN:
        phonemes = phonemes.replace(sound, near)
    return phonemes


class Hibari:
    """Loaded when first used and kept."""

    @cached_property
    def engine(self):
        return Engine(threads=1)

    def phonemes(self, text):
        """In the alphabet that Kokoro reads too."""
        return " ".join(self.engine.phonemize(text))

    def say(self, text, pace=1.0, pitch=1.0, seed=0):
        """Samples in [-1, 1] and their rate; pace and pitch are of the voice's own."""
        return self.say_phonemes(self.phonemes(text), pace, pitch, seed)

    def say_phonemes(self, phonemes, pace=1.0, pitch=1.0, seed=0):
        """The same of phonemes."""
        ids = self.engine.ids(phonemes)
        if len(ids) < 3:
            return np.zeros(0, np.float32), RATE
        *spectrum, melody = self.engine.sess.run(None, {"ids": np.array([ids]), "speed": np.float32([pace])})
        return dsp.synth(*(part[0] for part in spectrum), melody[0] * pitch, np.random.default_rng(seed)), RATE
