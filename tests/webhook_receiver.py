"""Receives webhooks and checks them with the reference library of Standard Webhooks.

Prints the port that it listens on, and then one JSON object for each request that it has checked. The arguments are the
secrets; a webhook must be signed with each of them. The first part of the path says how it answers:

/ok       200
/fail/N   500 to the first N requests of the path, and then 200
/gone     410
/moved/U  a redirect to the URL U
/cut      closes the connection without an answer
/hang     answers nothing for as long as the sender waits
"""

import json
import sys
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from standardwebhooks import Webhook

secrets = [Webhook(secret) for secret in sys.argv[1:]]
requests: Counter[str] = Counter()
lock = Lock()


class Receiver(BaseHTTPRequestHandler):
    """Checks and answers one request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Checks the signature, prints the request and answers as its path says."""
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        for secret in secrets:
            secret.verify(body, dict(self.headers))
        how, _, rest = self.path.lstrip("/").partition("/")
        with lock:
            requests[self.path] += 1
            n_before = requests[self.path] - 1
            print(json.dumps({"path": self.path, "headers": dict(self.headers), "body": json.loads(body)}), flush=True)
        if how == "cut":
            self.close_connection = True
        elif how == "hang":
            self.rfile.read(1)
        elif how == "moved":
            self.answer(307, location=rest)
        elif how == "gone":
            self.answer(410)
        elif how == "fail":
            self.answer(500 if n_before < int(rest) else 200)
        else:
            self.answer(200)

    def answer(self, status: int, **headers: str) -> None:
        """Answers with a body that is larger than what a sender needs to read."""
        body = b"x" * 100_000
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Prints nothing: standard output has the requests."""


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
