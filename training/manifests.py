"""What programs write into a model's manifest, and files replaced whole.

`models/MODEL.toml` is the home of all other settings: they are edited there.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

MODELS = Path(__file__).resolve().parents[1] / "models"
"""The folder of the manifests."""
Value = str | float | Sequence[str]
"""What a key of a manifest may hold."""


def replace(path: Path, content: bytes) -> None:
    """Writes a file beside `path` and moves it there, so that no reader sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


def with_table(manifest: str, name: str, values: Mapping[str, Value]) -> str:
    """Returns a manifest, as TOML, with a table in place of its own; a new one comes before the files.

    A string or number of JSON is also one of TOML.
    """
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items()]
    table = "".join([f"[{name}]\n", *lines])
    found = re.search(rf"(?m)^\[{name}\]\n(?:[^\[\n].*\n)*", manifest)
    if found:
        return manifest[: found.start()] + table + manifest[found.end() :]
    at = manifest.index("[[files]]")
    return f"{manifest[:at]}{table}\n{manifest[at:]}"


def installed(
    folder: Path, model: str, contents: Mapping[str, bytes], tables: Mapping[str, Mapping[str, Value]] | None = None
) -> None:
    """Writes the file of each role where `<model>.toml` in `folder` names it, then their hashes and `tables` into it.

    Raises KeyError for a role that the manifest does not name; then nothing is written.
    """
    path = folder / f"{model}.toml"
    old = path.read_text()
    files = {file["role"]: file for file in tomllib.loads(old)["files"]}
    new = old
    for role, content in contents.items():
        new = new.replace(files[role]["sha256"], hashlib.sha256(content).hexdigest())
    for name, values in (tables or {}).items():
        new = with_table(new, name, values)
    for role, content in contents.items():
        replace(folder / files[role]["path"], content)
    replace(path, new.encode())


def contents_of(sources: Mapping[str, Path], largest: int) -> dict[str, bytes]:
    """Reads the file of each role. Raises ValueError for one above `largest` bytes."""
    contents = {role: path.read_bytes() for role, path in sources.items()}
    for role, content in contents.items():
        if len(content) > largest:
            raise ValueError(f"{sources[role]} has {len(content)} bytes: expected at most {largest}")
    return contents
