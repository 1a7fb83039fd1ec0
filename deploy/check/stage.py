"""A service to break: Postgres, an api, two workers, a caller, a receiver of webhooks, Prometheus.

The processes get AKHAR_ORT_DYLIB. Started by root, Postgres has a small disk of its own.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

from backup import Server, postgres_user
from dashboard import has_data, write_configuration
from problems import ROOT, debian_program
from proxies import until
from running_service import Service, program
from service import FIXTURES, free_port

DISK = "300m"
WORKERS = ("worker-1", "worker-2")
# The service's role is no administrator of Postgres.
ROLE = "create role service login; alter database akhar owner to service; revoke connect on database akhar from public"


class Receiver(BaseHTTPRequestHandler):
    """Takes webhooks unless it is broken."""

    is_broken = False

    def do_POST(self) -> None:
        """Answers a webhook."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(500 if Receiver.is_broken else 204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Writes no log."""


class Stage:
    """The service, with what an incident needs to break it."""

    def __init__(self, stack: ExitStack) -> None:
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="akhar-incident-")))
        self.folder.chmod(0o755)
        self.over = Event()
        self.taken: list[socket.socket] = []
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.server = Server(self.folder / "postgres", postgres_user())
        stack.callback(self.end)
        self.server.data.mkdir()
        if os.getuid() == 0:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "akhar", self.server.data], check=False)
        self.server.own(self.server.data)
        self.server.create()
        self.server.query(ROLE)
        self.uploads = self.folder / "uploads"
        self.uploads.mkdir()
        self.environment = self.settings()
        self.url = f"http://{self.environment['AKHAR_LISTEN']}"
        self.akhar("migrate")
        self.start_all(stack)

    def settings(self) -> dict[str, str]:
        """The environment of every process and command."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("AKHAR_")}
        return inherited | {
            "AKHAR_DATABASE_URL": f"postgres://service@127.0.0.1:{self.server.port}/akhar",
            "AKHAR_LISTEN": f"127.0.0.1:{free_port()}",
            "AKHAR_MODELS_DIR": str(self.models("models")),
            "AKHAR_ORT_DYLIB": os.environ.get("AKHAR_ORT_DYLIB", str(ROOT / ".cache/onnxruntime/libonnxruntime.so")),
            "AKHAR_UPLOAD_STORE": f"file://{self.uploads}",
            "AKHAR_UPLOAD_STORE_MIN_BYTES": "0",
            "AKHAR_WEBHOOK_ALLOW": "127.0.0.1",
            "AKHAR_WORKER_CONCURRENCY": "2",
        }

    def start_all(self, stack: ExitStack) -> None:
        """Starts what runs beside Postgres, and waits until both workers claim jobs."""
        Receiver.is_broken = False
        receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        stack.callback(receiver.shutdown)
        Thread(target=receiver.serve_forever, daemon=True).start()
        self.receiver = f"http://127.0.0.1:{receiver.server_address[1]}"
        self.ports = {name: free_port() for name in ("api", *WORKERS, "prometheus")}
        for name in ("api", *WORKERS):
            self.start(name)
        jobs = {"akhar-api": [self.ports["api"]], "akhar-worker": [self.ports[name] for name in WORKERS]}
        # Scraped more often, an api whose Postgres is silent would count as gone.
        write_configuration(self.folder, jobs, "10s")
        self.prometheus = f"http://127.0.0.1:{self.ports['prometheus']}"
        files = [f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/prometheus"]
        address = self.prometheus.removeprefix("http://")
        self.run("prometheus", [debian_program("prometheus"), *files, f"--web.listen-address={address}"], {})
        until("both workers claim jobs", lambda: self.akhar("workers", "list").count("works") == len(WORKERS))
        until("Prometheus sees the api", lambda: has_data(self.prometheus, "akhar:apis:count == 1"))
        self.operator = self.akhar("keys", "create", "--name", "night-shift", "--role", "admin").strip()
        self.shop = self.caller("shop", "--webhook", f"{self.receiver}/shop")
        picture = ("digit.png", (FIXTURES / "images/digit-5.png").read_bytes())
        self.repeat(0.5, lambda: self.shop.uploaded("digit-recognition", picture, {}, Prefer="respond-async").close())

    def caller(self, name: str, *options: str) -> Service:
        """The service as a new account sees it."""
        return Service(self.url, self.akhar("keys", "create", "--name", name, *options).strip())

    def models(self, name: str) -> Path:
        """A folder of models of which each file can be replaced."""
        folder = self.folder / name
        shutil.copytree(ROOT / "models", folder, copy_function=os.symlink)
        return folder

    def repeat(self, pause_s: float, act: Callable[[], object]) -> None:
        """Does something again and again until the end, whatever fails."""

        def acts() -> None:
            while not self.over.wait(pause_s):
                with suppress(OSError, subprocess.SubprocessError):
                    act()

        Thread(target=acts, daemon=True).start()

    def akhar(self, *arguments: str) -> str:
        """Runs a command of akhar. Returns its standard output."""
        command = [program(), *arguments]
        return subprocess.run(
            command, env=self.environment, check=True, stdout=subprocess.PIPE, text=True, cwd=self.folder
        ).stdout

    def start(self, name: str, **settings: str) -> None:
        """Starts the api or a worker, with these settings beside those of all."""
        own = {"AKHAR_METRICS_LISTEN": f"127.0.0.1:{self.ports[name]}", **settings}
        self.run(name, [program(), name.partition("-")[0]], self.environment | own)

    def run(self, name: str, command: list[str], environment: dict[str, str]) -> None:
        """Starts a process, whose log is a file with its name. Once all is over, it is killed at once."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self.folder)
        if self.over.is_set():
            self.kill(name)

    def kill(self, name: str) -> None:
        """Kills a process."""
        self.processes[name].kill()
        self.processes[name].wait()

    def restart(self, name: str, **settings: str) -> None:
        """Kills the api or a worker, and starts it again."""
        self.kill(name)
        self.start(name, **settings)

    def signal_postgres(self, sent: signal.Signals) -> None:
        """Sends a signal to all processes of Postgres."""
        first = (self.server.data / "postmaster.pid").read_text().split()[0]
        for process in [first, *Path(f"/proc/{first}/task/{first}/children").read_text().split()]:
            with suppress(ProcessLookupError):
                os.kill(int(process), sent)

    def describe(self) -> str:
        """The addresses, and what the commands need."""
        own = [f"export {name}='{value}'" for name, value in self.environment.items() if name.startswith("AKHAR_")]
        ports = [f"{name}: http://127.0.0.1:{port}" for name, port in self.ports.items()]
        ops = f"{self.url}/ops, with the key {self.operator}"
        return "\n".join(
            [*own, f"program: {program()}", f"operations: {ops}", "metrics, and alerts of prometheus:", *ports]
        )

    def findings(self) -> list[str]:
        """What `akhar doctor` finds wrong, and which alerts wait for their time or fire."""
        ran = subprocess.run(
            [program(), "doctor", "--json"],
            env=self.environment,
            stdout=subprocess.PIPE,
            check=False,
            cwd=self.folder,
            timeout=120,
        )
        found = [check for check in json.loads(ran.stdout)["checks"] if check["status"] != "ok"]
        lines = [f"doctor: {c['status']} {c['name']}: {c['found']}. fix: {c['fix']}" for c in found]
        with urllib.request.urlopen(f"{self.prometheus}/api/v1/alerts", timeout=30) as answer:
            alerts = json.load(answer)["data"]["alerts"]
        return lines + sorted({f"alert: {alert['labels']['alertname']} is {alert['state']}" for alert in alerts})

    def end(self) -> None:
        """Stops everything, also what stands still."""
        self.over.set()
        for name in self.processes:
            self.kill(name)
        with suppress(OSError, IndexError):
            self.signal_postgres(signal.SIGCONT)
            self.server.stop("immediate")
        if self.server.data.is_mount():
            subprocess.run(["umount", "--lazy", self.server.data], check=True)


@contextmanager
def staged() -> Iterator[Stage]:
    """Runs the service until the end of the block."""
    with ExitStack() as stack:
        yield Stage(stack)
