"""Causes incidents in made-up metrics, and checks with promtool which alerts fire for each, and that no other does.

Every alert of deploy/prometheus/rules.yml must have an incident.
"""

import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from problems import RULES, Problems, debian_program

PROMTOOL = debian_program("promtool")
# Samples a minute, as Prometheus takes them with deploy/prometheus/prometheus.yml.
A_MINUTE = 4
# Everything is well for a quarter of an hour, and then the incident begins.
WELL = 15 * A_MINUTE
# How long an incident lasts.
LASTS = 45 * A_MINUTE


def then(before: object, after: object) -> str:
    """A value that changes when the incident begins, in promtool's notation."""
    return f"{before}x{WELL - 1} {after}x{LASTS - 1}"


def new(value: object) -> str:
    """A series that is there from the beginning of the incident on."""
    return f"_x{WELL} {value}x{LASTS - 1}"


def growing(by: float) -> str:
    """A value that begins to grow with the incident, by so much a sample."""
    return then(0, f"{by}+{by}")


def always(value: object) -> str:
    """The same value all the time."""
    return f"{value}x{WELL + LASTS - 1}"


APIS = ('job="akhar-api",instance="api-1"', 'job="akhar-api",instance="api-2"')
WORKERS = ('job="akhar-worker",instance="worker-1"', 'job="akhar-worker",instance="worker-2"')
OLDEST = "akhar_queue_oldest_seconds"
# A service with two apis and two workers that answers and works.
HEALTHY = {
    **{f"up{{{process}}}": always(1) for process in APIS + WORKERS},
    **{f"process_start_time_seconds{{{process}}}": always(-86400) for process in APIS + WORKERS},
    **{f"process_open_fds{{{process}}}": always(100) for process in APIS + WORKERS},
    **{f"process_max_fds{{{process}}}": always(1000) for process in APIS + WORKERS},
    **{f"akhar_clock_offset_seconds{{{process}}}": always(0.01) for process in APIS + WORKERS},
    **{f'akhar_pool_connections{{{process},state="used"}}': always(2) for process in APIS + WORKERS},
    **{f"akhar_pool_connections_limit{{{process}}}": always(12) for process in APIS + WORKERS},
    **{f"akhar_queue_count_success{{{api}}}": always(1) for api in APIS},
    **{f'akhar_queue_oldest_seconds{{{api},queue="quick"}}': always(0) for api in APIS},
    **{f'akhar_queue_oldest_seconds{{{api},queue="speech"}}': always(9) for api in APIS},
    **{f'akhar_queue_stalled_seconds{{{api},queue="speech"}}': always(5) for api in APIS},
    **{f'akhar_queue_mode{{{api},queue="quick",mode="open"}}': always(1) for api in APIS},
    **{f'akhar_queue_mode{{{api},queue="quick",mode="paused"}}': always(0) for api in APIS},
    **{f'akhar_workers{{{api},state="works"}}': always(2) for api in APIS},
    **{f'akhar_workers{{{api},state="drained"}}': always(0) for api in APIS},
    **{f'akhar_workers{{{api},state="silent"}}': always(0) for api in APIS},
    **{f'akhar_http_responses_total{{{api},route="/v1",status="200"}}': always("0+10") for api in APIS},
    **{f'akhar_http_responses_total{{{api},route="/health/ready",status="503"}}': always("0+4") for api in APIS},
    **{f'akhar_webhook_attempts_total{{{api},result="delivered"}}': always("0+1") for api in APIS},
    **{f'akhar_webhook_attempts_total{{{api},result="failed"}}': always(0) for api in APIS},
    **{f'akhar_webhook_attempts_total{{{api},result="dead"}}': always(0) for api in APIS},
    **{f"akhar_webhooks_oldest_due_seconds{{{api}}}": always(0) for api in APIS},
    **{f'akhar_upload_store_failures_total{{{process},operation="list"}}': always(0) for process in APIS + WORKERS},
    **{f'akhar_upload_store_failures_total{{{api},operation="write"}}': always(0) for api in APIS},
    **{f'akhar_attempts_total{{{worker},result="succeeded"}}': always("0+9") for worker in WORKERS},
    **{f'akhar_model_info{{{worker},operation="digit-recognition",version="1"}}': always(1) for worker in WORKERS},
    **{f'akhar_dead_jobs_total{{{worker},cause="attempt"}}': always(0) for worker in WORKERS},
    **{f'akhar_rescued_jobs_total{{{worker},cause="worker-lost"}}': always(0) for worker in WORKERS},
    'node_filesystem_avail_bytes{instance="node",mountpoint="/",fstype="ext4"}': always(50),
    'node_filesystem_size_bytes{instance="node",mountpoint="/",fstype="ext4"}': always(100),
}
API, WORKER = APIS[0], WORKERS[0]
BEGINS_S = WELL * 60 // A_MINUTE


@dataclass
class Incident:
    """What differs from a healthy service, and which alerts fire within some minutes, and no others."""

    what: str
    series: dict[str, str]
    alerts: set[str] = field(default_factory=set)
    minutes: int = 10


def of(processes: tuple[str, ...], name: str, values: str, labels: str = "") -> dict[str, str]:
    """The same series of several processes."""
    return {f"{name}{{{process}{labels}}}": values for process in processes}


def gone(process: str) -> dict[str, str]:
    """The series of a process end."""
    return {s: f"{values.rsplit('x', 1)[0]}x{WELL - 1} stale" for s, values in HEALTHY.items() if process in s}


def loop(process: str) -> dict[str, str]:
    """A process that is started again every minute."""
    starts = " ".join(f"{BEGINS_S + 15 * n}x{A_MINUTE - 1}" for n in range(0, LASTS, A_MINUTE))
    return {f"process_start_time_seconds{{{process}}}": f"-86400x{WELL - 1} {starts}"}


def restarted(process: str) -> dict[str, str]:
    """A process that is started again once: its counters begin anew."""
    growth = {s: values.rsplit("x", 1)[0] for s, values in HEALTHY.items() if process in s and values.startswith("0+")}
    counters = {s: then(values, values) for s, values in growth.items()}
    return {f"process_start_time_seconds{{{process}}}": then(-86400, BEGINS_S), **counters}


SILENT, WORKS = ',state="silent"', ',state="works"'
# A worker is silent for a minute, and then nobody speaks of it any more.
A_DEATH = f"0x{WELL - 1} 1x{A_MINUTE - 1} 0x{LASTS - A_MINUTE - 1}"
INCIDENTS = [
    Incident("nothing", {}, minutes=30),
    Incident(
        "an upgrade starts every process again",
        {k: v for process in APIS + WORKERS for k, v in restarted(process).items()},
        minutes=30,
    ),
    Incident(
        "Prometheus looks at processes that have counted errors for a day",
        {
            **{s: f"_x{WELL} {values}" for s, values in HEALTHY.items() if API in s or WORKER in s},
            f'akhar_problems_total{{{API},type="storage-full"}}': new(85),
            f'akhar_http_responses_total{{{API},route="/v1",status="507"}}': new(85),
            f'akhar_dead_jobs_total{{{WORKER},cause="attempt"}}': new(7),
            f'akhar_rescued_jobs_total{{{WORKER},cause="worker-lost"}}': new(7),
            f'akhar_webhook_attempts_total{{{API},result="dead"}}': new(7),
        },
        minutes=30,
    ),
    Incident(
        "pictures and live sessions wait",
        {k: v for q in ("quick", "live") for k, v in of(APIS, OLDEST, growing(15), f',queue="{q}"').items()},
        {"AkharQuickJobsWait", "AkharLiveJobsWait"},
        minutes=5,
    ),
    Incident(
        "recordings wait",
        of(APIS, OLDEST, growing(15), ',queue="speech"'),
        {"AkharSpeechJobsWait"},
        minutes=20,
    ),
    Incident(
        "a recording does not go on",
        of(APIS, "akhar_queue_stalled_seconds", growing(15), ',queue="speech"'),
        {"AkharJobStalled"},
        minutes=14,
    ),
    Incident(
        "a worker has another manifest",
        {
            f'akhar_model_info{{{WORKER},operation="digit-recognition",version="1"}}': then(1, 0),
            f'akhar_model_info{{{WORKER},operation="digit-recognition",version="2"}}': new(1),
        },
        {"AkharModelsDiffer"},
        minutes=31,
    ),
    Incident(
        "all workers are stopped",
        {**of(APIS, "akhar_workers", then(2, 0), WORKS), **gone(WORKERS[0]), **gone(WORKERS[1])},
        {"AkharNoWorker"},
        minutes=2,
    ),
    Incident(
        "a drained worker is forgotten",
        {
            **of(APIS, "akhar_workers", then(2, 1), WORKS),
            **of(APIS, "akhar_workers", then(0, 1), ',state="drained"'),
        },
        {"AkharWorkerDrained"},
        minutes=35,
    ),
    Incident(
        "a queue is paused",
        {
            **of(APIS, "akhar_queue_mode", then(1, 0), ',queue="quick",mode="open"'),
            **of(APIS, "akhar_queue_mode", then(0, 1), ',queue="quick",mode="paused"'),
        },
        {"AkharQueueStopped"},
        minutes=11,
    ),
    Incident(
        "no api answers",
        {k: v for api in APIS for k, v in {**gone(api), f"up{{{api}}}": then(1, 0)}.items()},
        {"AkharNoApi"},
        minutes=2,
    ),
    Incident(
        "a machine is away, and its worker with it",
        {
            **gone(WORKER),
            f"up{{{WORKER}}}": then(1, 0),
            **of(APIS, "akhar_workers", then(2, 1), WORKS),
            **of(APIS, "akhar_workers", A_DEATH, SILENT),
        },
        {"AkharProcessDown", "AkharWorkersDie"},
        minutes=6,
    ),
    Incident(
        "a container with a worker is gone, and its address with it",
        {**gone(WORKER), **of(APIS, "akhar_workers", then(2, 1), WORKS)},
        {"AkharFewerWorkers"},
        minutes=11,
    ),
    Incident("a container with an api is gone, and its address with it", gone(API), {"AkharFewerApis"}, 11),
    Incident("an api dies again and again", loop(API), {"AkharProcessRestarts"}, minutes=3),
    Incident(
        "three workers die on one job, and each is started again; those who took the job over died too",
        {
            **of(APIS, "akhar_workers", A_DEATH, SILENT),
            **restarted(WORKERS[0]),
            **restarted(WORKERS[1]),
        },
        {"AkharWorkersDie"},
        minutes=5,
    ),
    Incident(
        "the last worker dies on a job",
        {
            **gone(WORKERS[0]),
            **gone(WORKERS[1]),
            **of(APIS, "akhar_workers", then(2, 0), WORKS),
            **of(APIS, "akhar_workers", then(0, 2), SILENT),
        },
        {"AkharWorkersDie", "AkharNoWorker"},
        minutes=2,
    ),
    Incident(
        "a worker stands still for a moment, and another has its jobs",
        {f'akhar_rescued_jobs_total{{{WORKER},cause="worker-lost"}}': then(0, 3)},
        {"AkharWorkersDie"},
        minutes=1,
    ),
    Incident(
        "an api fails 30 requests at once that it never failed before",
        {f'akhar_http_responses_total{{{API},route="/v1",status="500"}}': new(30)},
        {"AkharRequestsFail"},
        minutes=4,
    ),
    Incident(
        "the disk of Postgres is full: 85 refusals at once",
        {
            f'akhar_problems_total{{{API},type="storage-full"}}': new(85),
            f'akhar_http_responses_total{{{API},route="/v1",status="507"}}': new(85),
        },
        {"AkharStorageFull"},
        minutes=1,
    ),
    Incident(
        "the first refusal of an api that has just started",
        {
            **restarted(API),
            f'akhar_problems_total{{{API},type="storage-full"}}': f"3x{WELL - 2} stale 1x{LASTS - 1}",
        },
        {"AkharStorageFull"},
        minutes=1,
    ),
    Incident(
        # A worker lists it once a minute.
        "the bucket of uploads is gone at night, when nobody sends any",
        of(WORKERS, "akhar_upload_store_failures_total", growing(1 / A_MINUTE), ',operation="list"'),
        {"AkharUploadStoreFails"},
        minutes=3,
    ),
    Incident(
        "the folder of uploads is full: 20 refusals at once",
        {f'akhar_upload_store_failures_total{{{API},operation="write"}}': then(0, 20)},
        {"AkharUploadStoreFails"},
        minutes=1,
    ),
    Incident(
        "one upload fails",
        {f'akhar_upload_store_failures_total{{{API},operation="write"}}': then(0, 1)},
        minutes=30,
    ),
    Incident(
        "a job fails for good in a worker that never failed one",
        {f'akhar_dead_jobs_total{{{WORKER},cause="worker-lost"}}': new(1)},
        {"AkharJobsDie"},
        minutes=1,
    ),
    Incident(
        "the attempts of one worker fail",
        {f'akhar_attempts_total{{{WORKER},result="retried"}}': new("3+3")},
        {"AkharAttemptsFail"},
        minutes=5,
    ),
    Incident(
        "a clock is wrong", {f"akhar_clock_offset_seconds{{{WORKER}}}": then(0, 86400)}, {"AkharClockWrong"}, minutes=3
    ),
    Incident(
        "webhooks are not sent",
        of(APIS, "akhar_webhooks_oldest_due_seconds", growing(15)),
        {"AkharWebhooksWait"},
        minutes=10,
    ),
    Incident(
        # The pauses after the first attempts are 5 s and 5 minutes.
        "one receiver fails, of a service that sends few webhooks",
        {
            **of(APIS, "akhar_webhook_attempts_total", always(0), ',result="delivered"'),
            f'akhar_webhook_attempts_total{{{API},result="failed"}}': f"0x{WELL - 1} 2x19 3x{LASTS - 21}",
        },
        {"AkharWebhooksFail"},
        minutes=9,
    ),
    Incident(
        "one attempt fails, of a service that sends few webhooks",
        {
            **of(APIS, "akhar_webhook_attempts_total", always(0), ',result="delivered"'),
            f'akhar_webhook_attempts_total{{{API},result="failed"}}': then(0, 1),
        },
        minutes=30,
    ),
    Incident(
        "one of ten receivers fails",
        of(APIS, "akhar_webhook_attempts_total", growing(0.25), ',result="failed"'),
        {"AkharWebhooksFail"},
        minutes=10,
    ),
    Incident(
        "a webhook is given up",
        {f'akhar_webhook_attempts_total{{{API},result="dead"}}': then(0, 1)},
        {"AkharWebhooksDie"},
        minutes=1,
    ),
    Incident("Postgres is away", of(APIS, "akhar_queue_count_success", then(1, 0)), {"AkharDatabaseFails"}, minutes=2),
    Incident(
        "connections are used up",
        {f'akhar_pool_connections{{{API},state="used"}}': then(2, 12)},
        {"AkharPoolExhausted"},
        minutes=6,
    ),
    Incident("files are used up", {f"process_open_fds{{{API}}}": then(100, 990)}, {"AkharOpenFiles"}, minutes=6),
    Incident(
        "a disk fills up",
        {'node_filesystem_avail_bytes{instance="node",mountpoint="/",fstype="ext4"}': then(50, 5)},
        {"AkharDiskFillsUp"},
        minutes=6,
    ),
]


def test_of(incident: Incident) -> dict[str, object]:
    """A test of promtool: which alerts fire in the minutes after the incident has begun, and that none fires before."""
    series = {**HEALTHY, **incident.series}
    fired = f'count by (alertname) (count_over_time(ALERTS{{alertstate="firing"}}[{incident.minutes}m]))'
    expected = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(incident.alerts)]
    return {
        "name": incident.what,
        "interval": "15s",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {"expr": 'ALERTS{alertstate="firing"}', "eval_time": f"{BEGINS_S - 15}s", "exp_samples": []},
            {
                "expr": f"count by (alertname) ({fired})",
                "eval_time": f"{BEGINS_S + 60 * incident.minutes}s",
                "exp_samples": expected,
            },
        ],
    }


def main() -> None:
    """Runs the check."""
    problems = Problems()
    alerts = {
        rule["alert"]
        for group in yaml.safe_load(RULES.read_text())["groups"]
        for rule in group["rules"]
        if "alert" in rule
    }
    tested = {alert for incident in INCIDENTS for alert in incident.alerts}
    problems.expect(tested == alerts, f"alerts without an incident, or the reverse: {sorted(alerts ^ tested)}")
    tests = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "15s",
        "tests": [test_of(incident) for incident in INCIDENTS],
    }
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "incidents.yml"
        file.write_text(yaml.safe_dump(tests, sort_keys=False, width=1000))
        problems.run([PROMTOOL, "test", "rules", file], "promtool test rules")
    for line in problems.lines:
        print(f"alerts: {line}", file=sys.stderr)
    print(f"alerts: {len(INCIDENTS)} incidents, {len(alerts)} alerts", file=sys.stderr)
    sys.exit(1 if problems.lines else 0)


if __name__ == "__main__":
    main()
