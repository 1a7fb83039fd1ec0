"""A model's manifest as text, and files replaced whole. This module imports the standard library alone."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

Value = str | float | Sequence[str]
"""What a key of a manifest may hold."""


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
