"""Tries clients and generators of clients, as they are published, with a service: run.py FOLDER.

FOLDER has what scripts/clients.sh installs, whose programs come first in PATH. The service is that of AKHAR_URL and
AKHAR_KEY, or one that is started. Prints a table of versions and results, and what a client that failed has written,
and that of retries.py. Ends with an error if one failed.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from running_service import ROOT, Service, program, served

TESTS = ROOT / "tests"
HERE, PAGES = TESTS / "clients", ROOT / "docs/src/use"
TRIES = {
    "openapi-python-client": """
        openapi-python-client generate --fail-on-warning --path "$DOCUMENT" --meta none --output-path akhar_python
        python "$CLIENTS/generated_python.py" openapi_python_client""",
    "openapi-generator-cli": """
        openapi-generator-cli generate -i "$DOCUMENT" -g python --package-name akhar_generated -o .
        python "$CLIENTS/generated_python.py" openapi_generator""",
    "openapi-typescript openapi-fetch": """
        openapi-typescript "$DOCUMENT" -o akhar.d.ts --default-non-nullable=false
        tsc -p .
        node typescript.ts "$FIXTURES/images/digit-5.png" "$FIXTURES/audio/pa-school.wav" """,
    # It ends without an error if it only warns.
    "@redocly/cli": r"""
        # A request for a socket is answered with 101.
        printf 'extends: [recommended]\nrules: {operation-2xx-response: off}\n' >redocly.yaml
        redocly lint --config redocly.yaml "$DOCUMENT" >lint 2>&1 || { cat lint; exit 1; }
        if grep --word-regexp 'warnings\?' lint; then cat lint; exit 1; fi""",
    "openapi-to-postmanv2 newman": """
        openapi2postmanv2 -s "$DOCUMENT" -o collection.json
        node postman.mjs collection.json "$FIXTURES" """,
    "openai-python litellm": """
        python "$CLIENTS/openai_python.py"
        python "$CLIENTS/openai_realtime.py" >live
        grep --quiet "transcriptions: 6 of 6 equal" live || { cat live; exit 1; }""",
    "livekit-plugins-openai pipecat-ai": 'python "$CLIENTS/agents.py" "$FIXTURES/audio/pa-school.wav"',
    "openai": """
        node openai_node.mjs "$FIXTURES/audio/pa-school.wav"
        node page.mjs | diff page.txt -
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
            -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>openssl
        NODE_EXTRA_CA_CERTS=cert.pem node openai_realtime.mjs cert.pem key.pem "$FIXTURES/audio/pa-school.wav" >live
        grep --quiet "1 of 1 equal" live || { cat live; exit 1; }""",
    "@ai-sdk/openai ai": 'node ai_sdk.mjs "$FIXTURES/audio/pa-school.wav"',
    "@microsoft/fetch-event-source": 'node fetch_event_source.mjs "$FIXTURES/audio/pa-school.wav"',
}
"""The packages of a client, and the commands that try it. They run in a folder that has the packages of Node.js."""


def versions(names: str) -> str:
    """The packages with their versions, which must be on the page about clients."""
    of_node = json.loads((HERE / "package.json").read_text())["devDependencies"]
    found = {name: of_node.get(name) or version(name.removesuffix("-python")) for name in names.split()}
    page = (PAGES / "clients.md").read_text()
    assert all(number in page for number in found.values()), f"{PAGES / 'clients.md'} has other versions than {found}"
    return ", ".join(f"{name} {number}" for name, number in found.items())


def write_example(folder: Path, url: str) -> None:
    """Writes the program for Node.js of the page on OpenAI's clients, and what it prints."""
    _, page = (PAGES / "openai.md").read_text().split("```js\n", 1)
    code, _, printed, _ = page.split("```", 3)
    code = code.replace("http://127.0.0.1:8080", url).replace("tests/fixtures", str(TESTS / "fixtures"))
    (folder / "page.mjs").write_text(code)
    (folder / "page.txt").write_text(printed.removeprefix("text\n"))


@contextmanager
def service() -> Iterator[Service]:
    """The service that the environment names, or a new one, whose data is dropped at the end."""
    if "AKHAR_URL" in os.environ:
        yield Service(os.environ["AKHAR_URL"], os.environ["AKHAR_KEY"])
        return
    with TemporaryDirectory() as data, served(program(), {**os.environ, "AKHAR_DATA_DIR": data}) as started:
        yield started


def main() -> int:
    """Tries all clients, and prints the table."""
    tools = Path(sys.argv[1]).resolve()
    programs = [tools / "bin", tools / "node_modules/.bin"]
    n_failed = 0
    with service() as running, TemporaryDirectory() as folder:
        (Path(folder) / "node_modules").symlink_to(tools / "node_modules")
        for file in [*HERE.glob("*.*s"), HERE / "package.json", TESTS / "node/tsconfig.json"]:
            (Path(folder) / file.name).write_bytes(file.read_bytes())
        write_example(Path(folder), running.url)
        environment = {
            **os.environ,
            "AKHAR_URL": running.url,
            "AKHAR_KEY": running.key,
            "KEY": running.key,
            "CLIENTS": str(HERE),
            "DOCUMENT": str(ROOT / "docs/openapi.json"),
            "FIXTURES": str(TESTS / "fixtures"),
            "PATH": os.pathsep.join([*map(str, programs), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join([folder, str(ROOT / "training")]),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }
        for names, commands in TRIES.items():
            done = subprocess.run(
                ["sh", "-ec", commands], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            n_failed += done.returncode != 0
            print(f"{versions(names):60} {done.stdout + done.stderr if done.returncode else 'works'}", flush=True)
        print()
        retries = [sys.executable, HERE / "retries.py", running.url, running.key]
        n_failed += subprocess.run(retries, cwd=folder, env=environment, check=False).returncode
    return min(n_failed, 1)


if __name__ == "__main__":
    sys.exit(main())
