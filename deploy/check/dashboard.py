"""Starts the service, Prometheus and node_exporter, sends requests, and checks that every query of the dashboard and
every value of the alert rules has data. Also runs KEDA's queries of the Kubernetes manifests in the service's Postgres.

Needs about a minute. Exits with 1 and one line for each query without data.
"""

import json
import math
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml
from files import DASHBOARD
from problems import DEPLOY, RULES, debian_program, documents
from service import Service, free_port, serve

# How far back a rate looks. Grafana takes at least four times the interval between two scrapes.
RATE_INTERVAL = "15s"
# Values that a healthy service does not have.
WITHOUT_DATA = {"instance:akhar_unseen:10m"}
# Data must be there within this time. A rate needs two scrapes.
LIMIT_S = 120


def main() -> None:
    """Runs the check."""
    began = time.monotonic()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        api, node, prometheus = (free_port() for _ in range(3))
        worker = api + 1
        settings = {
            "AKHAR_DATA_DIR": str(folder / "data"),
            "AKHAR_METRICS_LISTEN": f"127.0.0.1:{api}",
        }
        service = stack.enter_context(serve(settings))
        exporter = [debian_program("prometheus-node-exporter"), f"--web.listen-address=127.0.0.1:{node}"]
        stack.enter_context(running([*exporter, "--collector.disable-defaults", "--collector.filesystem"]))
        write_configuration(folder, {"akhar-api": [api], "akhar-worker": [worker], "node": [node]})
        server = [debian_program("prometheus"), f"--config.file={folder}/prometheus.yml", "--log.level=warn"]
        places = [f"--storage.tsdb.path={folder}/prometheus", f"--web.listen-address=127.0.0.1:{prometheus}"]
        stack.enter_context(running([*server, *places]))
        wrong = keda_problems(folder)
        without_data = missing(service, f"http://127.0.0.1:{prometheus}")
    for line in wrong + without_data:
        print(f"dashboard: {line}", file=sys.stderr)
    n, took = len(list(queries())), time.monotonic() - began
    print(f"dashboard: {n - len(without_data)} of {n} queries have data, {took:.0f} s", file=sys.stderr)
    sys.exit(1 if wrong or without_data else 0)


@contextmanager
def running(command: list[str]) -> Iterator[None]:
    """Runs a program, and stops it at the end."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


def write_configuration(folder: Path, ports: dict[str, list[int]], interval: str = "1s") -> None:
    """Writes a configuration of Prometheus with the rules of deploy/ and these jobs, scraped at this interval."""
    configuration = {
        "global": {"scrape_interval": interval, "evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [
            {"job_name": job, "static_configs": [{"targets": [f"127.0.0.1:{port}" for port in of_job]}]}
            for job, of_job in ports.items()
        ],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))


def queries() -> Iterator[tuple[str, str]]:
    """Each query, with where it is. An alert compares one value with a number; its value must have data."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            yield f"panel {panel['title']!r}", target["expr"].replace("$__rate_interval", RATE_INTERVAL)
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            expression = rule["expr"].strip()
            if "alert" in rule:
                compared = re.fullmatch(r"([^<>=]+(?:\{[^}]*\})?) [<>]=? [0-9.]+", expression)
                if compared is None:
                    raise SystemExit(f"dashboard: {rule['alert']} is not a value, a comparison and a number")
                expression = compared[1]
            elif rule["record"] in WITHOUT_DATA:
                continue
            yield f"rule {rule.get('alert') or rule['record']}", expression


def missing(service: Service, prometheus: str) -> list[str]:
    """Sends requests until every query has data. Returns those that have none in time."""
    left = list(queries())
    deadline = time.monotonic() + LIMIT_S
    with ThreadPoolExecutor(4) as callers:
        while left and time.monotonic() < deadline:
            for call in [callers.submit(call) for call in calls(service)]:
                call.result()
            left = [(place, query) for place, query in left if not has_data(prometheus, query)]
    return [f"{place} has no data: {query}" for place, query in left]


def calls(service: Service) -> list[Callable[[], Any]]:
    """One request of each kind, with answers of each kind: a result, a rejection, a cancelled job, an unknown path."""
    return [
        lambda: service.upload("digit-recognition", "images/digit-5.png"),
        lambda: service.upload("digit-recognition", "images/digit-5.png", Prefer="respond-async"),
        lambda: service.upload("alphabet-recognition", "images/letter-sa.png"),
        lambda: service.handwriting("ਅੱਖਰ"),
        lambda: service.upload("speech-recognition", "audio/pa-two-sentences.wav"),
        lambda: service.status("/v1/models/digit-recognition", b"-", Content_Type="text/plain"),
        lambda: service.status("/health/ready"),
        lambda: cancel(service),
    ]


def cancel(service: Service) -> None:
    """Submits a recording and cancels it. It may have ended before."""
    job = service.upload("speech-recognition", "audio/pa-two-sentences.wav", Prefer="respond-async")
    service.status(f"/v1/jobs/{job['id']}", method="DELETE")


def has_data(prometheus: str, query: str) -> bool:
    """Whether a query has a result that is a number."""
    url = f"{prometheus}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            series = json.load(response)["data"]["result"]
    except urllib.error.HTTPError as error:
        raise SystemExit(f"dashboard: {query}: {error.read().decode()}") from error
    except OSError:
        return False  # Prometheus is starting
    return any(not math.isnan(float(one["value"][1])) for one in series)


def keda_problems(folder: Path) -> list[str]:
    """Runs the queries that scale the workers: without a job, and with jobs that no worker sees, because the
    transaction that inserts them is rolled back.
    """
    wrong = []
    for document in documents((DEPLOY / "kubernetes/scaling/scaled-object.yaml").read_text()):
        for trigger in document["spec"].get("triggers", []):
            queue, query = trigger["name"], trigger["metadata"]["query"]
            jobs = f"""
                insert into jobs (id, account_id, operation, queue, priority, parameters, max_attempts, request_id,
                    created_at, run_at)
                select gen_random_uuid(), gen_random_uuid(), 'none', '{queue}', 0, '{{}}', 3, 'deploy-check',
                    now() - age, now() - age + pause
                from (values (interval '42 s', interval '0'), ('99 s', '100 s'), ('77 s', '70 s')) as v (age, pause)"""
            asked = ask(folder, f"{query}; begin; {jobs}; {query}; rollback;")
            if asked != ["0", "42"]:
                wrong.append(f"KEDA's query of {queue} gave {asked} with no job, and with one that has waited for 42 s")
    return wrong


def ask(folder: Path, statements: str) -> list[str]:
    """What statements print that are run in the private database of the service."""
    [socket] = [*folder.glob("data/postgres/socket")] or [*Path("/var/lib/akhar").glob("*/socket")]
    command = [
        "psql",
        "-X",
        "-q",
        "-A",
        "-t",
        "-h",
        str(socket),
        "-U",
        "akhar",
        "-d",
        "postgres",
        "-v",
        "ON_ERROR_STOP=1",
    ]
    ran = subprocess.run(command, input=statements, check=True, stdout=subprocess.PIPE, text=True)
    return ran.stdout.split()


if __name__ == "__main__":
    main()
