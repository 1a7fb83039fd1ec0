"""The manifest of a recogniser. Needs nothing but Python."""

from collections.abc import Mapping

from manifests import toml

from .labels import OPERATIONS, SETS


def manifest(model_id: str, digest: str, metrics: Mapping[str, float]) -> str:
    """The TOML text of `models/<model_id>.toml`.

    `digest`: SHA-256 of the ONNX file in hexadecimal; `metrics`: name to number, may be empty.
    """
    head = {
        "id": model_id,
        "operation": OPERATIONS[model_id],
        "layout": "image-classifier",
        "licence": "MIT OR Apache-2.0",
        "source": "training/recognition",
        "labels": list(SETS[model_id]),
    }
    return toml(head, {"model": (f"weights/{model_id}.onnx", digest)}, metrics)
