"""Causes one of the incidents of a night shift in a service of its own, for somebody who is to name the cause.

With `--wait` it prints the addresses and what commands need, waits for the guess (a line, or SIGINT), and says what it
was. Without, it waits until `akhar doctor` or an alert names the cause, prints what they say, and exits with 1 where
neither does. `--seed N` chooses at random, `--name NAME` one, and `--all` causes one after another. The times of some
jobs are put back, so that nobody waits for minutes.
"""

import argparse
import random
import re
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from problems import ROOT
from service import FIXTURES
from stage import WORKERS, Receiver, Stage, staged

RUNBOOK = ROOT / "docs/src/operate/troubleshooting.md"
# The longest until it is named. Prometheus knows of restarts after some of them.
LIMIT_S = 100
Happens = Callable[[Stage], object]


@dataclass(frozen=True)
class Incident:
    """What happens, the runbook's section, and a regular expression of what doctor or an alert says of it."""

    cause: str
    section: str
    said: str
    happen: Happens


INCIDENTS: dict[str, Incident] = {}


def incident(section: str, said: str) -> Callable[[Happens], Happens]:
    """Adds a function to the incidents. Its docstring is the cause."""

    def add(happen: Happens) -> Happens:
        INCIDENTS[happen.__name__.replace("_", "-")] = Incident(happen.__doc__ or "", section, said, happen)
        return happen

    return add


@incident("503 `unavailable`", "failed database: .*start Postgres")
def postgres_stopped(stage: Stage) -> None:
    """Postgres is stopped."""
    stage.server.stop()


@incident("503 `unavailable`", "failed database: .*does not answer")
def postgres_silent(stage: Stage) -> None:
    """Postgres runs and answers nothing."""
    stage.signal_postgres(signal.SIGSTOP)


@incident("All connections to the database are in use", "failed database: .*connection.*max_connections")
def connections_taken(stage: Stage) -> None:
    """Another program has all connections to Postgres."""
    user = b"user\0service\0database\0akhar\0application_name\0report\0\0"

    def take() -> None:
        connection = socket.create_connection(("127.0.0.1", stage.server.port))
        connection.sendall(struct.pack("!ii", len(user) + 8, 196608) + user)
        if connection.recv(1) == b"R":
            stage.taken.append(connection)
        else:  # there is none left, and those of the service are ended
            ended = "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'akhar%'"
            stage.server.query(ended)

    stage.repeat(0, take)


@incident("507 `storage-full`", "failed storage: .*disk.*full")
def disk_full(stage: Stage) -> None:
    """The disk of Postgres is full."""
    if not stage.server.data.is_mount():
        raise SystemExit("incidents: Postgres has no small disk of its own: run this as root")
    with suppress(OSError), (stage.server.data / "core").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))


@incident("503 `no-worker`", "workers: 0 of")
def no_worker(stage: Stage) -> None:
    """All workers are dead."""
    for name in WORKERS:
        stage.kill(name)


@incident("Workers die", "workers: 1 of 2 .*without heartbeats")
def worker_frozen(stage: Stage) -> None:
    """A worker stands still."""
    stage.processes[WORKERS[1]].send_signal(signal.SIGSTOP)


@incident("A process is started again and again", "AkharProcessRestarts|workers: .*again and again")
def crash_loop(stage: Stage) -> None:
    """A worker is killed after each start, as the kernel does where memory is short."""
    stage.repeat(8, lambda: stage.restart(WORKERS[1]))


@incident("A queue is paused or draining", "queues: quick is paused")
def queue_paused(stage: Stage) -> None:
    """Somebody has paused the queue quick."""
    stage.akhar("queues", "pause", "quick")


@incident("A worker is drained", "workers: .*drained by an operator")
def worker_drained(stage: Stage) -> None:
    """Somebody has drained a worker."""
    stage.akhar("workers", "drain", stage.akhar("workers", "list").splitlines()[1].split()[0])


@incident("Requests are slow", "waiting: .* jobs of quick.*whose jobs wait")
def flood(stage: Stage) -> None:
    """The account press sends more than the workers can do."""
    press = stage.caller("press")
    body = '{"text": "ਇਹ ਇੱਕ ਲੰਮਾ ਵਾਕ ਹੈ ਜਿਹੜਾ ਹੱਥ ਨਾਲ ਲਿਖਿਆ ਜਾਂਦਾ ਹੈ"}'.encode()
    headers = {"Content-Type": "application/json", "Prefer": "respond-async"}
    for _ in range(4):
        stage.repeat(0, lambda: press.opened("/v1/models/handwriting-generator", body, **headers).close())
    put_back(stage, "run_at", "state = 'queued' and operation = 'handwriting-generator'")


@incident("The store of uploads fails", "failed uploads: .*make the folder")
def store_gone(stage: Stage) -> None:
    """The folder of the uploads is gone, and a file has its name."""
    stage.uploads.rename(stage.folder / "moved")
    stage.uploads.touch()


@incident("A worker does not start", "failed models: .*SHA-256")
def model_damaged(stage: Stage) -> None:
    """A file of a model is damaged, and a worker does not start."""
    change(stage.folder / "models/weights/digits-pa.onnx", lambda content: content[:-1] + b"-")
    stage.restart(WORKERS[1])


@incident("Workers answer differently", "versions: .*digit-recognition")
def manifest_differs(stage: Stage) -> None:
    """A worker has another manifest, with two labels exchanged."""
    four, five = "੪".encode(), "੫".encode()
    models = stage.models("others")
    change(
        models / "digits-pa.toml",
        lambda text: text.replace(four, b"-").replace(five, four).replace(b'"-"', b'"%b"' % five),
    )
    stage.restart(WORKERS[1], AKHAR_MODELS_DIR=str(models))


@incident("Webhooks are late or given up", "webhooks: .*have failed|AkharWebhooksFail")
def webhooks_fail(_: Stage) -> None:
    """The receiver of the webhooks answers 500."""
    Receiver.is_broken = True


@incident("A job runs for a long time", "running: .*not progressed")
def recording_stalls(stage: Stage) -> None:
    """A worker has claimed a recording and does not go on with it, though it lives."""
    for name in WORKERS:
        stage.processes[name].send_signal(signal.SIGSTOP)
    recording = ("pa.wav", (FIXTURES / "audio/pa-seven.wav").read_bytes())
    stage.shop.uploaded("speech-recognition", recording, {}, Prefer="respond-async").close()
    claimed = "state = 'running', attempt = 1, worker = (select min(name) from workers), started_at = now()"
    stage.server.query(f"update jobs set {claimed} where queue = 'speech'")
    for name in WORKERS:
        stage.processes[name].send_signal(signal.SIGCONT)
    put_back(stage, "started_at", "queue = 'speech'")


@incident("Every request takes 30 seconds and is answered with 202", "restore: .*quiet")
def restored(stage: Stage) -> None:
    """The database was restored and is quiet."""
    stage.akhar("database", "quiet")


@incident("401 for a caller who has a key", r"keys: .*\(shop\) expired")
def key_expired(stage: Stage) -> None:
    """The key of the account shop has expired."""
    stage.akhar("keys", "expire", stage.shop.key.split("_")[1], "--in", "1s")


@incident("Requests are slow", "failed locks: .*pid")
def lock_held(stage: Stage) -> None:
    """Another program has locked the jobs and does not end its transaction."""
    lock = "begin; lock table jobs; select pg_sleep(86400)"
    stage.run("report", ["psql", "-q", "-d", stage.server.url, "-c", lock], stage.environment)


@incident("A process refuses to start on the schema of its database", "failed schema: .*behind")
def schema_behind(stage: Stage) -> None:
    """A new version was started without its migration."""
    stage.server.query("delete from _sqlx_migrations where version = (select max(version) from _sqlx_migrations)")
    for name in ("api", *WORKERS):
        stage.restart(name)


def put_back(stage: Stage, column: str, which: str) -> None:
    """Puts a time of these jobs back by a quarter of an hour, once, from now on."""
    changes = f"update jobs set created_at = created_at - interval '15 min', {column} = {column} - interval '15 min'"
    stage.repeat(1, lambda: stage.server.query(f"{changes} where {which} and created_at > now() - interval '10 min'"))


def change(file: Path, to: Callable[[bytes], bytes]) -> None:
    """Replaces a link by a changed copy of its file."""
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(to(content))


def guessed(name: str) -> bool:
    """Causes an incident, and waits for somebody to name it."""
    with staged() as stage:
        print(stage.describe())
        INCIDENTS[name].happen(stage)
        began = time.monotonic()
        print("It has happened. What is the cause?", flush=True)
        with suppress(KeyboardInterrupt):
            guess = sys.stdin.readline().strip()
            print(f"after {time.monotonic() - began:.0f} s: {guess}")
    print(f"{name}: {INCIDENTS[name].cause} Section: {INCIDENTS[name].section}")
    return True


def named(name: str) -> bool:
    """Causes an incident, and waits until doctor or an alert names it. Prints what they say; whether one does."""
    incident = INCIDENTS[name]
    with staged() as stage:
        before = stage.findings()
        incident.happen(stage)
        began, found, lines = time.monotonic(), False, list[str]()
        while not found and time.monotonic() < began + LIMIT_S:
            Event().wait(1)
            lines = [line for line in stage.findings() if line not in before]
            found = any(re.search(incident.said, line) for line in lines)
    print(f"{name}: {incident.cause} {'Named' if found else 'NOT NAMED'} after {time.monotonic() - began:.0f} s")
    print("".join(f"    {line}\n" for line in [*lines, f"section: {incident.section}"]), flush=True)
    return found


def main() -> None:
    """Causes the chosen incidents."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seed", type=int, help="chooses at random; without it, each time another")
    which.add_argument("--name", choices=INCIDENTS)
    which.add_argument("--all", action="store_true", help="one after another")
    parser.add_argument("--wait", action="store_true", help="wait for a guess")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sections = re.findall("^## (.*)$", RUNBOOK.read_text(), re.MULTILINE)
    if unknown := {incident.section for incident in INCIDENTS.values()} - set(sections):
        raise SystemExit(f"incidents: no section of the runbook: {unknown}")
    names = list(INCIDENTS) if chosen.all else [chosen.name or random.Random(chosen.seed).choice(list(INCIDENTS))]
    results = [(guessed if chosen.wait else named)(name) for name in names]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
