"""The generator's manifest. Needs nothing that `glyphs` does not need."""

from collections.abc import Mapping

from manifests import toml

from . import glyphs

MODEL = "handwriting-pa"


def manifest(digest: str, metrics: Mapping[str, float]) -> str:
    """The TOML text; `digest`: SHA-256 of the ONNX file in hexadecimal; `metrics`: name to number, may be empty."""
    head = {
        "id": MODEL,
        "operation": "handwriting-generator",
        "layout": "glyph-strokes",
        "licence": "MIT OR Apache-2.0",
        "source": "training/handwriting",
        "glyphs": [glyph.text for glyph in glyphs.table()],
    }
    return toml(head, {"model": (f"weights/{MODEL}.onnx", digest)}, metrics)
