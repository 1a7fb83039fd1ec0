"""Data files inside installed PyPI packages, each checked by its SHA-256."""

import hashlib
from importlib import metadata
from pathlib import Path


def path_of(package: str, name: str) -> Path:
    """Return where a file of an installed package is. Raises FileNotFoundError where the package has no such file."""
    files = metadata.files(package) or []
    path = next((file.locate() for file in files if file.name == name), None)
    if path is None:
        raise FileNotFoundError(f"{package} holds no {name}")
    return Path(path)


def contents(parts: tuple[tuple[str, str], ...], sha256: str) -> bytes:
    """Return the contents of files, given as (package, name), one after the other.

    Raises FileNotFoundError where one is missing, ValueError where the hash is another.
    """
    joined = b"".join(path_of(package, name).read_bytes() for package, name in parts)
    if hashlib.sha256(joined).hexdigest() != sha256:
        raise ValueError(f"{', '.join(name for _, name in parts)}: not the contents that were used here")
    return joined
