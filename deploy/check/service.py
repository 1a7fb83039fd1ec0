"""Runs the service for checks: starts `akhar serve` on free ports, and sends it requests.

AKHAR names the program, and AKHAR_ORT_DYLIB the library of ONNX Runtime; without them those of this folder are used.
"""

import json
import os
import re
import socket
import subprocess
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from problems import ROOT

FIXTURES = ROOT / "tests/fixtures"


def program() -> Path:
    """The program to check: `AKHAR`, or the one that was built last."""
    if named := os.environ.get("AKHAR"):
        return Path(named)
    built = [path for path in (ROOT / "target/release/akhar", ROOT / "target/debug/akhar") if path.exists()]
    if not built:
        raise SystemExit("deploy-check: build the program first: cargo build --package akhar")
    return max(built, key=lambda path: path.stat().st_mtime)


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


class Service:
    """A running `akhar serve`."""

    def __init__(self, environment: dict[str, str], process: subprocess.Popen[str], url: str) -> None:
        self.environment = environment
        self.process = process
        self.url = url
        self.key = self.command("keys", "create", "--name", "deploy-check").strip()

    def command(self, *arguments: str) -> str:
        """Runs a command of the program with the service's settings. Returns its standard output."""
        command: list[str | Path] = [program(), *arguments]
        return subprocess.run(command, env=self.environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Sends a request with the key. Returns status and body."""
        sent = {"Authorization": f"Bearer {self.key}", **(headers or {})}
        request = urllib.request.Request(self.url + path, body, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def upload(self, operation: str, file: str, prefer: str = "") -> Any:
        """Sends a file of tests/fixtures to an operation, which must succeed. Returns the answer's JSON."""
        border = uuid.uuid4().hex
        head = f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n\r\n'
        body = head.encode() + (FIXTURES / file).read_bytes() + f"\r\n--{border}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={border}", **({"Prefer": prefer} if prefer else {})}
        return self.expect("POST", f"/v1/models/{operation}", body, headers)

    def handwriting(self, text: str) -> Any:
        """Has a text written by hand, with a picture. Returns the answer's JSON."""
        body = json.dumps({"text": text, "with-image": True}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        return self.expect("POST", "/v1/models/handwriting-generator", body, headers)

    def expect(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Any:
        """Sends a request that must succeed. Returns the answer's JSON."""
        status, answer = self.request(method, path, body, headers)
        if status >= 300:
            raise SystemExit(f"deploy-check: {method} {path} was answered with {status}: {answer.decode()}")
        return json.loads(answer)


@contextmanager
def serve(settings: dict[str, str]) -> Iterator[Service]:
    """Runs `akhar serve` with these settings. Its log goes to standard error if the check fails to start it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AKHAR_")}
    models = {
        "AKHAR_MODELS_DIR": str(ROOT / "models"),
        "AKHAR_ORT_DYLIB": os.environ.get("AKHAR_ORT_DYLIB", str(ROOT / ".cache/onnxruntime/libonnxruntime.so")),
    }
    environment = {**inherited, **models, "AKHAR_LISTEN": "127.0.0.1:0", "AKHAR_SHUTDOWN_S": "5", **settings}
    process = subprocess.Popen([program(), "serve"], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"listening on (http://\S+)", line):
                yield Service(environment, process, found[1])
                return
        raise SystemExit("deploy-check: akhar serve did not start: its log is above")
    finally:
        process.terminate()
        process.wait(timeout=60)
