"""The manifest of a classifier. Needs nothing but Python."""

from manifests import toml

from .labels import OPERATIONS, SETS


def manifest(model_id, digest, metrics):
    """`digest`: sha256 of the ONNX file, hexadecimal; `metrics`: name to number."""
    head = {
        "id": model_id,
        "operation": OPERATIONS[model_id],
        "layout": "image-classifier",
        "licence": "MIT OR Apache-2.0",
        "source": "training/recognition",
        "labels": list(SETS[model_id]),
    }
    return toml(head, {"model": (f"weights/{model_id}.onnx", digest)}, metrics)
