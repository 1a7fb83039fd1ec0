"""flite in this process: English text, or phones of its American English set, in its built-in voices."""

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, c_char_p, c_float, c_int, c_short, c_void_p
from typing import Any

import numpy as np

from ..arrays import Floats

VOICES = ("kal16", "awb", "rms", "slt")


class Wave(ctypes.Structure):
    """flite's `cst_wave`."""

    _fields_ = (
        ("type", c_char_p),
        ("rate", c_int),
        ("samples", c_int),
        ("channels", c_int),
        ("data", POINTER(c_short)),
    )


class Voice(ctypes.Structure):
    """The first fields of flite's `cst_voice`."""

    _fields_ = (("name", c_char_p), ("features", c_void_p))


class Flite:
    """The library libflite with some of its voices."""

    def __init__(self, voices: Sequence[str] = VOICES) -> None:
        self.library = ctypes.CDLL("libflite.so.1", mode=ctypes.RTLD_GLOBAL)
        for name in ("usenglish", "cmulex"):
            ctypes.CDLL(f"libflite_{name}.so.1", mode=ctypes.RTLD_GLOBAL)
        self.library.flite_init()
        for name in ("flite_text_to_wave", "flite_synth_phones"):
            getattr(self.library, name).argtypes = [c_char_p, POINTER(Voice)]
        self.library.flite_text_to_wave.restype = POINTER(Wave)
        self.library.flite_synth_phones.restype = c_void_p
        self.library.utt_wave.argtypes = [c_void_p]
        self.library.utt_wave.restype = POINTER(Wave)
        self.library.delete_utterance.argtypes = [c_void_p]
        self.library.delete_wave.argtypes = [POINTER(Wave)]
        self.library.flite_feat_set_float.argtypes = [c_void_p, c_char_p, c_float]
        self.voices: dict[str, Any] = {}
        for name in voices:
            register = getattr(ctypes.CDLL(f"libflite_cmu_us_{name}.so.1"), f"register_cmu_us_{name}")
            register.argtypes, register.restype = [c_char_p], POINTER(Voice)
            self.voices[name] = register(None)

    def samples(self, wave: Any) -> tuple[Floats, int]:
        """Copy a pointer to `Wave` to samples in [-1, 1], (n,), and the rate in Hz."""
        values = np.ctypeslib.as_array(wave.contents.data, (wave.contents.samples,))
        return values.astype(np.float32) / np.float32(32768), wave.contents.rate

    def say(
        self, text: str, voice: str, stretch: float = 1.0, phones: bool = False, shift: float = 1.0
    ) -> tuple[Floats, int]:
        """Speak a text, or phones; returns samples in [-1, 1], (n,), and the rate in Hz.

        `stretch` scales the duration, `shift` the voice's own pitch.
        """
        speaker = self.voices[voice]
        self.library.flite_feat_set_float(speaker.contents.features, b"f0_shift", shift)
        self.library.flite_feat_set_float(speaker.contents.features, b"duration_stretch", stretch)
        if phones:
            utterance = self.library.flite_synth_phones(text.encode(), speaker)
            out = self.samples(self.library.utt_wave(utterance))
            self.library.delete_utterance(utterance)
        else:
            wave = self.library.flite_text_to_wave(text.encode(), speaker)
            out = self.samples(wave)
            self.library.delete_wave(wave)
        return out
