"""A model's manifest as text, and files replaced whole. This module imports the standard library alone."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

Value = str | float | Sequence[str]
"""What a key of a manifest may hold."""

ENDINGS = {"model": "onnx", "vocab": "vocab.txt", "config": "config.json", "language-model": "lm"}
"""What follows the model's name in the name of each role's file."""


def lines(values: Mapping[str, Value]) -> list[str]:
    """The lines `key = value` of a table; a string or number of JSON is also one of TOML."""
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]


def toml(
    head: Mapping[str, Value],
    files: Mapping[str, tuple[str, str]],
    metrics: Mapping[str, float],
    **tables: Mapping[str, Value],
) -> str:
    """A manifest: the keys of `head`, then `tables`, one `[[files]]` for each file, and `[metrics]`.

    `files`: role to path below the folder of the manifests and SHA-256 in hexadecimal.
    """
    text = lines(head)
    for name, values in tables.items():
        text += ["", f"[{name}]", *lines(values)]
    for role, (path, digest) in files.items():
        text += ["", "[[files]]", *lines({"role": role, "path": path, "sha256": digest})]
    text += ["", "[metrics]", *lines({name: float(value) for name, value in metrics.items()})]
    return "\n".join(text) + "\n"


def replace(path: Path, content: bytes) -> None:
    """Writes a file beside `path` and moves it there, so that no reader sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


def installed(model: str, sources: Mapping[str, Path], models_dir: Path, largest: int) -> dict[str, tuple[str, str]]:
    """Copies each role's file into the folder `weights`; returns role to path and SHA-256, as `toml` takes them.

    All files are read before the first is written. Raises ValueError for a file above `largest` bytes.
    """
    contents = {role: path.read_bytes() for role, path in sources.items()}
    for role, content in contents.items():
        if len(content) > largest:
            raise ValueError(f"{sources[role]} has {len(content)} bytes: expected at most {largest}")
    files = {}
    for role, content in contents.items():
        path = f"weights/{model}.{ENDINGS[role]}"
        replace(models_dir / path, content)
        files[role] = path, hashlib.sha256(content).hexdigest()
    return files
