"""Runs the service for checks: starts `akhar serve` on a free port, and sends it requests.

AKHAR names the program, and AKHAR_ORT_DYLIB the library of ONNX Runtime; without them those of this folder are used.
"""

import json
import os
import socket
import subprocess
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import running_service
from problems import ROOT
from running_service import program

FIXTURES = ROOT / "tests/fixtures"


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


class Service(running_service.Service):
    """A running `akhar serve`, with a key of its own."""

    def __init__(self, environment: dict[str, str], url: str) -> None:
        self.environment = environment
        super().__init__(url, self.command("keys", "create", "--name", "deploy-check").strip())

    def command(self, *arguments: str) -> str:
        """Runs a command of akhar in the service's database. Returns its standard output."""
        ran = subprocess.run(
            [program(), *arguments], env=self.environment, check=True, stdout=subprocess.PIPE, text=True
        )
        return ran.stdout

    def status(self, path: str, body: bytes | None = None, method: str | None = None, **headers: str) -> int:
        """Sends a request. Returns the status of the answer."""
        try:
            with self.opened(path, body, method, **headers) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code

    def upload(self, operation: str, file: str, **headers: str) -> Any:
        """Sends a file of tests/fixtures to an operation, which must succeed. Returns the answer's JSON."""
        with self.uploaded(operation, ("file", (FIXTURES / file).read_bytes()), {}, **headers) as response:
            return json.load(response)

    def handwriting(self, text: str) -> Any:
        """Has a text written by hand, with a picture. Returns the answer's JSON."""
        body = json.dumps({"text": text, "with-image": True}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        with self.opened("/v1/models/handwriting-generator", body, **headers) as response:
            return json.load(response)


@contextmanager
def serve(settings: dict[str, str]) -> Iterator[Service]:
    """Runs `akhar serve` with these settings."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AKHAR_")}
    models = {
        "AKHAR_MODELS_DIR": str(ROOT / "models"),
        "AKHAR_ORT_DYLIB": os.environ.get("AKHAR_ORT_DYLIB", str(ROOT / ".cache/onnxruntime/libonnxruntime.so")),
    }
    environment = {**inherited, **models, "AKHAR_SHUTDOWN_S": "5", **settings}
    with running_service.served(program(), environment, has_key=False) as started:
        yield Service(environment, started.url)
