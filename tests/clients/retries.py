"""Tries how clients repeat requests: retries.py SERVICE_URL KEY. Prints a table.

Each client sends a recording to a proxy, which answers once with an error, breaks the connection once after the
service has answered, or makes the service answer with a 202. A client must come back no earlier than `Retry-After`
says, and the service must have got one job. The working folder has the packages of Node.js.
"""

import http.client
import os
import subprocess
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic
from urllib.parse import urlsplit

from running_service import ROOT, Service, program

RECORDING = ROOT / "tests/fixtures/audio/pa-school.wav"
RETRY_AFTER_S = 2
FAULTS = ("503", "429", "cut", "202")
NO_202 = {"openai (Python)", "openai (Node)"}
"""The clients that know no job."""
OPENAI_PYTHON = """
import openai, os, uuid
client = openai.OpenAI(base_url=os.environ["AKHAR_URL"] + "/v1", api_key=os.environ["AKHAR_KEY"])
with open(os.environ["RECORDING"], "rb") as file:
    key = {"Idempotency-Key": str(uuid.uuid4())}
    print(client.audio.transcriptions.create(model="gpt-transcribe", file=file, extra_headers=key).text)
"""
OPENAI_NODE = """
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import OpenAI, { toFile } from "openai";
const client = new OpenAI({ baseURL: process.env.AKHAR_URL + "/v1", apiKey: process.env.AKHAR_KEY });
const file = await toFile(readFile(process.env.RECORDING), "recording.wav");
const headers = { "Idempotency-Key": randomUUID() };
console.log((await client.audio.transcriptions.create({ model: "gpt-transcribe", file }, { headers })).text);
"""
AKHAR_CLIENT = """
import os
from akhar_client import Client
print(Client().speech_recognition(os.environ["RECORDING"])["transcription"])
"""


class Proxy(BaseHTTPRequestHandler):
    """Passes requests on, but the first one that makes a job only as `fault` says."""

    protocol_version = "HTTP/1.1"
    service: Service
    fault: str
    group: str
    came_at: list[float]

    def do_GET(self) -> None:
        """Passes a request on."""
        self.answer(*self.passed({}))

    def do_POST(self) -> None:
        """Passes a request on, or does what is to happen to the first."""
        self.came_at.append(monotonic())
        is_first = len(self.came_at) == 1
        # The key is one of this try, since `akhar transcribe` has the same one for the same recording.
        headers = {"Akhar-Group": self.group}
        if key := self.headers["Idempotency-Key"]:
            headers["Idempotency-Key"] = f"{self.group}-{key}"
        if is_first and self.fault == "202":
            headers["Prefer"] = "respond-async"
        if is_first and self.fault in {"503", "429"}:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(int(self.fault), {"Retry-After": str(RETRY_AFTER_S), "Content-Length": "0"}, b"")
            return
        answer = self.passed(headers)
        if is_first and self.fault == "cut":
            self.close_connection = True
            self.connection.close()
            return
        self.answer(*answer)

    def passed(self, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        """The service's answer to the request with these headers."""
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        connection = http.client.HTTPConnection(urlsplit(self.service.url).netloc, timeout=310)
        sent = {name.title(): value for name, value in self.headers.items()}
        connection.request(self.command, self.path, body, {**sent, **headers})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """Answers."""
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() != "transfer-encoding":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Writes no log."""


def tried(service: Service, command: list[str], fault: str) -> tuple[str, list[float], int]:
    """What a client prints, when its requests for jobs came, and how many jobs they made."""
    group, came_at = str(uuid.uuid4()), []
    attributes = {"service": service, "fault": fault, "group": group, "came_at": came_at}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("OneTry", (Proxy,), attributes))
    Thread(target=server.serve_forever, daemon=True).start()
    with TemporaryDirectory() as out:
        environment = {
            **os.environ,
            "AKHAR_URL": f"http://127.0.0.1:{server.server_port}",
            "AKHAR_KEY": service.key,
            "RECORDING": str(RECORDING),
            "OUT": out,
            "PYTHONPATH": str(ROOT / "client/python/src"),
        }
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        texts = [path.read_text() for path in Path(out).rglob("*.txt")]
    server.shutdown()
    with service.opened(f"/v1/groups/{group}?wait=60") as answer:
        n_jobs = answer.read().count(b'"succeeded":1,')
    return "".join(texts) or done.stdout or done.stderr, came_at, n_jobs


def main() -> int:
    """Tries all clients with all faults."""
    service = Service(sys.argv[1], sys.argv[2])
    clients = {
        "openai (Python)": [sys.executable, "-c", OPENAI_PYTHON],
        "openai (Node)": ["node", "--input-type=module", "-e", OPENAI_NODE],
        "akhar-client": [sys.executable, "-c", AKHAR_CLIENT],
        "akhar transcribe": ["sh", "-c", f'"{program()}" transcribe --format txt --out "$OUT" "$RECORDING"'],
    }
    n_wrong = 0
    for name, command in clients.items():
        for fault in FAULTS:
            text, came_at, n_jobs = tried(service, command, fault)
            n_requests = 1 if fault == "202" else 2
            waited = came_at[1] - came_at[0] if len(came_at) > 1 else 0
            has_text = "ਸਕੂਲ" in text or (fault == "202" and name in NO_202)
            is_right = (
                has_text
                and (len(came_at), n_jobs) == (n_requests, 1)
                and (fault not in {"503", "429"} or waited >= RETRY_AFTER_S)
            )
            n_wrong += not is_right
            result = "works" if is_right else text
            print(
                f"{name:17} {fault:4} {len(came_at)} requests, {waited:.1f} s between, {n_jobs} jobs: {result}",
                flush=True,
            )
    return min(n_wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
