"""English as it sounds: the phones of a text as espeak-ng's American voice reads it.

Letters say little of English sounds, so the middle of the network is taught these beside what its end is taught.
They are of use in training alone.
"""

import ctypes

import torch

NAMES = [
    "0",
    "3",
    "@",
    "@L",
    "A",
    "A@",
    "D",
    "E",
    "I",
    "N",
    "O",
    "O@",
    "OI",
    "S",
    "T",
    "U",
    "U@",
    "V",
    "Z",
    "a",
    "aI",
    "aI@",
    "aU",
    "b",
    "d",
    "dZ",
    "e@",
    "eI",
    "f",
    "g",
    "h",
    "i",
    "i@",
    "j",
    "k",
    "l",
    "m",
    "n",
    "o@",
    "oU",
    "p",
    "r",
    "s",
    "t",
    "tS",
    "u",
    "v",
    "w",
    "z",
]
OTHER = len(NAMES)  # whatever else espeak-ng names


def head(width):
    """A layer of two frames each over all phones and the blank, which is last."""
    return torch.nn.Linear(width, 2 * (OTHER + 2))


class Spelling:
    def __init__(self):
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        self.library.espeak_Initialize(2, 200, None, 0)
        self.library.espeak_SetVoiceByName(b"en-us")
        self.library.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self.ids = {name: k for k, name in enumerate(NAMES)}

    def names(self, text):
        """Mnemonics of espeak-ng without stress, length and shade: `I2`, `I#` and `I` are one."""
        out, rest = [], ctypes.c_char_p(text.encode())
        while rest.value:
            said = self.library.espeak_TextToPhonemes(ctypes.byref(rest), 1, ord("_") << 8).decode()
            for name in said.replace(" ", "_").split("_"):
                name = name.strip("',|;%=!?:#-")
                out.append(name[:1] + name[1:].rstrip("0123456789#:-"))
        return [name.replace("aa", "A") for name in out if name and not name.startswith("(")]

    def phones(self, text):
        """Numbers of the phones of a text."""
        return [self.ids.get(name, OTHER) for name in self.names(text)]
