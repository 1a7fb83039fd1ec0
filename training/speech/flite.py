"""flite in this process: English text, or phones of its American English set, in its built-in voices."""

import ctypes
from ctypes import POINTER, c_char_p, c_float, c_int, c_short, c_void_p

import numpy as np

VOICES = ("kal16", "awb", "rms", "slt")


class Wave(ctypes.Structure):
    _fields_ = [
        ("type", c_char_p),
        ("rate", c_int),
        ("samples", c_int),
        ("channels", c_int),
        ("data", POINTER(c_short)),
    ]


class Voice(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("features", c_void_p)]


class Flite:
    def __init__(self, voices=VOICES):
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
        self.voices = {}
        for name in voices:
            register = getattr(ctypes.CDLL(f"libflite_cmu_us_{name}.so.1"), f"register_cmu_us_{name}")
            register.argtypes, register.restype = [c_char_p], POINTER(Voice)
            self.voices[name] = register(None)

    def samples(self, wave):
        values = np.ctypeslib.as_array(wave.contents.data, (wave.contents.samples,))
        return values.astype(np.float32) / 32768, wave.contents.rate

    def say(self, text, voice, stretch=1.0, phones=False, shift=1.0):
        """Samples in [-1, 1] and their rate; the pace is 1 / stretch, the pitch `shift` times the voice's own."""
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
