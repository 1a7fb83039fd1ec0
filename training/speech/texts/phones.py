"""The phones of an English text, as espeak-ng's American voice reads it.

English spelling says little about the sounds, so training teaches the middle of the network these phones beside the
letters at its end. A trained model does not need them.
"""

import ctypes

NAMES = (
    "0 3 @ @L A A@ D E I N O O@ OI S T U U@ V Z a aI aI@ aU b d dZ e@ eI f g h i i@ j k l m n o@ oU p r s t tS u v w z"
).split()
OTHER = len(NAMES)  # stands for every other phone that espeak-ng names


class Spelling:
    """espeak-ng's letter-to-sound rules for American English."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        self.library.espeak_Initialize(2, 200, None, 0)
        self.library.espeak_SetVoiceByName(b"en-us")
        self.library.espeak_TextToPhonemes.restype = ctypes.c_char_p
        self.ids = {name: k for k, name in enumerate(NAMES)}

    def names(self, text: str) -> list[str]:
        """Return espeak-ng's mnemonics of a text without stress, length and variant: `I2`, `I#` and `I` are one."""
        out: list[str] = []
        rest = ctypes.c_char_p(text.encode())
        while rest.value:
            said = self.library.espeak_TextToPhonemes(ctypes.byref(rest), 1, ord("_") << 8).decode()
            for name in said.replace(" ", "_").split("_"):
                name = name.strip("',|;%=!?:#-")
                out.append(name[:1] + name[1:].rstrip("0123456789#:-"))
        return [name.replace("aa", "A") for name in out if name and not name.startswith("(")]

    def phones(self, text: str) -> list[int]:
        """Return the places in NAMES of a text's phones, OTHER for those that are not in it."""
        return [self.ids.get(name, OTHER) for name in self.names(text)]
