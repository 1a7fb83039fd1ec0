"""Reads the variables of a CTranslate2 model file (binary version 6) as NumPy arrays.

Layout, little-endian: u32 version; u16 length and name of the specification; u32 revision; u32 number of variables;
for each variable u16 length and name (ends in NUL), u8 rank, u32 for each dimension, u8 data type, u32 bytes, data;
then u32 number of aliases and for each two names, the alias and the variable it stands for.
"""

import io
import struct

import numpy as np

VERSION = 6
DTYPES = {0: "<f4", 1: "i1", 2: "<i2", 3: "<i4", 4: "<f2"}


def variables(raw: bytes) -> dict[str, np.ndarray]:
    """Return every variable by name, aliases included, of the dtypes in DTYPES.

    Raises ValueError for another version of the format and for a truncated file.
    """
    file = io.BytesIO(raw)

    def take(size: int) -> bytes:
        piece = file.read(size)
        if len(piece) != size:
            raise ValueError("the model file ends early")
        return piece

    def number(code: str) -> int:
        (value,) = struct.unpack(f"<{code}", take(struct.calcsize(f"<{code}")))
        return value

    def text() -> str:
        return take(number("H")).rstrip(b"\0").decode()

    version = number("I")
    if version != VERSION:
        raise ValueError(f"CTranslate2 binary version {version}, expected {VERSION}")
    text()
    number("I")
    found: dict[str, np.ndarray] = {}
    for _ in range(number("I")):
        name = text()
        shape = [number("I") for _ in range(number("B"))]
        dtype = DTYPES[number("B")]
        found[name] = np.frombuffer(take(number("I")), dtype).reshape(shape)
    for _ in range(number("I")):
        alias = text()
        found[alias] = found[text()]
    return found
