"""Starts HAProxy and nginx with the files of deploy/, in which only addresses, paths, limits and times are others.
Checks that a service without a worker is no outage behind them, and that their own answers are problem documents.

Needs about half a minute. Exits with 1 and one line for each problem.
"""

import http.client
import json
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread

from problems import DEPLOY, ROOT, Problems
from service import FIXTURES, Service, free_port, serve

LIMIT_S = 30
# HAProxy takes an api out that has failed this long.
NOTICED_S = 4
# Both files have other limits and times here.
SHORTER = {
    "haproxy": {"http_req_rate(0) gt 1000": "http_req_rate(0) gt 20"},
    "nginx": {"burst=1000": "burst=20", "rate=100r/s": "rate=1r/s"},
}
WAITS = {"haproxy": {"server 330s": "server 1s"}, "nginx": {"read_timeout 330s": "read_timeout 1s"}}
PROXIES = ("haproxy", "nginx")
KNOWN = re.compile(r"^\| \[(\S+)\]\(\S+\) \| \d+ \| (.*) \|$", re.MULTILINE)
WRITTEN = re.compile(r'"type":"/problems/([^"]*)","title":"([^"]*)"')


class Answer:
    """An answer to a request: the status, the headers with small letters, and the body."""

    def __init__(self, text: bytes) -> None:
        head, _, self.body = text.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        self.status = int(lines[0].split()[1]) if head else 0
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}


class Proxy:
    """A proxy that runs with its file of deploy/, in front of these ports, with these texts replaced."""

    def __init__(self, stack: ExitStack, name: str, ports: tuple[int, int], replaced: dict[str, str]) -> None:
        self.name, self.port = name, free_port()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        key, certificate = folder / "akhar.key", folder / "akhar.crt"
        make: list[str | Path] = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=akhar"]
        subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
        (folder / "akhar.pem").write_text(certificate.read_text() + key.read_text())
        replaced = {
            "127.0.0.1:8081": f"127.0.0.1:{ports[0]}",
            "127.0.0.1:8082": f"127.0.0.1:{ports[1]}",
            "/etc/ssl/akhar": str(folder),
            **replaced,
        }
        command: list[str | Path]
        if name == "nginx":
            kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            places = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
            replaced |= {"listen 443": f"listen 127.0.0.1:{self.port}", "/run/nginx.pid": f"{folder}/pid"}
            replaced["http {\n"] = f"http {{ {places}\n"
            command = ["/usr/sbin/nginx", "-e", "stderr", "-g", "daemon off;", "-c"]
        else:
            replaced |= {"bind :443": f"bind 127.0.0.1:{self.port}", "maxconn 20000": "maxconn 1000"}
            command = ["/usr/sbin/haproxy", "-db", "-f"]
        text = (DEPLOY / name / {"nginx": "nginx.conf", "haproxy": "haproxy.cfg"}[name]).read_text()
        for old, new in replaced.items():
            if old not in text:
                raise SystemExit(f"proxies: {name} has no {old!r}")
            text = text.replace(old, new)
        (folder / "file").write_text(text)
        stack.enter_context(running([*command, folder / "file"]))
        until(f"{name} listens", self.connects)

    def connects(self) -> bool:
        """Whether it listens."""
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def send(self, request: bytes) -> Answer:
        """Sends bytes. Returns the answer, with which the connection ends."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with (
            socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S) as plain,
            context.wrap_socket(plain) as client,
        ):
            client.sendall(request)
            return Answer(b"".join(iter(lambda: client.recv(65536), b"")))

    def ask(self, path: str, *headers: str, method: str = "GET", body: bytes = b"") -> Answer:
        """Sends a request."""
        lines = [f"{method} {path} HTTP/1.1", "Host: akhar", "Connection: close", *headers]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        return self.send("\r\n".join([*lines, "", ""]).encode() + body)


@contextmanager
def running(command: list[str | Path], environment: dict[str, str] | None = None) -> Iterator[None]:
    """Runs a program, and stops it at the end."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


def until(what: str, happened: Callable[[], bool]) -> None:
    """Waits until a function returns true."""
    deadline = time.monotonic() + LIMIT_S
    while not happened():
        if time.monotonic() > deadline:
            raise SystemExit(f"proxies: not within {LIMIT_S} s: {what}")
        time.sleep(0.1)


def main() -> None:
    """Runs the check."""
    began = time.monotonic()
    problems = Problems()
    known = dict(KNOWN.findall((ROOT / "docs/src/reference/problems.md").read_text()))
    for file in ("haproxy/haproxy.cfg", "nginx/nginx.conf"):
        for slug, title in WRITTEN.findall((DEPLOY / file).read_text()):
            problems.expect(known.get(slug) == title, f"{file}: the title of {slug} is {known.get(slug)!r}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        settings = re.findall(r"^(AKHAR_\w+)=(.*)$", (DEPLOY / "compose/akhar.env").read_text(), re.MULTILINE)
        service = stack.enter_context(serve({**dict(settings), "AKHAR_DATA_DIR": str(folder / "data")}))
        check_without_worker(problems, stack, service)
    with ExitStack() as stack:
        check_errors(problems, stack)
    for line in problems.lines:
        print(f"proxies: {line}", file=sys.stderr)
    print(f"proxies: HAProxy and nginx, {time.monotonic() - began:.0f} s", file=sys.stderr)
    sys.exit(1 if problems.lines else 0)


def check_without_worker(problems: Problems, stack: ExitStack, service: Service) -> None:
    """A service whose only worker claims no jobs accepts them, behind both proxies."""
    api = int(service.url.rpartition(":")[2])
    proxies = [Proxy(stack, name, (api, free_port()), {}) for name in PROXIES]
    (worker,) = json.loads(service.command("workers", "list", "--json"))
    service.command("workers", "drain", worker["name"])
    until("the api notices", lambda: b"o worker claims jobs" in answer_of(service, "/health/ready"))
    key = f"Authorization: Bearer {service.key}"
    picture = (FIXTURES / "images/digit-5.png").read_bytes()
    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + picture + b"\r\n--b--\r\n"
    kind = ("Content-Type: multipart/form-data; boundary=b", "Prefer: respond-async")
    noticed = time.monotonic() + NOTICED_S
    while time.monotonic() < noticed:
        for proxy in proxies:
            path = "/v1/models/digit-recognition"
            answer = proxy.ask(path, key, *kind, 'X-Request-Id: order-"4711"', method="POST", body=form)
            problems.expect(answer.status == 202, f"{proxy.name}: {answer.status} without a worker")
            is_kept = answer.headers.get("x-request-id") == 'order-"4711"'
            problems.expect(is_kept, f"{proxy.name}: changes the id of a request")
        if problems.lines:
            return
        time.sleep(0.2)


def answer_of(service: Service, path: str) -> bytes:
    """The body of an answer with any status."""
    try:
        response: http.client.HTTPResponse | urllib.error.HTTPError = service.opened(path)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        return response.read()


def api_that_fails() -> int:
    """The port of a server that is always ready, closes the connection for /broken, and is silent for other paths."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve_all() -> None:
        while True:
            Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

    def answer(client: socket.socket) -> None:
        with client, suppress(ConnectionError):
            request = client.recv(65536)
            if b"/health/ready" in request:
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            elif b"/broken" not in request:
                client.recv(1)  # until the proxy closes it

    Thread(target=serve_all, daemon=True).start()
    port: int = listener.getsockname()[1]
    return port


def check_errors(problems: Problems, stack: ExitStack) -> None:
    """What both proxies answer themselves."""
    for name in PROXIES:
        check_errors_of(problems, stack, name)


def check_errors_of(problems: Problems, stack: ExitStack, name: str) -> None:
    """What one of them answers itself."""
    away = Proxy(stack, name, (free_port(), free_port()), SHORTER[name])
    failing = api_that_fails()
    fails = Proxy(stack, name, (failing, failing), WAITS[name])

    def expect(status: int, slug: str, answer: Answer, path: str = "") -> None:
        problems.lines.extend(f"{name}, {status}: {line}" for line in faults(answer, status, slug, path))

    path, named = "/v1/jobs/a%22'", "X-Request-Id: order-4711"
    expect(503 if name == "haproxy" else 502, "unavailable", away.ask(path + '?a="', named), path)
    expect(502, "unavailable", fails.ask("/broken", named), "/broken")
    expect(504, "unavailable", fails.ask("/silent.html", named), "/silent.html")
    if name == "nginx":
        expect(400, "malformed-request", fails.send(b"GET / HTTP/1.1\r\n\r\n"))
        expect(400, "malformed-request", fails.send(b"G@T /\x01 HTTP/1.1\r\n\r\n"))
        expect(400, "malformed-request", fails.ask("/", named, f"X: {'a' * 9_000}"), "/")
        expect(404, "not-found", fails.ask("/nginx-problem", named), "/nginx-problem")
        expect(405, "method-not-allowed", fails.ask("/", named, method="TRACE"), "/")
        expect(413, "too-large", fails.ask("/", named, "Content-Length: 99999999", method="POST"), "/")
        expect(414, "malformed-request", fails.ask("/" + "a" * 9_000))
        expect(501, "unsupported-transfer-coding", fails.ask("/", named, "Transfer-Encoding: gzip", method="POST"), "/")
    until("the rate is too high", lambda: away.ask("/").status == 429)
    expect(429, "busy", away.ask(path, named), path)


def faults(answer: Answer, status: int, slug: str, path: str) -> Iterator[str]:
    """What is wrong with an answer that should be this problem. The path is "" if the proxy cannot read the request."""
    if answer.status != status:
        yield f"the status is {answer.status}"
        return
    if answer.headers.get("content-type") != "application/problem+json":
        yield f"the type is {answer.headers.get('content-type')}"
        return
    document = json.loads(answer.body)
    members = {"type": f"/problems/{slug}", "status": status, "request_id": answer.headers.get("x-request-id")}
    if path:
        members |= {"instance": path, "request_id": "order-4711"}
    for member, value in members.items():
        if document.get(member) != value:
            yield f"{member} is {document.get(member)!r}, expected {value!r}"
    if not all(isinstance(document.get(member), str) for member in ("title", "detail", "instance", "request_id")):
        yield f"a member is missing: {document}"
    if status in (429, 502, 503, 504) and not answer.headers.get("retry-after", "").isdigit():
        yield "there is no Retry-After"


if __name__ == "__main__":
    main()
