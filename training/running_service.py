"""The service: started for a measurement, with a data folder of its own, and asked over HTTP."""

import http.client
import os
import re
import subprocess
import tempfile
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
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

    def opened(self, path: str, body: bytes | None = None, **headers: str) -> http.client.HTTPResponse:
        """Send a request with the key; `headers`: the rest, with underscores for hyphens. Raises HTTPError."""
        request = urllib.request.Request(self.url + path, body, method="POST" if body else "GET")
        request.add_header("Authorization", f"Bearer {self.key}")
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        return urllib.request.urlopen(request, timeout=TIMEOUT_S)

    def uploaded(
        self, operation: str, file: tuple[str, bytes], fields: Mapping[str, str], **headers: str
    ) -> http.client.HTTPResponse:
        """Send a file, (name, content), and fields to an operation as a form. Raises HTTPError."""
        boundary, (name, content) = uuid.uuid4().hex, file
        part = f"--{boundary}\r\nContent-Disposition: form-data; name="
        body = "".join(f'{part}"{field}"\r\n\r\n{value}\r\n' for field, value in fields.items()).encode()
        body += f'{part}"file"; filename="{name}"\r\n\r\n'.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        return self.opened(f"/v1/models/{operation}", body, Content_Type=kind, **headers)


@contextmanager
def served(program: Path) -> Iterator[tuple[str, str]]:
    """Run `program serve` in the repository's root, on a free port, with one thread a model; give its URL and a key.

    Raises RuntimeError, with what the program wrote, where it ends before it is ready.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {"AKHAR_DATA_DIR": folder, "AKHAR_LISTEN": "127.0.0.1:0", "AKHAR_INFERENCE_THREADS": "1"}
        process = subprocess.Popen(
            [program.resolve(), "serve"],
            cwd=ROOT,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield _ready(process)
        finally:
            process.terminate()
            process.wait()


def _ready(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Read what the service writes until it says that it is ready; the rest is read and dropped."""
    output = process.stdout
    assert output is not None  # it is a pipe
    written, url = [], None
    for line in output:
        written.append(line)
        url = url or URL.search(line)
        if url and (key := KEY.search(line)):
            Thread(target=lambda: [None for _ in output], daemon=True).start()
            return url[1], key[1]
    raise RuntimeError(f"`akhar serve` ended before it was ready: {''.join(written)}")
