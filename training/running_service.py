"""The service: started for a measurement or a check, and asked over HTTP. It needs the standard library alone."""

import http.client
import os
import re
import shutil
import subprocess
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).resolve().parents[1]
URL = re.compile(r"listening on (\S+)")
KEY = re.compile(r"Demo key: (\S+)")
TIMEOUT_S = 310


class Service:
    """A running service: `url` such as http://127.0.0.1:8080, `key` an API key."""

    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = url.rstrip("/"), key

    def opened(
        self, path: str, body: bytes | None = None, method: str | None = None, **headers: str
    ) -> http.client.HTTPResponse:
        """Send a request with the key; `headers`: the rest, with underscores for hyphens. Raises HTTPError."""
        request = urllib.request.Request(self.url + path, body, method=method)
        request.add_header("Authorization", f"Bearer {self.key}")
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        return urllib.request.urlopen(request, timeout=TIMEOUT_S)

    def uploaded(
        self, operation: str, file: tuple[str, bytes], fields: Mapping[str, str | Sequence[str]], **headers: str
    ) -> http.client.HTTPResponse:
        """Send a file, (name, content), and fields to an operation as a form. Raises HTTPError."""
        return self.posted(f"/v1/models/{operation}", file, fields, **headers)

    def posted(
        self, path: str, file: tuple[str, bytes], fields: Mapping[str, str | Sequence[str]], **headers: str
    ) -> http.client.HTTPResponse:
        """Send a file, (name, content), and fields, some of them many times, to a path as a form. Raises HTTPError."""
        boundary, (name, content) = uuid.uuid4().hex, file
        part = f"--{boundary}\r\nContent-Disposition: form-data; name="
        every = (
            (field, value)
            for field, values in fields.items()
            for value in ([values] if isinstance(values, str) else values)
        )
        body = "".join(f'{part}"{field}"\r\n\r\n{value}\r\n' for field, value in every).encode()
        body += f'{part}"file"; filename="{name}"\r\n\r\n'.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        return self.opened(path, body, Content_Type=kind, **headers)


def program() -> str:
    """The program `akhar`: the one that the environment variable AKHAR names, or else the newest build, or on the PATH.

    Raises FileNotFoundError where there is none.
    """
    built = [path for profile in ("release", "debug") if (path := ROOT / "target" / profile / "akhar").exists()]
    newest = max(built, key=lambda path: path.stat().st_mtime, default="akhar")
    if found := shutil.which(os.environ.get("AKHAR", newest)):
        return found
    raise FileNotFoundError("there is no program akhar: run `cargo build --release -p akhar`, or set AKHAR to its path")


@contextmanager
def served(
    akhar: str | Path, environment: Mapping[str, str], folder: Path = ROOT, has_key: bool = True
) -> Iterator[Service]:
    """Run `akhar serve` in `folder`, on a free port, with these variables; gives the service when it is ready.

    Its key is the one that the program prints, or "" without `has_key`. Raises RuntimeError, with what the program
    wrote, where it ends before it is ready, and where it does not end well when it is told to.
    """
    process = subprocess.Popen(
        [akhar, "serve"],
        cwd=folder,
        env={"AKHAR_LISTEN": "127.0.0.1:0", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield _ready(process, has_key)
    finally:
        process.terminate()
        status = process.wait(timeout=60)
    if status:
        raise RuntimeError(f"`akhar serve` ended with {status}")


def _ready(process: subprocess.Popen[str], has_key: bool) -> Service:
    """Read what the service writes until it says that it is ready; the rest is read and dropped."""
    output = process.stdout
    assert output is not None  # it is a pipe
    written, url = [], None
    for line in output:
        written.append(line)
        url = url or URL.search(line)
        key = KEY.search(line)
        if url and (key or not has_key):
            Thread(target=lambda: [None for _ in output], daemon=True).start()
            return Service(url[1], key[1] if key else "")
    raise RuntimeError(f"`akhar serve` ended before it was ready: {''.join(written)}")
