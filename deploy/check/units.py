"""Starts two apis and two workers as the units for systemd do, with the files that the page about deployment names: no
process takes what another has. systemd itself only checks the units, because none runs here.

Needs about half a minute. Exits with 1 and one line for each problem. The processes get AKHAR_ORT_DYLIB and PATH.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from backup import Server, postgres_user
from problems import DEPLOY, ROOT, Problems
from proxies import running, until
from service import free_port, program

UNITS = DEPLOY / "debian"


def main() -> None:
    """Runs the check."""
    began = time.monotonic()
    problems = Problems()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        check_syntax(problems, folder)
        server = Server(folder / "postgres", postgres_user())
        server.create()
        stack.callback(server.stop, "immediate")
        settings = folder / "etc"
        settings.mkdir()
        text = (UNITS / "akhar.toml").read_text().replace("/etc/akhar", str(settings))
        text = text.replace("#database_url_file", "database_url_file")
        # The metrics of the file are those of akhar.service alone.
        text += f'models_dir = "{ROOT / "models"}"\nmetrics_listen = "127.0.0.1:{free_port()}"\n'
        (settings / "akhar.toml").write_text(text)
        (settings / "database-url").write_text(server.url)
        (settings / "environment").write_text("AWS_REGION=eu-central-1\n")
        subprocess.run([program(), "migrate"], env=environment("akhar-api", "1", settings), check=True)
        metrics = {}
        for unit in ("akhar-api", "akhar-worker"):
            for _ in range(2):
                instance, metrics_port = str(free_port()), free_port()
                metrics[f"{unit}@{instance}"] = metrics_port
                own = settings / f"{unit}@{instance}.env"
                own.write_text(f"AKHAR_METRICS_LISTEN=127.0.0.1:{metrics_port}\n")
                variables = environment(unit, instance, settings)
                problems.expect(variables.get("AWS_REGION") == "eu-central-1", f"{unit} does not read environment")
                stack.enter_context(running(command(unit), variables))
        for name, port in metrics.items():
            until(f"{name} has metrics", partial(has_metrics, port))
    for line in problems.lines:
        print(f"units: {line}", file=sys.stderr)
    print(f"units: {len(metrics)} processes, {time.monotonic() - began:.0f} s", file=sys.stderr)
    sys.exit(1 if problems.lines else 0)


def check_syntax(problems: Problems, folder: Path) -> None:
    """Lets systemd check the units."""
    copies = []
    for unit in sorted(UNITS.glob("*.service")):
        copy = folder / unit.name.replace("@", "@8081")
        copy.write_text(unit.read_text().replace("/usr/bin/akhar", str(program())))
        copies.append(copy)
    problems.run(["systemd-analyze", "verify", "--man=no", *copies], "systemd-analyze verify")


def values(unit: str, key: str) -> list[str]:
    """The values of a key of a unit, in order."""
    return re.findall(rf"^{key}=(.*)$", (UNITS / f"{unit}@.service").read_text(), re.MULTILINE)


def command(unit: str) -> list[str | Path]:
    """What a unit starts."""
    (line,) = values(unit, "ExecStart")
    return [program(), *shlex.split(line)[1:]]


def environment(unit: str, instance: str, settings: Path) -> dict[str, str]:
    """The environment of an instance, as systemd makes it: files take precedence."""

    def here(value: str) -> str:
        return value.replace("%i", instance).replace("%p", unit).replace("/etc/akhar", str(settings))

    lines = [here(value) for value in values(unit, "Environment")]
    for file in values(unit, "EnvironmentFile"):
        path = Path(here(file).removeprefix("-"))
        lines += path.read_text().splitlines() if path.exists() else []
    library = os.environ.get("AKHAR_ORT_DYLIB", str(ROOT / ".cache/onnxruntime/libonnxruntime.so"))
    return {"PATH": os.environ["PATH"], "AKHAR_ORT_DYLIB": library, **dict(line.split("=", 1) for line in lines)}


def has_metrics(port: int) -> bool:
    """Whether a process has metrics at a port."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as response:
            return b"akhar_build_info" in response.read()
    except OSError:
        return False


if __name__ == "__main__":
    main()
