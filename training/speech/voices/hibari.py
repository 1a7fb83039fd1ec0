"""hibari in this process (PyPI `hibari-tts`, Apache-2.0): one natural American voice, trained on Kokoro's af_heart.

The network gives a spectrum and a pitch. `pitch` scales the pitch alone; resampling afterwards (`acoustics.resampled`)
changes the length of the vocal tract as well.
"""

from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Floats

VOICES = ("heart",)
# The sounds of American English that stand for Panjabi's, as `kokoro.panjabi` writes them.
AMERICAN = dict(
    pair.split("=") for pair in "ɖ=d ʈ=t ɳ=n ɽ=ɹ ɾ=ɹ ʋ=v ɟ=ʤ c=ʧ ɲ=n aː=ɑ iː=i uː=u eː=A ɛː=ɛ oː=O ɔː=ɔ ʰ=h".split()
)


def american(phonemes: str) -> str:
    """Replace Panjabi phonemes by those that the voice knows."""
    for sound, near in AMERICAN.items():
        phonemes = phonemes.replace(sound, near)
    return phonemes


class Hibari:
    """The voice; it is loaded when first used and kept."""

    @cached_property
    def engine(self) -> Any:
        """The package's own object, on one thread."""
        from hibari import Hibari as Engine  # the rest of this module works without the package

        return Engine(threads=1)

    def phonemes(self, text: str) -> str:
        """Return the phonemes of an English text, in the alphabet that Kokoro reads too."""
        return " ".join(self.engine.phonemize(text))

    def say(self, text: str, pace: float = 1.0, pitch: float = 1.0, seed: int = 0) -> tuple[Floats, int]:
        """Speak an English text; returns samples in [-1, 1], (n,), and the rate in Hz.

        `pace` and `pitch` scale the voice's own; `seed` is for the noise in the sound.
        """
        return self.say_phonemes(self.phonemes(text), pace, pitch, seed)

    def say_phonemes(self, phonemes: str, pace: float = 1.0, pitch: float = 1.0, seed: int = 0) -> tuple[Floats, int]:
        """Speak phonemes; the rest is as for `say`."""
        from hibari import dsp

        ids = self.engine.ids(phonemes)
        if len(ids) < 3:
            return np.zeros(0, np.float32), dsp.SR
        speed = np.array([pace], np.float32)
        *spectrum, melody = self.engine.sess.run(None, {"ids": np.array([ids]), "speed": speed})
        return dsp.synth(*(part[0] for part in spectrum), melody[0] * pitch, np.random.default_rng(seed)), dsp.SR
