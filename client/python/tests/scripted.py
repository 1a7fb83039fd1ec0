"""A server on a socket that does what a test says, and counts the jobs that it would run."""

import json
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

PROBLEM = {"type": "/problems/busy", "title": "busy", "detail": "no place", "instance": "/", "request_id": ""}
PREDICTIONS = {"predictions": [{"label": "੫", "score": 0.9}]}
CUT_BEFORE, CUT_AFTER, CUT_WITHIN = b"before", b"after", b"within"
"""The connection ends before the request is read, after that, or within the response."""


def answer(status: int, document: object, **headers: str) -> bytes:
    """A response; `headers`: with underscores for hyphens."""
    body = json.dumps(document).encode()
    kind = "application/json" if status < 400 else "application/problem+json"
    lines = [f"HTTP/1.1 {status} A", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def refusal(status: int, **headers: str) -> bytes:
    """An error response."""
    return answer(status, {**PROBLEM, "status": status}, **headers)


DONE = answer(200, PREDICTIONS, Akhar_Job="a-job")


class Server:
    """Gives each connection the next of these answers. A request that is not refused makes a job, or joins one."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.requests: list[tuple[str, bytes]] = []
        """The first line of each, and its body."""
        self.jobs: set[str] = set()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(20)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    def serve(self) -> None:
        while self.answers:
            connection, _ = self.socket.accept()
            connection.settimeout(20)
            with connection:
                self._answer(connection, self.answers.pop(0))

    def _answer(self, connection: socket.socket, said: bytes) -> None:
        if said == CUT_BEFORE:
            return
        with connection.makefile("rb") as sent:
            first = sent.readline().decode().strip()
            lines = iter(lambda: sent.readline().decode().strip(), "")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            body = sent.read(int(headers.get("content-length", 0)))
        self.requests.append((first, body))
        is_refused = said.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5"))
        if first.startswith("POST /v1/models/") and not is_refused:
            self.jobs.add(headers.get("idempotency-key", str(uuid.uuid4())))
        if said == CUT_WITHIN:
            connection.sendall(DONE[:-5])
        elif said != CUT_AFTER:
            connection.sendall(said)


@contextmanager
def served(*answers: bytes) -> Iterator[Server]:
    """The server, which has given all its answers at the end."""
    server = Server(*answers)
    thread = Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.socket.shutdown(socket.SHUT_RDWR)
        thread.join()
        server.socket.close()
    assert server.answers == []
