"""A model's manifest as text, and files replaced whole. Needs nothing but Python."""

import json
import os
from pathlib import Path


def toml(head, files, metrics, **tables):
    """`head`, `metrics` and each of `tables`: name to text, number or list of texts; `files`: role to path below the
    folder of the manifests and sha256 in hexadecimal.
    """

    def pairs(values):
        return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]

    lines = pairs(head)
    for name, values in tables.items():
        lines += ["", f"[{name}]", *pairs(values)]
    for role, (path, digest) in files.items():
        lines += ["", "[[files]]", *pairs({"role": role, "path": path, "sha256": digest})]
    lines += ["", "[metrics]", *pairs({name: float(value) for name, value in metrics.items()})]
    return "\n".join(lines) + "\n"


def replace(path: Path, content: bytes):
    """Written beside, then moved over: nobody reads half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    os.replace(part, path)
