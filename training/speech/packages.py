"""Data files inside installed PyPI packages, checked by their SHA-256."""

import hashlib
from importlib import metadata
from pathlib import Path


def contents(parts: tuple[tuple[str, str], ...], sha256: str) -> bytes:
    """Return the contents of files, given as (package, name), one after the other.

    Raises FileNotFoundError where a package has no such file, ValueError where the hash is another.
    """
    joined = b""
    for package, name in parts:
        file = next((file for file in metadata.files(package) or [] if file.name == name), None)
        if file is None:
            raise FileNotFoundError(f"{package} holds no {name}")
        joined += Path(file.locate()).read_bytes()
    if hashlib.sha256(joined).hexdigest() != sha256:
        raise ValueError(f"{', '.join(name for _, name in parts)}: not the contents that were used here")
    return joined
