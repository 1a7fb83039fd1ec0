"""A model's manifest as text, and files replaced whole. Needs nothing but Python."""

import json
import os
from pathlib import Path

from .labels import OPERATIONS, SETS


def manifest(model_id, digest, metrics):
    """`digest`: sha256 of the ONNX file, hexadecimal; `metrics`: name to number."""
    labels = ", ".join(json.dumps(label, ensure_ascii=False) for label in SETS[model_id])
    lines = [f'id = "{model_id}"', f'operation = "{OPERATIONS[model_id]}"',
             'layout = "image-classifier"', 'licence = "MIT OR Apache-2.0"',
             'source = "models/training/recognition"', f"labels = [{labels}]", "", "[[files]]",
             'role = "model"', f'path = "weights/{model_id}.onnx"', f'sha256 = "{digest}"', "",
             "[metrics]"]
    lines += [f"{name} = {float(value)}" for name, value in metrics.items()]
    return "\n".join(lines) + "\n"


def replace(path: Path, content: bytes):
    """Written beside, then moved over: nobody reads half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    os.replace(part, path)
