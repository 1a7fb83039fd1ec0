"""Checks every file of deploy/ without starting a service. Exits with 1 and one line for each problem.

`files.py --write` writes the copy of the alert rules for Kubernetes.
"""

import json
import re
import shutil
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import kubernetes_manifests
import yaml
from problems import DEPLOY, ROOT, RULES, Problems, debian_program, default, settings

KUBERNETES_RULES = DEPLOY / "kubernetes/monitoring/rules.yaml"
# KEDA changes the number of workers, and a Deployment starts one that is lost.
NOT_IN_KUBERNETES = {"AkharFewerWorkers"}
DASHBOARD = DEPLOY / "grafana/dashboards/akhar.json"
PROMTOOL = debian_program("promtool")
# The services of compose that are Akhar's own.
AKHAR_SERVICES = ("migrate", "api", "worker")
GITHUB = "https://github.com/akhar-project/akhar/blob/main/"


def main() -> None:
    """Checks everything, or writes what is made from other files."""
    if sys.argv[1:] == ["--write"]:
        KUBERNETES_RULES.write_text(kubernetes_rules())
        return
    problems = Problems()
    check_settings(problems)
    check_compose(problems)
    check_rules(problems)
    check_queues(problems)
    check_alerting(problems)
    check_dashboard(problems)
    check_scripts(problems)
    kubernetes_manifests.check(problems)
    for line in problems.lines:
        print(f"deploy: {line}", file=sys.stderr)
    sys.exit(1 if problems.lines else 0)


def check_settings(problems: Problems) -> None:
    """Whether each setting that a file names exists."""
    known = settings()
    for path in sorted(DEPLOY.rglob("*")):
        if path.is_file() and "check" not in path.parts and "secrets" not in path.parts:
            names = set(re.findall(r"\bAKHAR_[A-Z_]+[A-Z]\b", path.read_text()))
            line = f"{path.relative_to(ROOT)}: no settings of Akhar: {sorted(names - known)}"
            problems.expect(names <= known, line)


def compose_command() -> list[str | Path]:
    """Docker's compose, of any version. It checks a file without an engine."""
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    return ["docker", "compose"]


def check_alerting(problems: Problems) -> None:
    """Whether Alertmanager can use its file, has a receiver for each severity, and is asked where compose runs it."""
    amtool, file = debian_program("amtool"), DEPLOY / "alertmanager/alertmanager.yml"
    problems.run([amtool, "check-config", file], "amtool check-config")
    for severity, receiver in (("page", "pages"), ("ticket", "tickets")):
        route: list[str | Path] = [amtool, "config", "routes", "test", f"--config.file={file}", f"severity={severity}"]
        found = problems.run(route, "amtool config routes").strip()
        problems.expect(found == receiver, f"alertmanager: the severity {severity} goes to {found}")
    services = set(yaml.safe_load((DEPLOY / "compose/docker-compose.yml").read_text())["services"])
    text = (DEPLOY / "prometheus/prometheus.yml").read_text()
    named = set(re.findall(r"\b(?:names|targets): \[\"?([a-z]+)", text))
    problems.expect(named <= services, f"prometheus.yml names no services of compose: {sorted(named - services)}")
    problems.expect("alertmanager" in named, "prometheus.yml names no Alertmanager")


def check_compose(problems: Problems) -> None:
    """Checks the compose file by itself, and whether its services have no rights that they do not need."""
    path = DEPLOY / "compose/docker-compose.yml"
    included = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["include"]
    problems.expect(included == [str(path.relative_to(ROOT))], f"docker-compose.yml includes {included}")
    text = path.read_text()
    # Compose 1 knows everything that is used here except the name of the project, and has it as an option.
    text = re.sub(r"^name: (.*)$", "", text, flags=re.MULTILINE)
    command = [*compose_command(), "--project-name", "akhar", "--file", "-", "config"]
    built = problems.run(command, "docker compose config", text, path.parent)
    compose: dict[str, Any] = yaml.safe_load(built) or {"services": {}}
    for name, service in compose["services"].items():
        problems.expect(service.get("read_only") is True, f"compose: {name} has a writable file system")
        problems.expect(service.get("cap_drop") == ["ALL"], f"compose: {name} has capabilities")
        problems.expect("no-new-privileges:true" in service.get("security_opt", []), f"compose: {name} can gain rights")
        limits = service.get("deploy", {}).get("resources", {}).get("limits", {})
        problems.expect({"cpus", "memory"} <= set(limits), f"compose: {name} has no limits")
        is_checked = "healthcheck" in service or name in {"migrate", "node"}
        problems.expect(is_checked, f"compose: {name} has no health check")
        problems.expect(":latest" not in service["image"], f"compose: {name} has no fixed version")
        if name in AKHAR_SERVICES:
            grace = int(service["stop_grace_period"].removesuffix("s"))
            needed = int(service["environment"]["AKHAR_DRAIN_S"]) + default("AKHAR_SHUTDOWN_S")
            problems.expect(grace > needed, f"compose: {name} is killed after {grace} s, but needs {needed} s")
        elif name == "postgres":
            problems.expect(service.get("user") == "postgres", f"compose: {name} runs as root")
        for volume in service.get("volumes", []):
            source = Path((volume if isinstance(volume, str) else volume["source"]).split(":")[0])
            is_there = not source.is_absolute() or source.exists()
            problems.expect(is_there, f"compose: {name} mounts {source}, which does not exist")


def kubernetes_rules() -> str:
    """The alert rules as an object of the Prometheus operator, without those that are about what Kubernetes does."""
    spec = yaml.safe_load(RULES.read_text())
    for group in spec["groups"]:
        group["rules"] = [rule for rule in group["rules"] if rule.get("alert") not in NOT_IN_KUBERNETES]
    rules = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "akhar"},
        "spec": spec,
    }
    head = "# Made from ../../prometheus/rules.yml by deploy/check/files.py --write.\n"
    return head + yaml.safe_dump(rules, sort_keys=False, width=120, allow_unicode=True)


def check_rules(problems: Problems) -> None:
    """Checks the rules and the configuration of Prometheus, the copy for Kubernetes, and the links to the book."""
    problems.run([PROMTOOL, "check", "rules", RULES], "promtool check rules")
    problems.run([PROMTOOL, "check", "config", DEPLOY / "prometheus/prometheus.yml"], "promtool check config")
    is_same = KUBERNETES_RULES.read_text() == kubernetes_rules()
    problems.expect(is_same, f"{KUBERNETES_RULES.relative_to(ROOT)} is old: make deploy-rules")
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            if alert := rule.get("alert"):
                page, _, anchor = rule["annotations"]["runbook_url"].removeprefix(GITHUB).partition("#")
                has_section = anchor in anchors(ROOT / page)
                problems.expect(has_section, f"{alert}: {page} has no section #{anchor}")
                lines = (ROOT / page).read_text().splitlines()
                is_listed = any(f"`{alert}`" in line and f"(#{anchor})" in line for line in lines)
                problems.expect(is_listed, f"{alert}: no line of {page} leads from it to #{anchor}")


def check_queues(problems: Problems) -> None:
    """Checks that an alert and the number of workers of Kubernetes follow each queue."""
    change = json.loads((ROOT / "docs/openapi.json").read_text())["components"]["schemas"]["ChangeForm"]
    scaling = (DEPLOY / "kubernetes/scaling/scaled-object.yaml").read_text()
    for queue in change["properties"]["queue"]["enum"]:
        has_alert = f'akhar:queue_oldest_seconds:max{{queue="{queue}"}} >' in RULES.read_text()
        problems.expect(has_alert, f"no alert says that jobs of the queue {queue} wait")
        problems.expect(f"name: {queue}\n" in scaling, f"KEDA adds no workers for the queue {queue}")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's sections, as the book and the forge name them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def check_dashboard(problems: Problems) -> None:
    """Whether the dashboard's panels have unique ids, do not overlap, and name metrics that exist."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    ids = [panel["id"] for panel in panels]
    problems.expect(len(ids) == len(set(ids)), "dashboard: two panels have the same id")
    for a, b in combinations(panels, 2):
        left, right = a["gridPos"], b["gridPos"]
        is_apart = (
            left["x"] + left["w"] <= right["x"]
            or right["x"] + right["w"] <= left["x"]
            or left["y"] + left["h"] <= right["y"]
            or right["y"] + right["h"] <= left["y"]
        )
        problems.expect(is_apart, f"dashboard: {a['title']!r} overlaps {b['title']!r}")
    known = set(re.findall(r"`((?:akhar|process)_\w+)`", (ROOT / "docs/src/reference/metrics.md").read_text()))
    named = set(re.findall(r"(?<![\w:])(?:akhar|process)_\w+", DASHBOARD.read_text() + RULES.read_text()))
    unknown = {name for name in named if not {name, re.sub(r"_(bucket|sum|count)$", "", name)} & known}
    problems.expect(not unknown, f"dashboard or rules: no metrics of Akhar: {sorted(unknown)}")
    records = set(re.findall(r"- record: (\S+)", RULES.read_text()))
    used = set(re.findall(r"\b(?:instance|akhar):[\w:]+", DASHBOARD.read_text() + RULES.read_text()))
    problems.expect(used <= records, f"dashboard or rules: no values of the rules: {sorted(used - records)}")


def check_scripts(problems: Problems) -> None:
    """Whether the shell parses the scripts."""
    for path in sorted(DEPLOY.rglob("*.sh")):
        problems.run(["sh", "-n", path], str(path.relative_to(ROOT)))


if __name__ == "__main__":
    main()
