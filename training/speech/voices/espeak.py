"""espeak-ng in this process: text in, samples at 22.05 kHz and the start time of each word out."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_short, c_uint, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Floats

RATE = 22050  # Hz
SYNCHRONOUS, UTF8 = 2, 1
SPEED, VOLUME, PITCH, RANGE = 1, 2, 3, 4
WORD = 1
# Variants that do not sound like a person or cannot be understood.
ODD = {
    *"Demonic UniRobot croak whisper whisperf AnxiousAndy anikaRobot fast Tweaky RicishayMax RicishayMax2".split(),
    *"RicishayMax3 Storm klatt5 klatt6 robosoft robosoft2 robosoft3 robosoft4 robosoft5 robosoft6 robosoft7".split(),
    *("robosoft8", "Mr serious"),
}


class Event(ctypes.Structure):
    """espeak-ng's `espeak_EVENT`."""

    _fields_ = (
        ("type", c_int),
        ("unique_identifier", c_uint),
        ("text_position", c_int),
        ("length", c_int),
        ("audio_position", c_int),
        ("sample", c_int),
        ("user_data", c_void_p),
        ("id", c_void_p),
    )


Callback = CFUNCTYPE(c_int, POINTER(c_short), c_int, POINTER(Event))


class Espeak:
    """The library libespeak-ng with one voice at a time."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        if self.library.espeak_Initialize(SYNCHRONOUS, 200, None, 0) != RATE:
            raise RuntimeError("espeak-ng does not speak at 22.05 kHz")
        self.pieces: list[npt.NDArray[np.int16]] = []
        self.events: list[tuple[int, float]] = []
        self.callback = Callback(self.take)  # kept: the library holds only its address
        self.library.espeak_SetSynthCallback(self.callback)
        self.voice: str | None = None

    def take(self, samples: Any, count: int, events: Any) -> int:
        """Keep what the library synthesised: pointers to `count` 16-bit samples and to events; 0 means go on."""
        if samples and count > 0:
            self.pieces.append(np.ctypeslib.as_array(samples, (count,)).copy())
        k = 0
        while events[k].type:
            if events[k].type == WORD:
                self.events.append((events[k].text_position - 1, events[k].sample / RATE))
            k += 1
        return 0

    def say(
        self, text: str, voice: str, speed: float = 165, pitch: float = 50, span: float = 50
    ) -> tuple[Floats, list[tuple[int, float]]]:
        """Speak a text; returns samples in [-1, 1], (n,), and (index of the first character, second) of each word.

        `speed` is in words a minute; `pitch` and `span`, the range of the pitch, go from 0 to 100. Raises ValueError
        for an unknown voice.
        """
        if voice != self.voice:
            if self.library.espeak_SetVoiceByName(voice.encode()) != 0:
                raise ValueError(f"espeak-ng has no voice {voice}")
            self.voice = voice
        for name, value in ((SPEED, speed), (PITCH, pitch), (RANGE, span), (VOLUME, 100)):
            self.library.espeak_SetParameter(name, int(value), 0)
        self.pieces, self.events = [], []
        raw = text.encode()
        self.library.espeak_Synth(c_char_p(raw), len(raw) + 1, 0, 1, 0, UTF8, byref(c_uint()), None)
        self.library.espeak_Synchronize()
        if not self.pieces:
            return np.zeros(0, np.float32), []
        return np.concatenate(self.pieces).astype(np.float32) / np.float32(32768), self.events
