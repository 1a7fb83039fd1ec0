"""Reads the variables of a CTranslate2 model file (binary version 6) as NumPy arrays.

Layout, little-endian: u32 version; u16 length and name of the specification; u32 revision; u32 number of variables;
for each variable u16 length and name (ends in NUL), u8 rank, u32 for each dimension, u8 data type, u32 bytes, data;
then u32 number of aliases and for each two names, the alias and the variable it stands for.
"""

import struct

import numpy as np

VERSION = 6
DTYPES = {0: "<f4", 1: "i1", 2: "<i2", 3: "<i4", 4: "<f2"}


class _Cursor:
    """Reads a bytes object from its beginning to its end."""

    def __init__(self, raw: bytes) -> None:
        self.raw, self.at = raw, 0

    def number(self, code: str) -> int:
        """Return the next integer, by its struct code."""
        (value,) = struct.unpack_from("<" + code, self.raw, self.at)
        self.at += struct.calcsize("<" + code)
        return value

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes; raises ValueError where there are fewer."""
        piece = self.raw[self.at : self.at + size]
        if len(piece) != size:
            raise ValueError("the model file ends early")
        self.at += size
        return piece

    def text(self) -> str:
        """Return the next string, which follows its length."""
        return self.take(self.number("H")).rstrip(b"\0").decode()


def variables(raw: bytes) -> dict[str, np.ndarray]:
    """Return every variable by name, aliases included, of the dtypes in DTYPES.

    Raises ValueError for another version of the format and for a truncated file.
    """
    cursor = _Cursor(raw)
    version = cursor.number("I")
    if version != VERSION:
        raise ValueError(f"CTranslate2 binary version {version}, expected {VERSION}")
    cursor.text()
    cursor.number("I")
    found: dict[str, np.ndarray] = {}
    for _ in range(cursor.number("I")):
        name = cursor.text()
        shape = [cursor.number("I") for _ in range(cursor.number("B"))]
        dtype = DTYPES[cursor.number("B")]
        found[name] = np.frombuffer(cursor.take(cursor.number("I")), dtype).reshape(shape)
    for _ in range(cursor.number("I")):
        alias = cursor.text()
        found[alias] = found[cursor.text()]
    return found
